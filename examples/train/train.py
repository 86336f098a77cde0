#!/usr/bin/env python3
"""Trains two ternary networks beside float ones, exports and builds them, and compares the libraries with PyTorch.

Digits: a convolutional network on scikit-learn's images. Text: a transformer on the characters of corpus.py. Needs
PyTorch 2, scikit-learn, NumPy, and the package trib. Two to three minutes on two cores.
"""

import argparse
import os
import shutil
import sys

import chart
import corpus
import networks
import numpy as np
import torch
import trib
import trib.nn as tn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
LENGTH = 40  # characters of a sample


# ---- training ----


def optimize(model, steps, batches, rate):
    """Trains with the batches (inputs, targets), and returns the loss of each step."""
    adam = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    decay = torch.optim.lr_scheduler.OneCycleLR(adam, rate, total_steps=steps, pct_start=0.1)
    losses = []
    for _, (x, y) in zip(range(steps), batches):
        logits = model.train()(x)
        loss = nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))
        adam.zero_grad()
        loss.backward()
        adam.step()
        decay.step()
        losses.append(loss.item())
    model.eval()
    return losses


def digits_data():
    """Images [N, 1, 8, 8] and labels to train on, and to test."""
    data = load_digits()
    images = data.images.astype(np.float32)[:, None]
    parts = train_test_split(images, data.target, test_size=0.2, stratify=data.target, random_state=0)
    return [torch.from_numpy(part) for part in parts]


def digits_batches(x, y):
    while True:
        for batch in torch.randperm(len(x)).split(64):
            yield x[batch], y[batch]


def text_batches(text):
    """Samples that begin with a line."""
    tokens = torch.tensor(corpus.encode(text))
    starts = torch.tensor([0] + [k + 1 for k, c in enumerate(text) if c == "\n" and k + LENGTH + 2 < len(text)])
    while True:
        at = starts[torch.randint(0, len(starts), (32, 1))] + torch.arange(LENGTH + 1)
        yield tokens[at[:, :-1]], tokens[at[:, 1:]]


def train(make, steps, batches, rate, score):
    """Trains the ternary and the float network; returns both, and for each (name, losses, bytes of weights, result)."""
    models, runs = [], []
    for name, ternary in (("ternary", True), ("float32", False)):
        torch.manual_seed(0)
        model = make(ternary)
        losses = optimize(model, steps, batches(), rate)
        models.append(tn.freeze(model))
        runs.append((name, losses, networks.stored_bytes(model), score(model)))
        print(f"  {name}: loss {np.mean(losses[-20:]):.3f}, {runs[-1][3]}, {runs[-1][2] / 1024:.1f} KiB of weights")
    return models, runs


def facts_right(model):
    """How many sentences of corpus.py end as they must."""
    right = []
    for fact in sum(corpus.facts(), []):
        tokens = torch.tensor([corpus.encode(fact + "\n")])
        begin = fact.rindex(" ")  # of the last word
        with torch.no_grad():
            chosen = model(tokens[:, :-1]).argmax(-1)
        right.append(bool((chosen[0, begin:] == tokens[0, begin + 1 :]).all()))
    return f"{100 * np.mean(right):.1f} % of sentences"


# ---- from a model to a library ----


def build(model, name, example, dynamic, folder):
    """Exports the model, builds it, and returns the opened library."""
    shutil.rmtree(folder, ignore_errors=True)
    trib.export(model, (example,), folder, name=name, dynamic_shapes=(dynamic,))
    trib.build(folder)
    return trib.load(os.path.join(folder, "build", f"lib{name}.so"))


def rounding(model, x):
    """What rounding changes in the results: four times the largest difference of eight runs, in which the float
    parameters differ by a relative 2^-20. Where activations become int8, the last bit of a float decides between two
    numbers."""
    want, most = model(x), 0.0
    state = {name: t.clone() for name, t in model.state_dict().items()}
    for seed in range(8):
        noise = torch.Generator().manual_seed(seed)
        for p in model.parameters():
            p.mul_(1 + (torch.rand(p.shape, generator=noise) * 2 - 1) * 2**-20)
        most = max(most, (model(x) - want).abs().max().item())
        model.load_state_dict(state)
    return 4 * most


@torch.no_grad()
def compare(model, library, x):
    """Compares choices of the library with PyTorch's. Returns both and the number that differ, which must be within
    the bound of floats."""
    want, got = model(x), torch.from_numpy(np.asarray(library(x.numpy())))
    bound = 1e-5 + 1e-4 * want.abs() + rounding(model, x)
    if not ((got - want).abs() <= bound).all():
        sys.exit(f"the library differs by {(got - want).abs().max():.3g}, more than rounding explains")
    other = got.argmax(-1) != want.argmax(-1)
    best = want.topk(2).values
    if (best[..., 0] - best[..., 1])[other].gt(2 * bound.amax(-1)[other]).any():
        sys.exit("the library chooses another result, although the best two differ by more than the bound")
    return want.argmax(-1), got.argmax(-1), int(other.sum())


def run_digits(steps, out):
    x, test_x, y, test_y = digits_data()
    print("digits")

    def accuracy(model):
        with torch.no_grad():
            return f"{100 * (model(test_x).argmax(1) == test_y).float().mean():.1f} % right"

    (model, _), runs = train(networks.Digits, steps, lambda: digits_batches(x, y), 4e-3, accuracy)
    library = build(model, "digits_cnn", test_x[:2], {0: torch.export.Dim("N")}, os.path.join(out, "digits"))
    want, got, differing = compare(model, library, test_x)
    rights = [int((chosen == test_y).sum()) for chosen in (want, got)]
    print(f"  library: {rights[1]} of {len(test_y)} right, PyTorch {rights[0]}; {differing} other choices")
    if rights[0] != rights[1]:
        sys.exit("the accuracy of the library is another one")
    return "Digits", runs


def run_text(steps, out, chat):
    text, unseen = corpus.text(20000), corpus.text(200, seed=1)
    print("text")
    characters = len(corpus.CHARACTERS)
    (model, _), runs = train(
        lambda ternary: networks.Text(characters, ternary=ternary), steps, lambda: text_batches(text), 6e-3, facts_right
    )
    x = torch.tensor(corpus.encode(unseen[: 64 * LENGTH])).reshape(64, LENGTH)
    sizes = {0: torch.export.Dim("N"), 1: torch.export.Dim("L")}
    library = build(model, "text", x[:2], sizes, os.path.join(out, "text"))
    _, _, differing = compare(model, library, x)
    print(f"  library: {differing} of {x.numel()} choices of the next character are other ones than PyTorch's")
    os.makedirs(os.path.join(chat, "weights"), exist_ok=True)
    shutil.copy(os.path.join(out, "text", "text.safetensors"), os.path.join(chat, "weights", "chat.safetensors"))
    return "Text", runs


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--digits", type=int, default=345, metavar="STEPS", help="training steps; 0: none")
    options.add_argument("--text", type=int, default=1200, metavar="STEPS", help="training steps; 0: none")
    options.add_argument("--out", default=os.path.join(HERE, "build"), help="folder of the exported projects")
    options.add_argument(
        "--chat", default=os.path.join(HERE, "..", "chat"), help="folder of the project that gets the text's weights"
    )
    options.add_argument("--chart", default=os.path.join(HERE, "curves.svg"), help="picture of the losses and sizes")
    args = options.parse_args()
    panels = []
    if args.digits:
        panels.append(run_digits(args.digits, args.out))
    if args.text:
        panels.append(run_text(args.text, args.out, args.chat))
    chart.draw(args.chart, panels)


if __name__ == "__main__":
    main()
