"""Mutants: small mistakes, made one by one in all that says what Clip is, and what finds each of them."""
