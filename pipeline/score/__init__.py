"""Score: a look-up in the frozen map, and the score-blind common core (docs/core.md).

::

    artifacts/parse/selections, artifacts/freeze/tasks
      -> stage -> core    which tasks count; it is given neither scores nor selections
      -> artifacts/score/scores, core, coverage

$ flavourbench leaderboard --json
"""
