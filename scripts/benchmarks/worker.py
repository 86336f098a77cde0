"""Runs what an engine computes, in a process of its own: worker.py ENGINE THREADS, with commands on standard input, one a line:
    prepare NAME KEY=VALUE…    ok, or error TEXT
    time NAME SECONDS          the milliseconds of each run within that time, at least three runs
Engines in turn get the same machine, so that their times can be compared."""
import os
import sys
import time

THREADS = int(sys.argv[2])
os.environ["OMP_NUM_THREADS"] = str(THREADS)
import numpy as np


def random(shape, dtype="float32"):
    r = np.random.default_rng(1)
    return r.integers(-127, 128, shape, dtype=np.int8) if dtype == "int8" else r.standard_normal(shape, dtype=np.float32)


def ints(text):
    return [int(n) for n in text.split(",")]


def trib(a):
    """library=PATH [input=NPY] [output=NPY] [kernels=1]: returns the milliseconds of its kernels alone if kernels is set."""
    from library import Library
    model = Library(a["library"], THREADS, kernels="kernels" in a)
    x = model.inputs[0]
    x[...] = np.load(a["input"]) if "input" in a else random(x.shape, x.dtype.name)
    model.run()
    if "output" in a:
        np.save(a["output"], model.outputs[0])

    def run():
        model.kernel_ns = 0
        model.run()
        return model.kernel_ns / 1e6 or None
    return run


def onnxruntime(a):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = ort.InferenceSession(a["onnx"], options, providers=["CPUExecutionProvider"])
    x = {session.get_inputs()[0].name: np.load(a["input"])}
    return lambda: session.run(None, x) and None


def openvino(a):
    import openvino as ov
    core = ov.Core()
    model = core.compile_model(core.read_model(a["onnx"]), "CPU", {
        "INFERENCE_NUM_THREADS": THREADS, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"})
    request, x = model.create_infer_request(), np.load(a["input"])
    return lambda: request.infer([x]) and None


def torch(a):
    """A network of torchvision with saved weights, or one operation."""
    import torch
    torch.set_num_threads(THREADS)
    torch.set_grad_enabled(False)
    tensor = lambda *shape: torch.from_numpy(random(shape))
    if "network" in a:
        import torchvision
        net = getattr(torchvision.models, a["network"])().eval()
        net.load_state_dict(torch.load(a["state"]))
        x = torch.from_numpy(np.load(a["input"]))
        return lambda: net(x) is None or None
    if a["op"] == "matmul":
        m, k, n = ints(a["dims"])
        x, w = tensor(m, k), tensor(n, k)
        return lambda: torch.nn.functional.linear(x, w) is None or None
    if a["op"] == "conv":
        n, c, h, w, o, kh, kw, s, p = ints(a["dims"])
        x, k = tensor(n, c, h, w), tensor(o, c, kh, kw)
        return lambda: torch.conv2d(x, k, stride=s, padding=p) is None or None
    x = tensor(*ints(a["dims"]))
    return lambda: torch.softmax(torch.nn.functional.gelu(2 * x + 1), -1) is None or None


def copy(a):
    x = random(ints(a["dims"]))
    y = np.empty_like(x)
    return lambda: np.copyto(y, x)


ENGINES = {"trib": trib, "onnxruntime": onnxruntime, "openvino": openvino, "torch": torch, "copy": copy}


def times(run, budget):
    done, began = [], time.perf_counter()
    while len(done) < 3 or time.perf_counter() - began < budget:
        start = time.perf_counter()
        own = run()
        done.append(own if own is not None else (time.perf_counter() - start) * 1e3)
    return done


def main():
    prepared, engine = {}, ENGINES[sys.argv[1]]
    for line in sys.stdin:
        verb, name, *rest = line.split()
        try:
            if verb == "prepare":
                prepared[name] = engine(dict(item.split("=", 1) for item in rest))
                print("ok", flush=True)
            else:
                print(*times(prepared[name], float(rest[0])), flush=True)
        except Exception as e:  # whatever an engine raises is its answer
            print("error", str(e).replace("\n", " "), flush=True)


main()
