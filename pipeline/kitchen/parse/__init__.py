"""From an answer's text to a menu or a recipe, or a named reason why not (kitchen spec 7.1, 2)."""
