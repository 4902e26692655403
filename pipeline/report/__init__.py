"""Report: what people look at, written from the tables alone."""
