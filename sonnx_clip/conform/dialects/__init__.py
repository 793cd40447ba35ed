"""Runtimes of ONNX models held against every Clip that ONNX has had, operator set by operator set."""
