#!/usr/bin/env python3
"""Writes the project of gen_project.py as C for ninja: one function a file, one edge a file, and a shared library. Deterministic."""
import argparse
import os

from gen_project import write


def unit(i):
    return (f"#include <math.h>\n#include <stddef.h>\n\n"
            f"void step{i}(const float *restrict x, float *restrict y, size_t n)\n{{\n"
            f"    for (size_t k = 0; k < n * 64; k++) {{\n"
            f"        float shifted = x[k] * {1 + i % 7}.0f - {i}.0f;\n"
            f"        float gate = 1.0f / (1.0f + expf(-shifted));\n"
            f"        float v = shifted * gate;\n"
            f"        y[k] = (v > 0.0f ? v : 0.0f) / {1 + i % 5}.0f;\n"
            f"    }}\n}}\n")


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("dir")
    args.add_argument("units", type=int, nargs="?", default=200)
    args.add_argument("--cflags", default="-O1 -fPIC")
    a = args.parse_args()
    os.makedirs(os.path.join(a.dir, "src"), exist_ok=True)
    names = [f"step{i}" for i in range(a.units - 1)]
    for i, name in enumerate(names):
        write(os.path.join(a.dir, "src", name + ".c"), unit(i))
    calls = "".join(f"    {name}(a, b, n);\n    t = a, a = b, b = t;\n" for name in names)
    declared = "".join(f"void {name}(const float *, float *, size_t);\n" for name in names)
    write(os.path.join(a.dir, "src", "net.c"), f"#include <stddef.h>\n{declared}\nvoid net(float *a, float *b, size_t n)\n{{\n    float *t;\n{calls}}}\n")
    names.append("net")
    write(os.path.join(a.dir, "build.ninja"),
          f"rule cc\n    command = cc {a.cflags} -MMD -MF $out.d -c $in -o $out\n    depfile = $out.d\n    deps = gcc\n"
          "rule link\n    command = cc -shared -o $out $in -lm\n\n"
          + "".join(f"build out/{name}.o: cc src/{name}.c\n" for name in names)
          + "build libchain.so: link " + " ".join(f"out/{name}.o" for name in names) + "\ndefault libchain.so\n")


if __name__ == "__main__":
    main()
