#!/usr/bin/python3
"""The interpreter against NumPy, operation by operation, on random shapes, types and values.

usage: interp_numpy.py IR_OPT OPS_DEF [--seed N] [--cases N]

Every operation of ops.def must have a case here. Results must be equal; those of LOOSE up to the sign of zero and one unit in the last place,
those of compound_numpy.py up to 64 units of the greatest element, because their expansions round every step.
"""
import argparse
import math
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

import compound_numpy
from numpy_values import FLOATS, INTS, NP, ULP, rounded, shape_of, values, wide

LOOSE = {"min", "max", "reduce_min", "reduce_max", "exp", "log", "sin", "cos", "tanh", "erf", "pow", "reduce_sum", "reduce_prod", "matmul"}
# Operations that others run, or that have no value to compare: inputs, calls, branches, loops.
ELSEWHERE = {"input", "weight", "call", "result", "random", "dim", "print", "assert", "if", "loop"}


class Case:
    """One function: constants, one operation, its expected result."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = []
        self.n = 0

    def emit(self, text, dtype, shape):
        self.lines.append(f"%{self.n} = {text} : {dtype}[{', '.join(map(str, shape))}]")
        self.n += 1
        return f"%{self.n - 1}"

    def const(self, array, dtype):
        def show(v):
            if dtype in FLOATS:
                v = float(v)
                return "nan" if math.isnan(v) else "-inf" if v == -math.inf else "inf" if v == math.inf else repr(v)
            return str(int(v))
        return self.emit("const {" + ", ".join(show(v) for v in np.asarray(array).ravel()) + "}", dtype, np.shape(array))

    def text(self):
        return "\n".join(["fn case()"] + self.lines + [f"out %{self.n - 1}"]) + "\n"


erf = np.vectorize(math.erf, otypes=[np.float64])


def rsqrt(x, dtype):
    return 1 / wide(rounded(np.sqrt(x), dtype), dtype)


UNARY_FLOAT = {"ceil": np.ceil, "floor": np.floor, "round": np.rint, "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "sin": np.sin,
               "cos": np.cos, "tanh": np.tanh, "erf": erf}
UNARY_ANY = {"neg": np.negative, "abs": np.abs, "sign": lambda x: (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)}


def int_floordiv(a, b):
    safe = np.where(b == 0, 1, b)
    return np.where(b == 0, 0, np.floor_divide(a, safe))


def int_mod(a, b):
    safe = np.where(b == 0, 1, b)
    return np.where(b == 0, 0, np.mod(a, safe))


def float_mod(a, b):
    m = np.fmod(a, b)
    return np.where((m != 0) & ((m < 0) != (b < 0)), m + b, m)


BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal}


def saturated(x, dtype):
    """Float to integer as OP_CAST says."""
    if dtype == "bool":
        return x != 0
    low, high = (-1, 1) if dtype == "trit" else (int(np.iinfo(NP[dtype]).min), int(np.iinfo(NP[dtype]).max))
    out = [0 if math.isnan(v) else low if v <= low else high if v >= high else int(v) for v in np.asarray(x, np.float64).ravel()]
    return np.array(out, dtype=NP[dtype]).reshape(np.shape(x))


def cast(x, source, to):
    if source in FLOATS and to not in FLOATS:
        return saturated(x, to)
    if to == "trit":
        return np.sign(x.astype(np.int64)).astype(np.int8)
    if to == "bool":
        return x != 0
    if to in FLOATS and source == "int64" and to == "float32":
        return x.astype(np.float32)
    return rounded(x.astype(np.float64) if to in FLOATS else x, to)


def op_unary(c, op):
    rng = c.rng
    dtype = rng.choice(FLOATS if op in UNARY_FLOAT or op == "rsqrt" else FLOATS + INTS)
    x = values(rng, dtype, shape_of(rng))
    c.emit(f"{op} {c.const(x, dtype)}", dtype, x.shape)
    f = UNARY_FLOAT.get(op) or UNARY_ANY.get(op)
    return rounded(rsqrt(wide(x, dtype), dtype) if op == "rsqrt" else f(wide(x, dtype)), dtype), dtype


def op_binary(c, op):
    rng = c.rng
    dtype = rng.choice(FLOATS + INTS) if op != "div" else rng.choice(FLOATS)
    shape = shape_of(rng)
    whole = dtype in INTS
    kind = "plain" if op == "pow" or (whole and op in ("mod", "floordiv")) else "any"
    a, b = values(rng, dtype, shape, kind), values(rng, dtype, shape, kind)
    if op == "pow":
        a, b = (a, np.abs(b) % 5) if whole else (np.abs(a), b)
        b = rounded(b, dtype)
    elif whole and op in ("mod", "floordiv"):
        b = np.where(values(rng, "bool", shape), b.astype(np.int64), rng.choice([0, -1, 3])).astype(NP[dtype])
    result = "bool" if op in COMPARE else dtype
    c.emit(f"{op} {c.const(a, dtype)} {c.const(b, dtype)}", result, shape)
    x, y = wide(a, dtype), wide(b, dtype)
    if op in COMPARE:
        return COMPARE[op](x, y), "bool"
    if op in BINARY:
        f = BINARY[op]
    else:
        f = {"div": np.divide, "pow": np.power, "mod": int_mod if whole else float_mod, "floordiv": int_floordiv if whole else np.floor_divide}[op]
    return rounded(f(x, y), dtype), dtype


def op_not(c, op):
    x = values(c.rng, "bool", shape_of(c.rng))
    c.emit(f"not {c.const(x, 'bool')}", "bool", x.shape)
    return np.logical_not(x), "bool"


def shifted(op, a, n):
    """Amounts that are negative or too large shift all bits out."""
    size = a.dtype.itemsize * 8
    inside = (n >= 0) & (n < size)
    by = np.where(inside, n, size - 1).astype(a.dtype)
    if op == "shr" and a.dtype.kind == "i":
        return np.right_shift(a, by)
    return np.where(inside, (np.left_shift if op == "shl" else np.right_shift)(a, by), 0).astype(a.dtype)


def op_bits(c, op):
    shape, dtype = shape_of(c.rng), c.rng.choice(INTS if op in ("shl", "shr") else INTS + ["bool"])
    a, b = values(c.rng, dtype, shape), values(c.rng, dtype, shape)
    c.emit(f"{op} {c.const(a, dtype)} {c.const(b, dtype)}", dtype, shape)
    f = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}.get(op)
    return (f(a, b) if f else shifted(op, a, b)), dtype


def op_cast(c, _):
    source, to = (c.rng.choice(["bool", "trit"] + INTS + FLOATS) for _ in range(2))
    x = values(c.rng, source, shape_of(c.rng))
    c.emit(f"cast {c.const(x, source)}", to, x.shape)
    return cast(x, source, to), to


def any_type(rng):
    return rng.choice(["bool", "trit"] + INTS + FLOATS)


def op_select(c, _):
    shape, dtype = shape_of(c.rng), any_type(c.rng)
    k, a, b = values(c.rng, "bool", shape), values(c.rng, dtype, shape), values(c.rng, dtype, shape)
    c.emit(f"select {c.const(k, 'bool')} {c.const(a, dtype)} {c.const(b, dtype)}", dtype, shape)
    return np.where(k, a, b), dtype


def op_const(c, _):
    dtype = any_type(c.rng)
    x = values(c.rng, dtype, shape_of(c.rng))
    c.const(x, dtype)
    return x, dtype


def op_broadcast(c, _):
    to = shape_of(c.rng)
    source = tuple(1 if c.rng.random() < 0.4 else d for d in to)[c.rng.randint(0, len(to)):]
    dtype = any_type(c.rng)
    x = values(c.rng, dtype, source)
    c.emit(f"broadcast {c.const(x, dtype)}", dtype, to)
    return np.broadcast_to(x, to), dtype


def op_convert_layout(c, _):
    shape, dtype = shape_of(c.rng, 1), any_type(c.rng)
    x = values(c.rng, dtype, shape)
    c.emit(f"convert_layout {c.const(x, dtype)}", dtype, np.shape(x))
    return x, dtype


def op_reshape(c, _):
    shape, dtype = shape_of(c.rng, 1), any_type(c.rng)
    x = values(c.rng, dtype, shape)
    to = c.rng.choice([(x.size,), shape + (1,), (1,) + shape, tuple(reversed(shape))])
    c.emit(f"reshape {c.const(x, dtype)}", dtype, to)
    return x.reshape(to), dtype


def op_transpose(c, _):
    shape, dtype = shape_of(c.rng, 1), any_type(c.rng)
    perm = list(range(len(shape)))
    c.rng.shuffle(perm)
    x = values(c.rng, dtype, shape)
    y = np.transpose(x, perm)
    c.emit(f"transpose {c.const(x, dtype)} perm {perm}", dtype, y.shape)
    return y, dtype


def op_slice(c, _):
    shape, dtype = shape_of(c.rng, 1, 3, 7), any_type(c.rng)
    x = values(c.rng, dtype, shape)
    starts, steps, sizes = [], [], []
    for d in shape:
        start, step = c.rng.randrange(d), c.rng.choice([1, 1, 2, 3, -1, -2])
        most = (d - 1 - start) // step + 1 if step > 0 else start // -step + 1
        starts.append(start)
        steps.append(step)
        sizes.append(c.rng.randint(0, most))
    y = x[np.ix_(*[[s + k * t for k in range(n)] for s, t, n in zip(starts, steps, sizes)])]
    c.emit(f"slice {c.const(x, dtype)} start {starts} step {steps}", dtype, y.shape)
    return y, dtype


def op_concat(c, _):
    shape, dtype = shape_of(c.rng, 1), any_type(c.rng)
    axis = c.rng.randrange(len(shape))
    parts = [values(c.rng, dtype, shape[:axis] + (c.rng.randint(0, 3),) + shape[axis + 1:]) for _ in range(c.rng.randint(1, 4))]
    y = np.concatenate(parts, axis)
    c.emit("concat " + " ".join(c.const(p, dtype) for p in parts) + f" {axis}", dtype, y.shape)
    return y, dtype


def op_gather(c, _):
    """One index for each of the first dims."""
    table, dtype = shape_of(c.rng, 1), any_type(c.rng)
    index_type, shape = c.rng.choice(INTS), shape_of(c.rng, 0, 2)
    random = np.random.RandomState(c.rng.randrange(1 << 30))
    indices = [np.array(random.randint(0, n, shape), NP[index_type]) for n in table[:c.rng.randint(1, len(table))]]
    x = values(c.rng, dtype, table)
    y = x[tuple(indices)]
    operands = " ".join(c.const(i, index_type) for i in indices)
    c.emit(f"gather {c.const(x, dtype)} {operands} dims [{', '.join(map(str, range(len(indices))))}] windows []", dtype, y.shape)
    return y, dtype


def op_gather_dim(c, _):
    shape, dtype = shape_of(c.rng, 1), any_type(c.rng)
    axis = c.rng.randrange(len(shape))
    table = list(shape)
    table[axis] = c.rng.randint(1, 6)
    index_type = c.rng.choice(INTS)
    index = np.array(np.random.RandomState(c.rng.randrange(1 << 30)).randint(0, table[axis], shape), NP[index_type])
    x = values(c.rng, dtype, table)
    y = np.take_along_axis(x, index.astype(np.int64), axis)
    c.emit(f"gather_dim {c.const(x, dtype)} {c.const(index, index_type)} {axis}", dtype, y.shape)
    return y, dtype


ORDERED = ["float32", "float64", "int64"]


def op_sort(c, _):
    shape, dtype, descending = shape_of(c.rng, 1, 3, 40), c.rng.choice(ORDERED), c.rng.randint(0, 1)
    x = values(c.rng, dtype, shape)
    # NaN is the greatest; equal elements keep their order.
    key = np.where(np.isnan(x), np.inf, x) if dtype in FLOATS else x
    greatest = np.isnan(x) if dtype in FLOATS else np.zeros(shape, bool)
    if descending:
        key, greatest = -key if dtype in FLOATS else ~key, ~greatest
    y = np.lexsort((key, greatest), -1)
    c.emit(f"sort {c.const(x, dtype)} {descending}", "int64", shape)
    return y, "int64"


def op_scan(c, op):
    shape, dtype = shape_of(c.rng, 1), c.rng.choice(ORDERED)
    axis = c.rng.randrange(len(shape))
    x = values(c.rng, dtype, shape, "plain")
    wide = np.float64 if dtype in FLOATS else np.int64
    f = np.cumsum if op == "scan_sum" else np.cumprod
    with np.errstate(all="ignore"):
        y = rounded(f(x, axis, dtype=wide), dtype)
    c.emit(f"{op} {c.const(x, dtype)} {axis}", dtype, shape)
    return y, dtype


def op_scatter(c, op):
    shape, dtype = shape_of(c.rng, 1), c.rng.choice(ORDERED)
    axis = c.rng.randrange(len(shape))
    to = list(shape)
    to[axis] = c.rng.randint(1, 6)
    index = np.random.RandomState(c.rng.randrange(1 << 30)).randint(0, to[axis], shape)
    x, v = values(c.rng, dtype, to, "plain"), values(c.rng, dtype, shape, "plain")
    y = x.copy()
    for at in np.ndindex(*shape):
        place = at[:axis] + (index[at],) + at[axis + 1:]
        y[place] = v[at] if op == "scatter" else y[place] + v[at]
    c.emit(f"{op} {c.const(x, dtype)} {c.const(index, 'int64')} {c.const(v, dtype)} {axis}", dtype, y.shape)
    return y, dtype


def op_put(c, _):
    shape, dtype = shape_of(c.rng, 1), any_type(c.rng)
    axis = c.rng.randrange(len(shape))
    at = c.rng.randrange(shape[axis])
    x, v = values(c.rng, dtype, shape), values(c.rng, dtype, shape[:axis] + shape[axis + 1:])
    y = x.copy()
    y[(slice(None),) * axis + (at,)] = v
    c.emit(f"put {c.const(x, dtype)} {c.const(v, dtype)} {c.const(np.int64(at), 'int64')} {axis}", dtype, shape)
    return y, dtype


def op_pad(c, _):
    shape, dtype = shape_of(c.rng, 0), any_type(c.rng)
    around = [(c.rng.randint(0, 2), c.rng.randint(0, 2)) for _ in shape]
    x, value = values(c.rng, dtype, shape), values(c.rng, dtype, ())
    y = np.full([b + n + a for n, (b, a) in zip(shape, around)], value)
    y[tuple(slice(b, b + n) for n, (b, _) in zip(shape, around))] = x
    c.emit(f"pad {c.const(x, dtype)} {c.const(value, dtype)} before {[b for b, _ in around]}", dtype, y.shape)
    return y, dtype


def op_window(c, _):
    shape, dtype = shape_of(c.rng, 1, 4, 7), any_type(c.rng)
    dims = sorted(c.rng.sample(range(len(shape)), c.rng.randint(1, len(shape))))
    x = y = values(c.rng, dtype, shape)
    steps, inside = [1] * len(shape), []
    for d in dims:
        step, dilation = c.rng.choice([1, 1, 2, 3]), c.rng.choice([1, 1, 2])
        kernel = c.rng.randint(1, (shape[d] - 1) // dilation + 1)
        y = np.lib.stride_tricks.sliding_window_view(y, (kernel - 1) * dilation + 1, d)[..., ::dilation]
        y = y[(slice(None),) * d + (slice(None, None, step),)]
        steps[d] = step
        inside.append(dilation)
    c.emit(f"window {c.const(x, dtype)} dims {dims} step {steps + inside}", dtype, y.shape)
    return y, dtype


def op_iota(c, _):
    shape, dtype = shape_of(c.rng, 1), c.rng.choice(INTS + FLOATS)
    axis = c.rng.randrange(len(shape))
    c.emit(f"iota {axis}", dtype, shape)
    along = [-1 if k == axis else 1 for k in range(len(shape))]
    return np.broadcast_to(np.arange(shape[axis]).astype(NP[dtype]).reshape(along), shape), dtype


def op_reduce(c, op):
    rng, shape = c.rng, shape_of(c.rng, 1)
    dtype = rng.choice(FLOATS + INTS + (["bool"] if op in ("reduce_max", "reduce_min") else []))
    dims = sorted(rng.sample(range(len(shape)), 1 if op.startswith("arg") else rng.randint(1, len(shape))))
    x = values(rng, dtype, shape, "any" if op in ("reduce_max", "reduce_min", "argmax", "argmin") else "plain")
    result = "int64" if op.startswith("arg") else dtype
    if op.startswith("arg"):
        y = getattr(np, op)(x, dims[0])
    else:
        f = {"reduce_sum": np.sum, "reduce_prod": np.prod, "reduce_max": np.max, "reduce_min": np.min}[op]
        w = wide(x, dtype)
        y = f(w, tuple(dims), dtype=w.dtype) if op in ("reduce_sum", "reduce_prod") else f(w, tuple(dims))
        y = rounded(y, dtype)
    c.emit(f"{op} {c.const(x, dtype)} dims {dims}", result, np.shape(y))
    return y, result


def op_matmul(c, _):
    rng = c.rng
    f = rng.choice(FLOATS)
    a_type, b_type, to = rng.choice([("int8", "trit", "int32"), ("trit", "trit", "int32"), ("int8", "int8", "int32"), (f, "trit", f), ("trit", f, f),
                                     (f, f, f), ("int16", "int16", "int16"), ("uint8", "uint8", "uint8"), ("int64", "int64", "int64")])
    batch, m, k, n = shape_of(rng, 0, 2), rng.randint(0, 5), rng.randint(0, 40), rng.randint(1, 6)
    a, b = values(rng, a_type, batch + (m, k), "plain"), values(rng, b_type, batch + (k, n), "plain")
    acc = np.float64 if to in FLOATS else np.int64
    y = rounded(np.matmul(a.astype(acc), b.astype(acc)), to)
    c.emit(f"matmul {c.const(a, a_type)} {c.const(b, b_type)}", to, y.shape)
    return y, to


def handlers():
    h = {"cast": op_cast, "select": op_select, "const": op_const, "broadcast": op_broadcast, "convert_layout": op_convert_layout, "reshape": op_reshape, "transpose": op_transpose,
         "slice": op_slice, "concat": op_concat, "gather": op_gather, "gather_dim": op_gather_dim, "iota": op_iota, "pad": op_pad, "window": op_window, "matmul": op_matmul,
         "sort": op_sort, "scan_sum": op_scan, "scan_prod": op_scan, "scatter": op_scatter, "scatter_add": op_scatter, "put": op_put}
    h.update({op: op_unary for op in list(UNARY_FLOAT) + list(UNARY_ANY) + ["rsqrt"]})
    h.update({op: op_binary for op in list(BINARY) + list(COMPARE) + ["div", "floordiv", "mod", "pow"]})
    h.update({"not": op_not} | {op: op_bits for op in ("and", "or", "xor", "shl", "shr")})
    h.update({op: op_reduce for op in ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "argmax", "argmin")})
    h.update(compound_numpy.HANDLERS)
    return h


def agrees(got, want, dtype, op):
    if dtype not in FLOATS:
        return np.array_equal(np.asarray(got, np.int64), np.asarray(want, np.int64))
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    with np.errstate(all="ignore"):
        if op in compound_numpy.HANDLERS:
            greatest = np.max(np.abs(want), initial=1, where=np.isfinite(want))
            return bool(np.all((got == want) | (np.isnan(got) & np.isnan(want)) | (np.abs(got - want) <= 64 * ULP[dtype] * greatest)))
        if op not in LOOSE:
            return bool(np.all((got == want) & (np.signbit(got) == np.signbit(want)) | (np.isnan(got) & np.isnan(want))))
        slack = np.maximum(np.abs(want) * ULP[dtype], 1e-300) + (1e-13 if dtype == "float64" else 6e-8 if dtype == "float16" else 0)
        return bool(np.all((got == want) | (np.isnan(got) & np.isnan(want)) | (np.abs(got - want) <= slack)))


def run(ir_opt, passes, text):
    with tempfile.NamedTemporaryFile("w", suffix=".ir") as f:
        f.write(text)
        f.flush()
        r = subprocess.run([ir_opt, "-r", passes, f.name], capture_output=True, text=True)
    if r.returncode:
        return None, r.stdout + r.stderr
    return r.stdout, ""


def parsed(line):
    m = re.match(r"(\w+) \[([\d,]*)\](.*)$", line.strip())
    shape = tuple(int(v) for v in m[2].split(",") if v)
    # int64 does not fit a double
    values_ = [float(v) if m[1] in FLOATS else int(v) for v in m[3].split()]
    return np.array(values_, dtype=np.float64 if m[1] in FLOATS else np.int64).reshape(shape)


def check(args, op, handler, seed):
    case = Case(random.Random(seed))
    with np.errstate(all="ignore"):
        want, dtype = handler(case, op)
    for passes in ("-", "all"):
        out, error = run(args.ir_opt, passes, case.text())
        if out is None:
            print(f"FAIL {op} seed {seed} passes {passes}: {error}\n{case.text()}")
            return False
        got = parsed(out)
        if got.shape != np.shape(want) or not agrees(got, want, dtype, op):
            print(f"FAIL {op} seed {seed} passes {passes}\n{case.text()}got  {got.tolist()}\nwant {np.asarray(want).tolist()}")
            return False
    return True


def main():
    p = argparse.ArgumentParser()
    p.add_argument("ir_opt")
    p.add_argument("ops_def")
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    p.add_argument("--cases", type=int, default=8)
    p.add_argument("--op")
    args = p.parse_args()
    print(f"seed {args.seed}")
    ops = re.findall(r'^OP\(\w+,\s*"(\w+)"', open(args.ops_def, encoding="utf-8").read(), re.M)
    table = handlers()
    missing = [op for op in ops if op not in table and op not in ELSEWHERE]
    if missing:
        sys.exit(f"no case for: {' '.join(missing)}")
    bad = 0
    for op in [args.op] if args.op else [op for op in ops if op in table]:
        for k in range(args.cases):
            bad += not check(args, op, table[op], f"{args.seed}/{op}/{k}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
