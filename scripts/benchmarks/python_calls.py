"""What a call from Python costs beside the same call from C: of a layer with next to no work, for NumPy and PyTorch."""
import os
import subprocess
import sys
import tempfile
import timeit

SOURCE = "layer One() { fn forward(x: Tensor<float32, [N, 8]>) { return x } }\n"
CALLS = 20000
HOST = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "tri.h"
int main(int argc, char **argv)
{
	float x[8] = {0}, y[8];
	struct timespec a, b;
	tri_error err;
	void *lib = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	const tri_model_desc *d = lib ? dlsym(lib, TRI_DESC_SYMBOL) : NULL;
	struct tri_model *m = d ? d->open(NULL, &err) : NULL;
	tri_tensor io[] = {{x, {1, 8}, 2, TRI_FLOAT32}, {y, {1, 8}, 2, TRI_FLOAT32}};
	int n = argc == 3 ? atoi(argv[2]) : 0;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; m && i < n; i++)
		d->run(m, 0, io, &err);
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%.4f\n", ((double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3) / n);
	return !m;
}
"""


def host_us(folder, library, root):
    with open(os.path.join(folder, "host.c"), "w", encoding="utf-8") as f:
        f.write(HOST)
    host = os.path.join(folder, "host")
    subprocess.run(["cc", "-O2", "-I" + os.path.join(root, "backend/runtime/abi"), "-o", host, host + ".c"], check=True)
    return lambda: float(subprocess.run([host, library, str(CALLS)], check=True, capture_output=True, text=True).stdout)


def measure(out, root, rounds):
    """Returns microseconds of each kind of call, the best of `rounds`, which alternate."""
    sys.path.insert(0, os.path.join(out, "python"))
    try:
        import numpy as np
    except ModuleNotFoundError:
        sys.exit(f"bench: {sys.executable} has no numpy; install it, or run `scripts/python-env scripts/bench python`")
    import trib

    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "one.tri"), os.path.join(folder, "libone.so")
        with open(source, "w", encoding="utf-8") as f:
            f.write(SOURCE)
        subprocess.run([os.path.join(out, "trib"), "build", source, "-o", library, "--emit=library", "--no-server"], check=True, capture_output=True)
        m, x, y = trib.load(library, threads=1), np.zeros((1, 8), np.float32), np.zeros((1, 8), np.float32)

        def timed(call):
            return lambda: timeit.timeit(call, number=CALLS) / CALLS * 1e6

        ways = {"C": host_us(folder, library, root), "numpy": timed(lambda: m(x)), "numpy, by name": timed(lambda: m(x=x)), "numpy, out=": timed(lambda: m(x, out=y))}
        try:
            import torch
        except ImportError:
            pass
        else:
            t = torch.zeros(1, 8)
            ways["torch"] = timed(lambda: m(t))
        best = {}
        for _ in range(rounds):
            for name, way in ways.items():
                best[name] = min(best.get(name, 1e9), way())
    return {name: round(us, 3) for name, us in best.items()}
