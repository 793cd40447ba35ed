"""Printers: what spec/clip.yaml becomes in generated/ and docs/; targets.py lists every file."""
