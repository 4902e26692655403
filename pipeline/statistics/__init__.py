"""Statistics: standings, contrasts, chance and agreement of the scores on the common core.

::

    artifacts/score/scores, core -> stage -> pipeline.inference -> artifacts/statistics

$ flavourbench leaderboard
"""
