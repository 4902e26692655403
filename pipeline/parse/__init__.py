"""Parse: raw text to a selection or a named reason (docs/parsing.md)."""

from pipeline.parse.reader import Reading, read_selection

__all__ = ["Reading", "read_selection"]
