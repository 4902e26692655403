"""Execute: asks one route every task, once, ever (docs/routes.md)."""
