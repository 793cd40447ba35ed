"""Work at the workers of a Dask scheduler: how they are asked, and that they are as this machine is."""
