"""A model of a library with states, through its C interface."""
import ctypes

import numpy as np

DTYPES = [np.bool_, np.int8, np.int8, np.int16, np.int32, np.int64, np.float16, np.uint16, np.float32, np.float64, np.uint8]
OK, ARGUMENT, SHAPE, DTYPE, MEMORY, DEVICE, RANGE, WEIGHTS, ASSERT, COMPILE, BUSY, CAPACITY = range(12)


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * 8), ("rank", ctypes.c_int32), ("dtype", ctypes.c_int32)]


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char * 252)]


class Capacity(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("most", ctypes.c_int64)]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_uint32), ("device", ctypes.c_char_p), ("weights", ctypes.c_char_p), ("profile", ctypes.c_void_p),
                ("profile_user", ctypes.c_void_p), ("capacities", ctypes.POINTER(Capacity)), ("n_capacities", ctypes.c_uint32), ("pad", ctypes.c_uint32)]


class State(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32), ("shape", ctypes.c_int64 * 8), ("axis", ctypes.c_int32), ("capacity", ctypes.c_int32),
                ("initial", ctypes.c_void_p)]


class Dim(ctypes.Structure):
    _fields_ = [("steps", ctypes.c_void_p), ("n_steps", ctypes.c_int32), ("pad", ctypes.c_int32)]


class Io(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32), ("dims", Dim * 8)]


class Entry(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("inputs", ctypes.POINTER(Io)), ("outputs", ctypes.POINTER(Io)), ("n_inputs", ctypes.c_int32), ("n_outputs", ctypes.c_int32),
                ("dim_names", ctypes.POINTER(ctypes.c_char_p)), ("n_dims", ctypes.c_int32), ("pad", ctypes.c_int32), ("code", ctypes.c_void_p),
                ("states_in", ctypes.POINTER(ctypes.c_uint32)), ("states_out", ctypes.POINTER(ctypes.c_uint32)), ("n_states_in", ctypes.c_int32), ("n_states_out", ctypes.c_int32),
                ("states_grow", ctypes.POINTER(ctypes.c_uint32))]


SAVE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(Error))
LOAD = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(Error))


class Desc(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("n_entries", ctypes.c_uint32), ("n_units", ctypes.c_uint32), ("n_states", ctypes.c_uint32), ("texts", ctypes.c_char_p * 6),
                ("dirty", ctypes.c_int32), ("reserved", ctypes.c_int32), ("entries", ctypes.POINTER(Entry)), ("units_and_origins", ctypes.c_void_p * 5),
                ("open", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Options), ctypes.POINTER(Error))),
                ("run", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(Tensor), ctypes.POINTER(Error))),
                ("close", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("states", ctypes.POINTER(State)), ("capacities", ctypes.POINTER(Capacity)),
                ("n_capacities", ctypes.c_uint32), ("pad", ctypes.c_uint32), ("reset", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Error))),
                ("state_save", SAVE), ("state_load", LOAD), ("weights", ctypes.c_void_p), ("n_weights", ctypes.c_uint32), ("pad_weights", ctypes.c_uint32), ("profiling", ctypes.c_void_p * 3)]


class ModelError(Exception):
    def __init__(self, error):
        super().__init__(error.message.decode())
        self.code = error.code


class Model:
    """An opened model. Further keyword arguments are capacities; `given` replaces the array that has them, `names` their number. `device`: the
    number of an OpenCL device, without a fallback."""

    def __init__(self, path, threads=1, given=None, names=None, device=None, **capacities):
        self.library = ctypes.CDLL(path)
        self.desc = Desc.in_dll(self.library, "tri_desc")
        assert self.desc.abi == 9
        self.error = Error()
        if names is None:
            names, given = len(capacities), (Capacity * max(1, len(capacities)))(*((n.encode(), v) for n, v in capacities.items()))
        options = Options(ctypes.sizeof(Options), threads, device, capacities=given, n_capacities=names)
        self.handle = self.desc.open(ctypes.byref(options), ctypes.byref(self.error))
        if not self.handle:
            raise ModelError(self.error)
        self.entries = {self.desc.entries[k].name.decode(): k for k in range(self.desc.n_entries)}

    def check(self, code):
        assert code == self.error.code
        if code:
            raise ModelError(self.error)

    def run(self, entry, inputs, shapes):
        """The outputs, of these shapes."""
        index = self.entries[entry]
        e = self.desc.entries[index]
        arrays = [np.array(x, order="C") for x in inputs] + [np.zeros(s, DTYPES[e.outputs[k].dtype]) for k, s in enumerate(shapes)]
        io = (Tensor * max(1, len(arrays)))()
        for k, a in enumerate(arrays):
            io[k].data, io[k].rank, io[k].dtype = a.ctypes.data, a.ndim, (e.inputs[k] if k < e.n_inputs else e.outputs[k - e.n_inputs]).dtype
            io[k].shape[:a.ndim] = a.shape
        self.check(self.desc.run(self.handle, index, io, ctypes.byref(self.error)))
        return arrays[len(inputs):]

    def reset(self):
        self.check(self.desc.reset(self.handle, ctypes.byref(self.error)))

    def save(self):
        size = ctypes.c_uint64(0)
        self.check(self.desc.state_save(self.handle, None, ctypes.byref(size), ctypes.byref(self.error)))
        room = ctypes.create_string_buffer(size.value)
        self.check(self.desc.state_save(self.handle, room, ctypes.byref(size), ctypes.byref(self.error)))
        return room.raw

    def load(self, saved):
        self.check(self.desc.state_load(self.handle, saved, len(saved), ctypes.byref(self.error)))

    def close(self):
        self.desc.close(self.handle)
        self.handle = None
