"""Execute: asks one route every task, once, ever (design 6)."""
