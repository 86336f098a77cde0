"""scripts/bench clblast: square products of float32 by CLBlast, and by trib on the same OpenCL device and on the CPU, in one run."""
import json
import os
import subprocess

from .engines import compiled

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SIZES = (128, 192, 256, 384, 512, 768, 1024)


def build(trib, folder):
    with open(os.path.join(folder, "tri.build"), "w", encoding="utf-8") as f:
        f.write("project products\n    version = 1.0\n")
        f.writelines(f"model product{n}\n    sources = products.tri\n    entry   = Product{n}\n    emit    = library, opencl\n" for n in SIZES)
    with open(os.path.join(folder, "products.tri"), "w", encoding="utf-8") as f:
        for n in SIZES:
            matrix = f"Tensor<float32, [{n}, {n}]>"
            f.write(f"layer Product{n}() {{\n    param w: {matrix} = randn([{n}, {n}])\n    fn forward(x: {matrix}) -> {matrix} {{ return x @ w }}\n}}\n")
    subprocess.run([trib, "build", "-C", folder, "-q"], check=True, env={**os.environ, "TRIB_SERVER": "off"})


def main(trib, folder, rounds):
    program = compiled("clblast.c", folder, "-I", ROOT, "-lclblast", "-lOpenCL", "-ldl")
    if not program:
        print("bench: CLBlast is missing (Debian: libclblast-dev)")
        return None
    build(trib, folder)
    rows = []
    for n in SIZES:
        libraries = [os.path.join(folder, "build", f"libproduct{n}{backend}.so") for backend in ("", "_opencl")]
        row = json.loads(subprocess.run([program, str(n), str(rounds), *libraries], check=True, capture_output=True, text=True).stdout)
        rows.append({"n": n, **{engine: round(2e-3 * n ** 3 / us, 1) for engine, us in row.items() if engine != "n"}})
        print("{n:5} x {n}: CPU {cpu:7.1f} GOP/s, OpenCL {opencl:7.1f}, CLBlast {clblast:7.1f}".format(**rows[-1]), flush=True)
    return rows
