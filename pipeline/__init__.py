"""The stages from a culinary release to a leaderboard, and what they share.

::

    a release -> release -> freeze -> execute -> parse -> score -> statistics -> report
                                                            `----> train
    __main__ -> cli -> a stage, or what works across stages: audit, compare, exchange
    stages <- portfolio <- tracks    the registries that help, audit and tests read
    floor   asking, inference, showing
    ground  errors <- links <- files <- yaml, identity <- columns, parquet <- tables <- workspace
    beside  answer (reply to text), tags and starter (facts), dvcfiles, progress

Imports run one way, from the right of each arrow `<-` to its left (tests/test_architecture.py).

$ flavourbench --help
"""
