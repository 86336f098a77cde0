#!/usr/bin/env python3
"""Completes lines with the compiled decoder: python3 chat.py [BEGINNING…]; without one, it asks. After `trib build`."""

import os
import sys

import numpy as np
import trib

HERE = os.path.dirname(os.path.abspath(__file__))
CHARACTERS = "\n +,-.0123456789=abcdefghiklmnopqrstuvwxy"  # of ../train/corpus.py
LONGEST = 60


def complete(model, beginning):
    """Returns the line that begins so. The model keeps what it has read: each character is computed once."""
    model.reset()
    line, tokens = beginning, [CHARACTERS.index(c) for c in beginning]
    while len(line) < LONGEST:
        logits = model.step(np.array([tokens], dtype=np.int64))
        tokens = [int(np.argmax(logits))]
        if CHARACTERS[tokens[0]] == "\n":
            break
        line += CHARACTERS[tokens[0]]
    return line


def main():
    model = trib.load(os.path.join(HERE, "build", "libchat.so"))
    for beginning in sys.argv[1:] or iter(lambda: input("> "), ""):
        if unknown := sorted(set(beginning) - set(CHARACTERS)):
            print(f"there is no {''.join(unknown)!r} in the text that the model has read")
        else:
            print(complete(model, beginning))


if __name__ == "__main__":
    main()
