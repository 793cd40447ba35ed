"""Benchmarks, as ratios: `make bench`."""
