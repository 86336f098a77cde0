"""What `emit = pytorch` writes, beside the tools of PyTorch: ruff, and the networks of torchvision."""
import os
import shutil
import subprocess
import sys
import unittest

import torch
import torchvision
from project import SOURCE, ProjectTest

sys.path.insert(0, os.path.join(SOURCE, "tests", "diff"))
import written  # noqa: E402

SAME = {
    "resnet18": ("ResNet18", torchvision.models.resnet18),
    "mobilenet_v2": ("MobileNetV2", torchvision.models.mobilenet_v2),
    "efficientnet_b0": ("EfficientNetB0", torchvision.models.efficientnet_b0),
    "vit_b16": ("VitB16", torchvision.models.vit_b_16),
}


class Written(ProjectTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(os.path.join(SOURCE, "examples", "zoo"), self.dir, dirs_exist_ok=True, ignore=shutil.ignore_patterns("build", ".trib"))
        self.trib("build", "--emit", "pytorch")

    def test_ruff(self):
        files = [self.path(f"build/{name}") for name in os.listdir(self.path("build")) if name.endswith(".py")]
        self.assertGreater(len(files), 15)
        for words in (["check"], ["format", "--check"]):
            done = subprocess.run([sys.executable, "-m", "ruff", *words, "--isolated", "--no-cache", *files], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_torchvision(self):
        """The same names of parameters, and bit-equal outputs but for the order of sums in attention."""
        for name, (layer, make) in SAME.items():
            with self.subTest(name), torch.no_grad():
                ours, theirs = written.load(self.path(f"build/{name}.py"), layer), make().eval()
                theirs.load_state_dict(ours.state_dict())
                x = torch.randn(1, 3, 224, 224)
                got, want = ours(x), theirs(x)
                self.assertLessEqual((got - want).abs().max().item(), 1e-5 * want.abs().max().item() if name == "vit_b16" else 0)


if __name__ == "__main__":
    unittest.main()
