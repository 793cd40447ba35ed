"""Rewrites of Clip and its neighbours: equations between terms, and the constants for which each is legal."""
