"""Runs built models on arrays, for tests that compare results."""
import json
import struct

import numpy as np

from project import ProjectTest

SAFETENSORS = {"f2": "F16", "f4": "F32", "f8": "F64", "i1": "I8", "i2": "I16", "i4": "I32", "i8": "I64", "b1": "BOOL", "u2": "BF16"}  # NumPy has no bfloat16


def safetensors(arrays):
    """A file of these arrays, by name."""
    header, data = {}, b""
    for name, array in arrays.items():
        header[name] = {"dtype": SAFETENSORS[array.dtype.str[1:]], "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class InferenceTest(ProjectTest):
    def input_flags(self, arrays):
        """The command-line flags that give a model these inputs, by name."""
        for name, array in arrays.items():
            np.save(self.path(f"{name}.npy"), array)
        return [word for name in arrays for word in ("--input", f"{name}={name}.npy")]

    def infer(self, model, arrays, count, *flags):
        """The outputs of one run: `count` of them where the model returns a tuple, with 0 its only one."""
        outputs = [f"out{i}" for i in range(count)] or ["out"]
        wanted = [word for name in outputs for word in ("--output", f"{name}={name}.npy")]
        self.trib("run", model, *([] if "--lazy" in flags else ["--no-build"]), *flags, *self.input_flags(arrays), *wanted)
        return [np.load(self.path(f"{name}.npy")) for name in outputs]
