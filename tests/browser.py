"""The system's Chromium, driven by Playwright; nothing is downloaded."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser():
    """Return the path of a browser, or skip the test and say why.

    Where RECALLTREE_BROWSER is "required", as in continuous integration, it fails instead.
    """
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        reason = f"no browser found, looked for {', '.join(NAMES)}"
        if os.environ.get("RECALLTREE_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return found
