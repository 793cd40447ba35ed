"""What the specification says, for people: a triple, readings, dialects, findings about the sources."""
