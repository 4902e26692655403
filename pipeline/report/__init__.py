"""Report: what people look at, written from the tables alone.

::

    artifacts -> sources -> leaderboard -> documents, bands   the board as text, CSV, JSON
                    |-> profiles -> figures -> paper          charts with the numbers behind them
                    `-> evidence -> page                      one file that opens from disk
    contents     releases and tasks, for those who look
    freshness    have parameters or code moved on since
    stage -> artifacts/report

$ flavourbench leaderboard
"""
