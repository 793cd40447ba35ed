"""Contexts of Clip: small graphs of Clip and its neighbours, and what a runtime makes of them.

spec/contexts.yaml has them. `model` reads it, `meaning` gives the expected results, `graphs` the ONNX models,
`plan` the bounds and inputs; `judge` compares a runtime with itself and with the meaning.
"""
