"""Runtimes that are no function of a module: programs that speak frames, C functions, files."""
