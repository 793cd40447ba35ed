"""The forms of a model in which `check` judges a runtime that opens ONNX models."""
