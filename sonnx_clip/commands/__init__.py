"""The commands of the command line: each parses, calls and prints, and imports what it needs when it runs."""
