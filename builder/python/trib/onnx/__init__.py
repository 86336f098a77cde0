"""ONNX models as projects of the language: :func:`trib.from_onnx`."""
