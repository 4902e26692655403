"""Checks of menus and recipes by code: numerator, denominator, status, evidence (spec 5)."""
