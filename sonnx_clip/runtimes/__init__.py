"""Runtimes in processes of their own: found, opened, called, watched. Nothing here reads a specification."""
