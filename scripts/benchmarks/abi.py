"""The structures of backend/runtime/abi/tri.h for ctypes."""
import ctypes

ABI = 9  # TRI_ABI of the structures below

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


class Entry(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("inputs", ctypes.POINTER(Port)), ("outputs", ctypes.POINTER(Port)), ("n_inputs", ctypes.c_int32),
                ("n_outputs", ctypes.c_int32), ("dim_names", ctypes.c_void_p), ("n_dims", ctypes.c_int32), ("pad", ctypes.c_int32),
                ("code", ctypes.c_void_p), ("states", ctypes.c_void_p * 2), ("n_states_in", ctypes.c_int32), ("n_states_out", ctypes.c_int32),
                ("states_grow", ctypes.c_void_p)]


class Statement(ctypes.Structure):
    _fields_ = [("name", ctypes.c_uint32), ("first_origin", ctypes.c_uint32), ("n_origins", ctypes.c_uint32),
                ("kind", ctypes.c_uint8), ("ceiling", ctypes.c_uint8), ("pad", ctypes.c_uint16)]


class Origin(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("file", "line", "column", "operation", "layer", "inlined_at")]


class Unit(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("key", ctypes.c_char_p), ("first_statement", ctypes.c_uint32), ("n_statements", ctypes.c_uint32),
                ("origin", ctypes.c_uint32), ("pad", ctypes.c_uint32)]


class Launch(ctypes.Structure):
    _fields_ = [("work_items", ctypes.c_uint64), ("work_group", ctypes.c_uint32), ("most_work_group", ctypes.c_uint32), ("multiple", ctypes.c_uint32),
                ("compute_units", ctypes.c_uint32), ("local_bytes", ctypes.c_uint64), ("private_bytes", ctypes.c_uint64), ("occupancy", ctypes.c_double)]


class Event(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("statement", ctypes.c_uint32), ("unit", ctypes.POINTER(Unit)), ("start_ns", ctypes.c_int64),
                ("ns", ctypes.c_int64), ("cpu_ns", ctypes.c_int64), ("bytes", ctypes.c_int64), ("operations", ctypes.c_int64), ("memory", ctypes.c_int64),
                ("launch", Launch)]


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
                ("units", ctypes.POINTER(Unit)), ("statements", ctypes.POINTER(Statement)), ("origins", ctypes.POINTER(Origin)),
                ("members", ctypes.POINTER(ctypes.c_uint32)), ("texts", ctypes.c_void_p), ("open", OPEN), ("run", RUN), ("close", ctypes.c_void_p)]
