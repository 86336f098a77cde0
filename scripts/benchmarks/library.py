"""A library that trib built, opened in this process."""
import ctypes
import itertools

import numpy as np

DTYPES = [np.bool_, np.int8, np.int8, np.int16, np.int32, np.int64, np.float16, None, np.float32, np.float64]  # by enum tri_dtype


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * 8), ("rank", ctypes.c_int32), ("dtype", ctypes.c_int32)]


class DimStep(ctypes.Structure):
    _fields_ = [("op", ctypes.c_int32), ("pad", ctypes.c_int32), ("value", ctypes.c_int64)]


class Dim(ctypes.Structure):
    _fields_ = [("steps", ctypes.POINTER(DimStep)), ("n_steps", ctypes.c_int32), ("pad", ctypes.c_int32)]

    def known(self):
        return self.steps[0].value if self.n_steps == 1 and self.steps[0].op == 0 else None


class Port(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32), ("dims", Dim * 8)]

    def array(self, batch):
        """Zeros of the port's shape; a dimension that is known at run time only is the batch."""
        shape = [batch if d.known() is None else d.known() for d in self.dims[:self.rank]]
        return np.zeros(shape, DTYPES[self.dtype])


class Entry(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("inputs", ctypes.POINTER(Port)), ("outputs", ctypes.POINTER(Port)), ("n_inputs", ctypes.c_int32),
                ("n_outputs", ctypes.c_int32), ("dim_names", ctypes.c_void_p), ("n_dims", ctypes.c_int32), ("pad", ctypes.c_int32),
                ("code", ctypes.c_void_p), ("states", ctypes.c_void_p * 2), ("n_states_in", ctypes.c_int32), ("n_states_out", ctypes.c_int32)]


class Statement(ctypes.Structure):
    _fields_ = [("name", ctypes.c_uint32), ("first_origin", ctypes.c_uint32), ("n_origins", ctypes.c_uint32)]


class Unit(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("key", ctypes.c_char_p), ("first_statement", ctypes.c_uint32), ("n_statements", ctypes.c_uint32),
                ("origin", ctypes.c_uint32), ("pad", ctypes.c_uint32)]


class Event(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("statement", ctypes.c_uint32), ("unit", ctypes.POINTER(Unit)), ("start_ns", ctypes.c_int64),
                ("ns", ctypes.c_int64)]


HOOK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Event))


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_uint32), ("device", ctypes.c_char_p), ("weights", ctypes.c_char_p),
                ("profile", HOOK), ("profile_user", ctypes.c_void_p)]


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char * 252)]


OPEN = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Options), ctypes.POINTER(Error))
RUN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(Tensor), ctypes.POINTER(Error))


class Desc(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("n_entries", ctypes.c_uint32), ("n_units", ctypes.c_uint32), ("pad", ctypes.c_uint32),
                ("names", ctypes.c_char_p * 6), ("dirty", ctypes.c_int32), ("reserved", ctypes.c_int32), ("entries", ctypes.POINTER(Entry)),
                ("units", ctypes.POINTER(Unit)), ("statements", ctypes.POINTER(Statement)), ("origins", ctypes.c_void_p),
                ("members", ctypes.c_void_p), ("texts", ctypes.c_void_p), ("open", OPEN), ("run", RUN), ("close", ctypes.c_void_p)]


class Library:
    """Runs the first entry. `kernels`: of a library with profile_hook, also sums the times of calls of micro-kernels into kernel_ns."""

    def __init__(self, path, threads, kernels=False, batch=1):
        self.desc = Desc.in_dll(ctypes.CDLL(path), "tri_desc")
        entry = self.desc.entries[0]
        self.inputs = [entry.inputs[k].array(batch) for k in range(entry.n_inputs)]
        self.outputs = [entry.outputs[k].array(batch) for k in range(entry.n_outputs)]
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
        s = self.desc.statements[e.unit.contents.first_statement + e.statement]
        if ctypes.string_at(self.desc.texts + s.name).startswith(b"tri_"):
            self.kernel_ns += e.ns

    def run(self):
        if self.desc.run(self.model, 0, self.io, ctypes.byref(self.error)):
            raise RuntimeError(self.error.message.decode())
