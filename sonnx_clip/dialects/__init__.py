"""The dialects of Clip for people: their table, and one call of one of them explained."""
