"""The display of training shows rounds, rows, error and speed, live on a terminal."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from recalltree import live_line
from recalltree.ray.display import Display

DONE = SimpleNamespace(n_rows=1000, seconds=2.0, weight=1000.0, errors=250.0)


def test_what_is_shown():
    with Display(n_rows=4000, n_rounds=4, done=500, quiet=True) as shown:
        shown.begin_round(2)
        assert str(shown) == "round 2 of 4  500 rows"
        shown.learned(DONE)
        shown.learned(DONE)
        assert str(shown) == "round 2 of 4  2,500 rows  error 0.2500  500 rows/s per worker"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_it_is_live_on_a_terminal_and_a_line_in_a_log(monkeypatch, is_terminal):
    out = io.StringIO()
    console = Console(file=out, force_terminal=is_terminal, width=100, highlight=False)
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    monkeypatch.setattr(live_line, "LOG_SECONDS", 0.0)
    with Display(n_rows=4000, n_rounds=4, done=0, quiet=False) as shown:
        shown.begin_round(1)
        shown.learned(DONE)
    text = out.getvalue()
    assert "round 1 of 4  1,000 rows  error 0.2500" in text
    assert ("\x1b[" in text) == is_terminal
