"""Release: brings an Epicure release in, checked (spec 1)."""
