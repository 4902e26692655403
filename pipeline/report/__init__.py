"""Report: what people look at, written from the tables alone.

::

    artifacts -> sources -> views -> documents, bands         leaderboard as text, CSV, JSON
                    |-> profiles -> figures -> paper          charts with the numbers behind them
                    `-> evidence -> page                      one file that opens from disk
    freshness    have parameters or code moved on since
    stage -> artifacts/report

$ flavourbench leaderboard
"""
