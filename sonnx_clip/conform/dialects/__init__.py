"""Compares runtimes of ONNX models with every version of Clip that ONNX has had."""
