"""WhyML theories read as tokens and declarations, and the theories written by hand."""
