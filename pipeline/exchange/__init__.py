"""Published data in, training data out, and answers from elsewhere scored."""
