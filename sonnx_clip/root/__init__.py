"""Utilities independent of Clip, for every layer: errors, files, digests, progress, text."""
