"""The kitchen's cases: 23 templates that each manipulate one condition, and their variants."""
