"""What every layer may use, and what knows nothing of Clip: errors, files, digests, progress, words."""
