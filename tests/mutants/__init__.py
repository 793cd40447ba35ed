"""Tests of sonnx_clip.mutants."""
