"""Long runs of the checker: units of work, the journal that keeps their results, and reports made of them."""
