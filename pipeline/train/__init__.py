"""The train stage: rows to train on, from tasks and anchors that are not in the core.

See docs/training.md.
"""
