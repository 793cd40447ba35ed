"""Material for a tool qualification: requirements, potential errors, user constraints, assurance case."""
