"""What others need for the same kernels on this machine's device: PyTorch, whose products on NVIDIA are those of cuBLAS and cuDNN, and CLBlast.

device_peers.py SECONDS: reads a JSON list of cases (benchmarks.kernels.Case as an object) from standard input, and prints {peer: {case: µs}}. A peer that is not
installed is left out, and a case that it cannot compute, too. SECONDS: for one case."""
import array
import ctypes
import ctypes.util
import json
import random
import sys
import time

BATCH, SHORT = 20, 5e-3  # launches between two readings of the clock, and seconds of those that need it


def least_us(run, finish, seconds, batch_of=None):
    """Of one `run`. `finish` waits for the device. batch_of(n): a function that does n runs at once, if there is a faster one than a loop."""
    def timed(work):
        start = time.perf_counter()
        work()
        finish()
        return time.perf_counter() - start

    timed(run)
    n = BATCH if timed(run) < SHORT else 1
    batch = batch_of(n) if batch_of else lambda: [run() for _ in range(n)]
    found, end = [timed(batch)], time.perf_counter() + seconds
    while time.perf_counter() < end:
        found.append(timed(batch))
    return min(found) / n * 1e6


# ---- PyTorch ----


def operation(torch, case, dtype, device):
    """A function without arguments, or None."""
    def tensor(*shape):
        return torch.randint(-1, 2, shape, device=device, dtype=dtype) if dtype == torch.int8 else torch.randn(shape, device=device).to(dtype)

    d = case["dims"]
    if case["kind"] == "matmul" and dtype == torch.int8:
        x, w = tensor(d[0], d[1]), tensor(d[2], d[1]).t()
        return (lambda: torch._int_mm(x, w)) if d[0] > 16 else None
    if case["kind"] == "matmul":
        x, w = tensor(d[0], d[1]), tensor(d[1], d[2])
        return lambda: x @ w
    if case["kind"] == "conv" and dtype != torch.int8:
        n, c, h, w, o, kh, kw, s, p, *several = d
        groups = several[0] if several else 1
        x, k = tensor(n, c, h, w), tensor(o, c // groups, kh, kw)
        return lambda: torch.conv2d(x, k, stride=s, padding=p, groups=groups)
    if case["kind"] == "attention" and dtype != torch.int8:
        heads, queries, keys, width = d
        q, k, v = tensor(1, heads, queries, width), tensor(1, heads, keys, width), tensor(1, heads, keys, width)
        attention = getattr(torch.nn.functional, "scaled_dot_product_attention", None)  # since PyTorch 2.0
        return attention and (lambda: attention(q, k, v))
    return None


def recorded(torch, run, n):
    """Launches of a GPU are recorded, so that Python does not delay them."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(n):
            run()
    return graph.replay


def pytorch(cases, seconds):
    import torch
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    on_gpu, found = torch.cuda.is_available(), {}
    finish = torch.cuda.synchronize if on_gpu else lambda: None
    for dtype in [torch.float32] + ([torch.float16, torch.int8] if on_gpu else []):
        name = f"PyTorch {str(dtype).split('.')[1]}{'' if on_gpu else ' on the CPU'}"
        for case in cases:
            try:
                run = operation(torch, case, dtype, "cuda" if on_gpu else "cpu")
                if run:
                    batch_of = (lambda n: recorded(torch, run, n)) if on_gpu else None
                    found.setdefault(name, {})[case["name"]] = least_us(run, finish, seconds, batch_of)
            except RuntimeError as e:  # no such kernel for these sizes
                print(f"{name}: {case['name']}: {e}", file=sys.stderr)
    return found


# ---- CLBlast ----

ROW_MAJOR, AS_IT_IS, TRANSPOSED, READ_WRITE, COPY = 101, 111, 112, 1, 32
pointer, size, real = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_float


class Queue:
    """The first device of the first platform."""

    def __init__(self):
        self.cl = ctypes.CDLL(ctypes.util.find_library("OpenCL"))
        for name in "clCreateContext", "clCreateCommandQueue", "clCreateBuffer":
            getattr(self.cl, name).restype = pointer
        platform, device, status = pointer(), pointer(), ctypes.c_int()
        self.cl.clGetPlatformIDs(1, ctypes.byref(platform), None)
        self.cl.clGetDeviceIDs(platform, ctypes.c_ulong(0xFFFFFFFF), 1, ctypes.byref(device), None)
        self.context = pointer(self.cl.clCreateContext(None, 1, ctypes.byref(device), None, None, ctypes.byref(status)))
        self.queue = pointer(self.cl.clCreateCommandQueue(self.context, device, ctypes.c_ulong(0), ctypes.byref(status)))
        if status.value:
            raise OSError(f"clCreateCommandQueue: {status.value}")

    def buffer(self, count):
        data, status = array.array("f", [random.random() for _ in range(1024)]) * (count // 1024 + 1), ctypes.c_int()
        made = self.cl.clCreateBuffer(self.context, ctypes.c_ulong(READ_WRITE | COPY), size(4 * len(data)), (ctypes.c_char * (4 * len(data))).from_buffer(data), ctypes.byref(status))
        if status.value:
            raise OSError(f"clCreateBuffer: {status.value}")
        return pointer(made)


def clblast(cases, seconds):
    library = ctypes.util.find_library("clblast")
    if not library:
        raise ImportError("CLBlast")
    blas, on = ctypes.CDLL(library), Queue()
    queue, zero, one = ctypes.byref(on.queue), size(0), size(1)

    def product(rows, terms, columns, x, w, y):
        if rows == 1:
            status = blas.CLBlastSgemv(ROW_MAJOR, TRANSPOSED, size(terms), size(columns), real(1), w, zero, size(columns), x, zero, one, real(0), y, zero, one, queue, None)
        else:
            status = blas.CLBlastSgemm(ROW_MAJOR, AS_IT_IS, AS_IT_IS, size(rows), size(columns), size(terms), real(1), x, zero, size(terms), w, zero, size(columns), real(0), y, zero,
                                       size(columns), queue, None)
        if status:
            raise OSError(f"CLBlast: {status}")

    def measured(rows, terms, columns):
        operands = rows, terms, columns, on.buffer(rows * terms), on.buffer(terms * columns), on.buffer(rows * columns)
        return least_us(lambda: product(*operands), lambda: on.cl.clFinish(on.queue), seconds)

    return {"CLBlast float32": {c["name"]: measured(*c["dims"]) for c in cases if c["kind"] == "matmul"}}


def main(seconds):
    cases, found = json.load(sys.stdin), {}
    for peer in pytorch, clblast:
        try:
            found.update(peer(cases, float(seconds)))
        except (ImportError, OSError) as e:
            print(f"left out: {peer.__name__}: {e}", file=sys.stderr)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
