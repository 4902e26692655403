"""Release: brings an Epicure release in, checked (docs/bundle.md)."""
