"""The stages from a culinary release to a leaderboard, and what they share."""
