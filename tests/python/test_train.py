"""examples/train as a whole, with few steps: training, export, libraries and the picture. Needs PyTorch 2."""

import os
import re
import shutil
import sys
import unittest
import xml.etree.ElementTree

import numpy as np
import trib
from project import SOURCE, ProjectTest, run


class Train(ProjectTest):
    example = "train"

    def setUp(self):
        super().setUp()
        shutil.copytree(
            os.path.join(SOURCE, "examples", "chat"),
            self.path("../chat"),
            ignore=shutil.ignore_patterns("build", ".trib"),
        )

    def test_short(self):
        done = run([sys.executable, "train.py", "--digits", "46", "--text", "60"], self.dir, env=self.env)
        self.assertRegex(
            done.stdout, r"digits\n  ternary: loss 0\.\d+, [89]\d\.\d % right, 4\.3 KiB of weights\n  float32: "
        )
        right = re.search(r"library: (\d+) of 360 right, PyTorch (\d+); (\d+) other", done.stdout)
        self.assertEqual(right[1], right[2])
        self.assertRegex(done.stdout, r"library: \d+ of 2560 choices of the next character")
        with open(self.path("build/digits/digits_cnn.tri")) as f:
            self.assertIn("nn.BitConv2d(16, 32, 3, padding=1)", f.read())
        picture = xml.etree.ElementTree.parse(self.path("curves.svg"))
        self.assertEqual(len(list(picture.iter("{http://www.w3.org/2000/svg}polyline"))), 4)
        self.compare_decoder()

    def compare_decoder(self):
        """The decoder that is written by hand has the logits of the exported transformer, at each position."""
        run([os.environ["TRIB"], "build"], self.path("../chat"), env=self.env)
        tokens = np.random.default_rng(0).integers(1, 41, (1, 30))
        want = np.array(trib.load(self.path("build/text/build/libtext.so"))(tokens))
        decoder = trib.load(self.path("../chat/build/libchat.so"))
        got = np.stack([np.array(decoder.step(tokens[:, k : k + 1]))[0] for k in range(30)])
        off = np.abs(got - want[0]).max(1) / np.abs(want).max()
        self.assertLess(np.median(off), 1e-3)
        self.assertLess(off.max(), 0.05)  # a code may be a tie


if __name__ == "__main__":
    unittest.main()
