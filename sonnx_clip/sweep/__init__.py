"""Exhaustive sweeps: both implementations of Clip against a table of ranks, on every pair or every triple.

What is swept:
    - int8, uint8: all 2^24 triples (X, min, max);
    - int16, uint16, float16, bfloat16: all 2^32 pairs (X, min), with max at either end of the type and NaN;
      all 2^32 pairs (X, max), with min likewise; all X under every pair of special bounds; and for the C
      kernels all 2^32 pairs (min, max), with three X: the least number, min, a NaN (0 for integers).

What that says: of the 2^48 triples of a 16-bit type, those above, and no others, are tried. That the rest
follows is proved in why3/composition.mlw for an implementation which decides by three comparisons of two
operands each, whatever these compute. The C source is of that form (why3/kernel.mlw); that the compiler
keeps it is taken for granted. The NumPy kernels are not of that form, and of pairs (min, max) only those with
a special bound are tried: for them the sweep is a test beside the proof of generated/why3/numpy_*.mlw.
"""
