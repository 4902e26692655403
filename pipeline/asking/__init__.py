"""Asking: how any question of any track is asked once, ever (docs/routes.md)."""
