"""Asking: how any question of any track is asked once, ever (design 6)."""
