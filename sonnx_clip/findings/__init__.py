"""Findings about the sources: what runtimes answer for their witnesses, and the texts made of them."""
