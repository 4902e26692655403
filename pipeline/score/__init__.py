"""Score: a look-up in the frozen map, and the score-blind common core (docs/core.md)."""
