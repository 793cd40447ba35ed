"""Explains the specification: a triple, readings, dialects, findings about the sources."""
