"""scripts/bench models: whole networks beside ONNX Runtime, OpenVINO and PyTorch, with the same weights and inputs, and their results compared. A ternary
network, with random weights, runs beside the float network quantized to int8."""
import os
import shutil
import subprocess

from .engines import HERE, Folder, python_engine, rounds, summary, table

ZOO = os.path.join(HERE, "..", "..", "examples", "zoo")
NETWORKS = {"resnet18": "resnet18", "resnet50": "resnet50", "mobilenet_v2": "mobilenet_v2", "vit_b16": "vit_b_16",
            "efficientnet_b0": "efficientnet_b0", "ternary_resnet18": "resnet18", "ternary_resnet50": "resnet50",
            "ternary_mobilenet_v2": "mobilenet_v2", "ternary_vit_b16": "vit_b_16"}  # the zoo's name and torchvision's
ENGINES = ["trib", "onnxruntime", "openvino", "torch"]


def is_ternary(model):
    return model.startswith("ternary")


def export(python, folder, model, batch):
    """Writes weights, ONNX file, input and PyTorch's output of a network with random weights."""
    subprocess.run([python, os.path.join(HERE, "export.py"), NETWORKS[model], os.path.join(folder, model), str(batch), *["int8"] * is_ternary(model)],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def build(trib, folder, models, cpu):
    shutil.copytree(ZOO, os.path.join(folder, "zoo"))
    manifest = os.path.join(folder, "zoo", "tri.build")
    with open(manifest, encoding="utf-8") as f:
        lines = f.read().split("\n")
    with open(manifest, "w", encoding="utf-8") as f:
        for line in lines:
            f.write(line + "\n")
            if line.startswith("model ") and line[6:] in models and not is_ternary(line[6:]):
                f.write(f"    weights = {folder}/{line[6:]}.safetensors\n")
    subprocess.run([trib, "build", *models, "-C", os.path.dirname(manifest), "-q", "--cpu", cpu, "--no-cache"], check=True,
                   env={**os.environ, "TRIB_SERVER": "off"})


def prepare(engine, model, folder):
    base = os.path.join(folder, model)
    if engine.name == "torch" and is_ternary(model):
        return
    arguments = {"trib": f"library={folder}/zoo/build/lib{model}.so output={base}.trib.npy", "torch": f"network={NETWORKS[model]} state={base}.pt"}
    engine.prepare(model, arguments.get(engine.name, f"onnx={base}.onnx") + f" input={base}.input.npy")


def difference(folder, model):
    """The largest difference from PyTorch's output, relative to its largest element. None: the weights are others."""
    if is_ternary(model):
        return None
    import numpy as np
    want, got = (np.load(f"{folder}/{model}.{name}.npy") for name in ("output", "trib"))
    return float(abs(got - want).max() / abs(want).max())


def row(model, engines, folder):
    found = {e.name: summary(e, model) for e in engines}
    ms = {name: s["median_ms"] for name, s in found.items() if s}
    best = min((ms[n] for n in ENGINES[1:] if n in ms), default=None)
    apart = difference(folder, model)
    result = {"model": model, **found, "difference": apart, "ratio_to_fastest": round(ms["trib"] / best, 3) if best else None}
    return result, [model, *(ms.get(n, "") for n in ENGINES), result["ratio_to_fastest"], "" if apart is None else f"{apart:.1e}"]


def main(options, python):
    models = [m for m in NETWORKS if options.only in m]
    with Folder() as folder:
        for model in models:
            export(python, folder, model, options.batch)
        build(options.trib, folder, models, options.cpu)
        engines = [python_engine(name, python, options.threads) for name in ENGINES]
        for model in models:
            for e in engines:
                prepare(e, model, folder)
        rounds(engines, models, options.rounds, 0.3)
        rows = [row(m, engines, folder) for m in models]
        for e in engines:
            e.close()
    table(["median ms", *ENGINES, "trib / fastest", "difference"], [r for _, r in rows])
    return {"threads": options.threads, "batch": options.batch, "models": [r for r, _ in rows]}
