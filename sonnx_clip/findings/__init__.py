"""Findings about the sources: what runtimes answer for their witnesses, and how they are told."""
