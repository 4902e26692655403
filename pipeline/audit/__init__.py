"""Trust: one cell by its hash, proofs that stand alone, the whole chain rebuilt, a run's card.

::

    a hash -> lookup -> subjects -> cell -> answers, maps, chain -> evidence -> proof -> verifier
    a workspace -> layout -> verify -> chain              roots and inputs against each other
                               |-> locked, foreign        files against dvc.lock
                               |-> rebuild -> differences, pictures    every stage derived again
                               `-> expected -> card       what a run is held against
    verdicts    what all of it shows

$ flavourbench audit --route noisy-50 --task fb-starter-pairing-001
$ flavourbench verify --quick
"""
