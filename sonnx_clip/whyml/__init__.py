"""WhyML theories as Python reads them: tokens, declarations, and what is written by hand."""
