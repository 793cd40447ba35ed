"""A second argument for the C kernels: contracts from the YAML, proved by Frama-C on the generated C."""
