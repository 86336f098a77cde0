#!/usr/bin/env python3
"""Trains the network of src/digits.tri on scikit-learn's digits and writes weights/ and data/.

Weights are ternary and activations int8 in every forward pass of the training; gradients go straight through
the rounding to float32 latent weights, which are what is saved. Needs torch, scikit-learn and NumPy.
"""
import argparse
import json
import os
import struct

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import reference

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = [64, 128, 128, 10]
EPOCHS = 150
BATCH = 64


def straight_through(x, quantised):
    return x + (quantised - x).detach()


def bit_linear(x, weight):
    x = x / torch.sqrt(torch.mean(x * x, dim=-1, keepdim=True) + 1e-5)
    sx = x.abs().amax(dim=-1, keepdim=True).clamp(min=1e-5) / 127
    sw = weight.abs().mean().clamp(min=1e-5)
    x = straight_through(x, (x / sx).round().clamp(-127, 127) * sx)
    weight = straight_through(weight, (weight / sw).round().clamp(-1, 1) * sw)
    return x @ weight.t()


def forward(params, center, x, drop=0.0):
    h = (x - center) / 16
    h = F.relu(bit_linear(h, params[0]))
    h = F.relu(bit_linear(F.dropout(h, drop), params[1]))
    return bit_linear(F.dropout(h, drop), params[2])


def jitter(x):
    """Each image moved, turned and scaled a little."""
    n = len(x)
    angle = (torch.rand(n) - 0.5) * 0.35
    scale = 1 + (torch.rand(n) - 0.5) * 0.25
    theta = torch.zeros(n, 2, 3)
    theta[:, 0, 0] = theta[:, 1, 1] = torch.cos(angle) * scale
    theta[:, 0, 1] = torch.sin(angle) * scale
    theta[:, 1, 0] = -theta[:, 0, 1]
    theta[:, :, 2] = (torch.rand(n, 2) - 0.5) * 0.3
    images = x.reshape(n, 1, 8, 8)
    grid = F.affine_grid(theta, images.shape, align_corners=False)
    return F.grid_sample(images, grid, align_corners=False).reshape(n, 64)


def train(x, y, seed):
    torch.manual_seed(seed)
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    center = x.mean(dim=0)
    params = [(torch.randn(n, k) * k ** -0.5).requires_grad_() for k, n in zip(SIZES, SIZES[1:])]
    steps = EPOCHS * -(-len(x) // BATCH)
    adam = torch.optim.AdamW(params, lr=4e-3, weight_decay=0.01)
    decay = torch.optim.lr_scheduler.OneCycleLR(adam, 4e-3, total_steps=steps, pct_start=0.1)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(x)).split(BATCH):
            logits = forward(params, center, jitter(x[batch]), drop=0.1)
            loss = F.cross_entropy(logits, y[batch], label_smoothing=0.05)
            adam.zero_grad()
            loss.backward()
            adam.step()
            decay.step()
    weights = {f"fc{i + 1}.weight": clear_of_ties(p.detach().numpy()) for i, p in enumerate(params)}
    return {"center": center.numpy(), **weights}


def clear_of_ties(w, gap=1e-3):
    """Moves weights that lie within gap of the border between two trits away from it, so that the order in which
    a compiler sums up mean|w| cannot change a trit."""
    w = w.astype(np.float64)
    while True:
        ratio = np.abs(w) / np.abs(w).mean()
        close = np.abs(ratio - 0.5) < gap
        if not close.any():
            return w.astype(np.float32)
        w[close] *= np.where(ratio[close] < 0.5, 1 - 4 * gap, 1 + 4 * gap)


def save_safetensors(path, tensors):
    header, offset = {}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(t.shape), "data_offsets": [offset, offset + t.nbytes]}
        offset += t.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for t in tensors.values():
            f.write(t.astype("<f4").tobytes())


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=0, help="of the initial weights and the batches")
    options.add_argument("--split", type=int, default=0, help="seed of the 80:20 split")
    options.add_argument("--out", default=HERE, help="folder to write weights/ and data/ in")
    args = options.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)

    digits = load_digits()
    x, y = digits.data.astype(np.float32), digits.target.astype(np.int64)
    train_x, test_x, train_y, test_y = train_test_split(x, y, test_size=0.2, stratify=y, random_state=args.split)
    weights = train(train_x, train_y, args.seed)

    for folder in ("weights", "data"):
        os.makedirs(os.path.join(args.out, folder), exist_ok=True)
    path = os.path.join(args.out, "weights", "digits.safetensors")
    save_safetensors(path, weights)
    weights = reference.load_safetensors(path)
    pred = reference.predict(weights, test_x)
    for name, value in (("x", test_x), ("y", test_y), ("pred", pred)):
        np.save(os.path.join(args.out, "data", f"test_{name}.npy"), value)

    right = int((pred == test_y).sum())
    seen = int((reference.predict(weights, train_x) == train_y).sum())
    changed, tried = reference.quantum_flips(weights, test_x)
    noisy = reference.noise_flips(weights, test_x, 1e-6, 100)
    print(f"seed {args.seed}: test {right}/{len(test_y)} = {100 * right / len(test_y):.2f} %, "
          f"training {seen}/{len(train_y)}, least margin {reference.margins(weights, test_x).min():.0f}, "
          f"one-step changes {changed} of {tried}, noise changes {noisy}")


if __name__ == "__main__":
    main()
