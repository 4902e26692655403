"""Execute: asks one route every task, once, ever (docs/routes.md).

::

    artifacts/freeze/tasks, a route of params.yaml
      -> stage -> pipeline.asking (policies answers where the route is built in)
      -> artifacts/execute/<slug>.parquet, attempts/<slug>.parquet

$ flavourbench routes --json
"""
