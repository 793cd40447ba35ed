"""The checker: an implementation of Clip, held class by class against the proven cases."""
