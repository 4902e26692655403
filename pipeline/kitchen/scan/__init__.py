"""The allergen scanner: what a text names, flag by flag (kitchen spec 6)."""

from pipeline.kitchen.scan.scanner import (
    NONE_FOUND,
    Answer,
    Scan,
    Span,
    scan,
    scan_all,
    to_document,
)

__all__ = ["NONE_FOUND", "Answer", "Scan", "Span", "scan", "scan_all", "to_document"]
