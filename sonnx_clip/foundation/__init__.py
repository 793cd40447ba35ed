"""The road of Coq: coq/ and generated/coq compiled, assumptions compared, checked again by coqchk."""
