from __future__ import annotations

import io

import pytest
from rich.console import Console

from pipeline.asking import board
from pipeline.asking.tally import Tally


def tallies():
    busy = Tally("a-route-with-a-long-name", 534, 100, attempts=300, spent_micros=1_234_567)
    busy.stored.update({"ok": 150, "truncated": 3})
    busy.parked.update({"timeout": 2})
    busy.unknown, busy.prompt_tokens, busy.state = 1, 1_234_567, "stopping"
    return [busy, Tally("waits", 534, 0), Tally("x" * 20, 9, 9, state="e: " + "long " * 80)]


def test_the_table_shows_every_count_in_80_columns():
    console = Console(file=io.StringIO(), width=80)
    console.print(board._table(tallies(), 30.0))
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    for part in ("253/534", "3", "2", "5.1", "1.2M", "~$1.2346", "0:55", "stopping", "…"):
        assert part in text


def test_nothing_is_drawn_where_no_one_looks(capsys):
    with board.live_board(tallies()):
        pass
    assert capsys.readouterr().err == ""


def test_on_a_terminal_it_is_drawn_and_taken_away(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(
        "rich.console.Console", lambda **_: Console(file=stream, force_terminal=True)
    )
    with board.live_board(tallies()):
        pass
    assert "253/534" in stream.getvalue()


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (61.9, "1:01"), (3661, "1:01:01")])
def test_durations(seconds, text):
    assert board._duration(seconds) == text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "-"),
        ({"attempts": 2}, "$0.0000"),
        ({"attempts": 2, "unknown": 1}, "unknown"),
        ({"attempts": 2, "unknown": 1, "spent_micros": 500}, "~$0.0005"),
    ],
)
def test_money_that_nobody_knows_is_not_shown_as_nothing(fields, text):
    assert Tally("m", 1, 0, **fields).spent == text
