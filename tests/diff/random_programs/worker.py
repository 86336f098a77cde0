"""worker.py LIBRARY CASES START: runs the cases from START on in this process. Prints one JSON object for each case that begins, and one for each difference."""
import ctypes
import json
import os
import pickle
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "scripts", "benchmarks"))
from abi import ABI, Desc, Error, Options, Tensor  # noqa: E402

GUARD = 64
DTYPES = [np.bool_, np.int8, np.int8, np.int16, np.int32, np.int64, np.float16, np.uint16, np.float32, np.float64, np.uint8]


def guarded(nbytes, at):
    """Memory with bytes of its own on both sides, at changing alignments of 8."""
    memory = np.full(nbytes + 2 * GUARD + 64, 0xA5, np.uint8)
    start = GUARD + -(memory.ctypes.data + GUARD) % 64 + at % 8 * 8
    return memory, start - (start + nbytes + GUARD > len(memory)) * 64


def run(desc, model, entries, case):
    name, inputs, expected, errors, wild = case
    index = entries[name]
    e = desc.entries[index]
    io, hold = (Tensor * (e.n_inputs + e.n_outputs))(), []
    for k in range(e.n_inputs + e.n_outputs):
        d = e.inputs[k] if k < e.n_inputs else e.outputs[k - e.n_inputs]
        array = np.asarray(inputs[d.name.decode()], order="C") if k < e.n_inputs else np.empty(expected[k - e.n_inputs].shape, DTYPES[d.dtype])
        memory, start = guarded(array.nbytes, k + index)
        if k < e.n_inputs:
            memory[start:start + array.nbytes] = np.frombuffer(array.tobytes(), np.uint8)
        hold.append((memory, start, array, memory.copy()))
        io[k].data, io[k].rank, io[k].dtype = memory.ctypes.data + start, array.ndim, d.dtype
        io[k].shape[:array.ndim] = array.shape
    err = Error()
    if desc.run(model, index, io, ctypes.byref(err)):
        return f"the run failed: {err.message.decode()}"
    for k, (memory, start, array, before) in enumerate(hold):
        end = start + array.nbytes
        if k < e.n_inputs:
            if not np.array_equal(memory, before):
                return f"input {k} or memory beside it was written"
            continue
        if not (memory[:start] == 0xA5).all() or not (memory[end:] == 0xA5).all():
            return f"memory beside result {k - e.n_inputs} was written"
        got = np.frombuffer(memory[start:end].tobytes(), array.dtype).reshape(array.shape)
        why = differs(got, expected[k - e.n_inputs], errors[k - e.n_inputs])
        if why:
            return f"result {k - e.n_inputs}: {why}"
    return None


def differs(got, want, bound):
    """How the elements differ by more than the bound; None if they do not."""
    if got.dtype != want.dtype:
        return f"type {got.dtype}, not {want.dtype}"
    if got.dtype.kind != "f":
        bad = got != want
    else:
        a, b = got.astype(np.float64), want.astype(np.float64)
        with np.errstate(all="ignore"):
            same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= bound)
        bad = ~same
    if not bad.any():
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"{int(bad.sum())} of {bad.size} elements differ; the first at {list(at)}: {got[at]!r}, not {want[at]!r} (bound {bound:.2g})"


def main(library, cases, start):
    with open(cases, "rb") as f:
        cases = pickle.load(f)
    desc = Desc.in_dll(ctypes.CDLL(library), "tri_desc")
    if desc.abi != ABI:
        sys.exit(f"the library has version {desc.abi} of the interface, and abi.py has the structures of version {ABI}")
    entries = {desc.entries[k].name.decode(): k for k in range(desc.n_entries)}
    if len(entries) == 1:  # it has its function's name
        entries = dict.fromkeys([c[0] for c in cases], 0)
    models = {}
    for k in range(start, len(cases)):
        threads = 1 + k % 3
        if threads not in models:
            err = Error()
            models[threads] = desc.open(ctypes.byref(Options(ctypes.sizeof(Options), threads, None, None)), ctypes.byref(err))
            if not models[threads]:
                sys.exit(err.message.decode())
        print(json.dumps({"case": k}), flush=True)
        why = run(desc, models[threads], entries, cases[k])
        if why:
            print(json.dumps({"case": k, "why": why}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
