"""Mutants: small mistakes in the conditions of the YAML and in the kernels, and what kills each."""
