"""The matrix of readings and classes, as data and as text."""
