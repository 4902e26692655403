"""Showing: how anything is shown, on a terminal, in a document, on a page, in a paper."""
