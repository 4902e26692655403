"""What every row and file looks like. Imports nothing else of the project.

::

    record -> release, taskset, execution, results, training    rows, in the order of the chain
      `-> endpoint -> routes -> parameters                       params.yaml
      `-> kitchen, meals, handed                                 the kitchen's cases and answers
    folding, replies    how its texts are compared; what comes of a reply
    all of them -> __main__ -> schemas/json                      JSON Schemas, by `make schemas`

>>> from schemas.taskset import LABELS, PORTFOLIOS
>>> len(LABELS), len(PORTFOLIOS)
(8, 56)
"""
