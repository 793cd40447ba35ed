"""Work at the workers of a Dask scheduler, which must match this machine."""
