"""The command line: app.py registers the commands; each parses, calls, prints, and imports late."""
