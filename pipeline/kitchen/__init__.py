"""The kitchen track: a week's menu or a recipe, checked by code (kitchen spec)."""
