"""The stage *train*: rows to train on, from tasks and anchors that are not in the core.

::

    artifacts/freeze/tasks, artifacts/score/core
      -> stage -> rules    which tasks, their split, preference pairs (docs/training.md)
      -> artifacts/train/development, sft, dpo, grpo

$ flavourbench export sft --help
"""
