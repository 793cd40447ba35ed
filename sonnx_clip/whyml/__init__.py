"""WhyML theories as Python reads them: their text as a tree, and the tree evaluated, without any prover."""
