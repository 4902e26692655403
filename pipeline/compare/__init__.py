"""Two releases side by side: their ingredients, their tasks, and which conclusions survive."""
