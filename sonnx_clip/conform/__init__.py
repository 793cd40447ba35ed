"""The checker: compares an implementation of Clip with the proved cases, class by class."""
