"""The NumPy kernels, run on symbols: what each path computes is recorded and handed to the provers.

`sonnx_clip.trace.explore` runs the very functions that users call and follows every branch;
`sonnx_clip.backends.numpy_kernels` prints what was recorded as obligations: for all x, min and max the kernel
gives Clip.
What an operation of NumPy means is read from why3/numpy.mlw, by Why3 and by `sonnx_clip.trace.numpy_meaning`.
"""
