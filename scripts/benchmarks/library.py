"""A library that trib built, opened in this process."""
import ctypes
import itertools

import numpy as np

from abi import Desc, Error, HOOK, Options, Tensor

DTYPES = [np.bool_, np.int8, np.int8, np.int16, np.int32, np.int64, np.float16, None, np.float32, np.float64, np.uint8]  # by enum tri_dtype


def zeros(port, batch):
    """Of the port's shape; a dimension that is known at run time only is the batch."""
    shape = [batch if d.known() is None else d.known() for d in port.dims[:port.rank]]
    return np.zeros(shape, DTYPES[port.dtype])


class Library:
    """Runs the first entry. `kernels`: of a library with `profile = true`, also sums the times of calls of micro-kernels into kernel_ns."""

    def __init__(self, path, threads, kernels=False, batch=1):
        self.desc = Desc.in_dll(ctypes.CDLL(path), "tri_desc")
        entry = self.desc.entries[0]
        self.inputs = [zeros(entry.inputs[k], batch) for k in range(entry.n_inputs)]
        self.outputs = [zeros(entry.outputs[k], batch) for k in range(entry.n_outputs)]
        self.kernel_ns, self.error = 0, Error()
        self.hook = HOOK(self.count) if kernels else HOOK()
        options = Options(ctypes.sizeof(Options), threads, None, None, self.hook, None)
        self.model = self.desc.open(ctypes.byref(options), ctypes.byref(self.error))
        if not self.model:
            raise RuntimeError(f"{path}: {self.error.message.decode()}")
        ports = [*itertools.islice(entry.inputs, entry.n_inputs), *itertools.islice(entry.outputs, entry.n_outputs)]
        self.io = (Tensor * len(ports))()
        for t, port, array in zip(self.io, ports, self.inputs + self.outputs):
            t.data, t.rank, t.dtype = array.ctypes.data, array.ndim, port.dtype
            t.shape[:array.ndim] = array.shape

    def count(self, _, event):
        e = event.contents
        s = self.desc.statements[e.statement]
        if ctypes.string_at(self.desc.texts + s.name).startswith(b"tri_"):
            self.kernel_ns += e.ns

    def run(self):
        if self.desc.run(self.model, 0, self.io, ctypes.byref(self.error)):
            raise RuntimeError(self.error.message.decode())
