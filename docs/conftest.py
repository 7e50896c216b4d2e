"""The documents' examples run in a folder of their own, so that they may write files."""

import pytest

#: How Sphinx makes the site; needs the extra ``docs``.
collect_ignore = ["conf.py", "_site"]


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
