"""Readings of Clip drawn: each beside the cases, class by class."""
