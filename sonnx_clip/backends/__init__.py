"""Printers: what spec/clip.yaml becomes in generated/ and docs/; generate.py lists every file."""
