"""Ratios within one run: our code beside a plain implementation of the same job."""
