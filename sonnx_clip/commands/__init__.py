"""The commands of the command line, which cli.py registers: each parses, calls, prints, and imports late."""
