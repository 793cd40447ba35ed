"""The test vectors in the formats of other people's tests: for `sonnx-clip export`."""
