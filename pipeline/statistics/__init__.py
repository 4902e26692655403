"""Statistics: standings, contrasts, chance and agreement of the scores on the common core."""
