"""Two releases side by side: their ingredients, their tasks, and which conclusions survive.

::

    two names -> sources -> releases -> ingredients                who came, went, moved
                               |-> tasks -> rescore                the same decision, other scores
                               `-> conclusions -> rescore          stored answers, scored again
    releases -> changes    for people and for machines

$ flavourbench diff starter@1 starter@2
"""
