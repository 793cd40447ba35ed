"""Obligations proved: tasks, provers, ledger, audit of assumptions; Coq and Frama-C."""
