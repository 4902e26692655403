"""What comes of a reply's text: one JSON object in a form, or the one reason why not."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Fault", "Form"]


class Form(StrEnum):
    """How the object lay in the text."""

    WHOLE = "whole"
    FENCED = "fenced"
    PROSE = "prose"


class Fault(StrEnum):
    """Why a text gave no object that can be graded; each failure has exactly one."""

    TOO_LARGE = "too_large"
    EMPTY = "empty"
    NO_OBJECT = "no_object"
    NOT_OBJECT = "not_object"
    SEVERAL_OBJECTS = "several_objects"
    TRUNCATED = "truncated"
    COMMENT = "comment"
    TRAILING_COMMA = "trailing_comma"
    NON_FINITE = "non_finite"
    DUPLICATE_KEY = "duplicate_key"
    BAD_UNICODE = "bad_unicode"
    TOO_DEEP = "too_deep"
    SYNTAX = "syntax"
    SCHEMA = "schema"
