#!/usr/bin/env python3
"""Writes a project of many small units. Deterministic."""
import argparse
import os


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def unit(i):
    return (f"# Unit {i} of the chain.\n"
            f"fn step{i}(x: Tensor<float32, [N, 64]>) -> Tensor<float32, [N, 64]> {{\n"
            f"    let shifted = x * {1 + i % 7}.0 - {i}.0\n"
            f"    let gate = sigmoid(shifted)\n"
            f"    return relu(shifted * gate) / {1 + i % 5}.0\n"
            f"}}\n\n")


TYPE = "Tensor<float32, [N, 64]>"


def body(calls):
    return "    let y = x\n" + "".join(f"    y = {call}(y)\n" for call in calls) + "    return y\n"


def net(calls, most=100):
    """The entry, which calls each; where they are many, through functions of `most` calls."""
    chunks = [calls[i:i + most] for i in range(0, len(calls), most)] if len(calls) > 10 * most else []
    text = "".join(f"fn chunk{i}(x: {TYPE}) -> {TYPE} {{\n{body(chunk)}}}\n\n" for i, chunk in enumerate(chunks))
    names = [f"chunk{i}" for i in range(len(chunks))] or calls
    return text + f"layer Net() {{\n    fn forward(x: {TYPE}) -> {TYPE} {{\n" + body(names).replace("    ", "        ") + "    }\n}\n"


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("dir")
    args.add_argument("units", type=int, nargs="?", default=1000)
    args.add_argument("per_file", type=int, nargs="?", default=10)
    a = args.parse_args()
    root, units, per_file = a.dir, a.units, a.per_file
    os.makedirs(os.path.join(root, "src"), exist_ok=True)
    imports, calls = [], []
    for first in range(0, units - 1, per_file):
        name = f"part{first // per_file:04d}"
        inside = range(first, min(first + per_file, units - 1))
        write(os.path.join(root, "src", name + ".tri"), "".join(unit(i) for i in inside))
        imports.append(f'import "{name}.tri" as {name}\n')
        calls += [f"{name}.step{i}" for i in inside]
    write(os.path.join(root, "src", "net.tri"), "".join(imports) + "\n" + net(calls))
    write(os.path.join(root, "tri.build"),
          "project chain\n    version = 1.0\n\nmodel chain\n    sources = src/*.tri\n    entry   = Net\n"
          "    input x = float32 [?, 64]\n")


if __name__ == "__main__":
    main()
