"""Trust: one cell by its hash, proofs that stand alone, the whole chain rebuilt, a run's card."""
