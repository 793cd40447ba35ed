"""The road of Coq: coq/ and generated/coq compiled, their assumptions compared, and checked again by coqchk."""
