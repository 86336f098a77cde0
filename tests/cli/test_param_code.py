"""Functions of parameters give the same library compiled and interpreted, for every quantizer."""
import hashlib
import json
import unittest
from pathlib import Path

from project import ProjectTest

QUANTIZERS = {
    "absmean": "absmean_quantize(w)",
    "adaptive": "adaptive_threshold_quantize(w)",
    "xnor": "xnor_quantize(w)",
    "adaptive rows": "adaptive_threshold_quantize(w, dim=1)",
    "xnor rows": "xnor_quantize(w, dim=1, binary=false)",
    "absmax": "absmax_quantize(w, dim=0)",
    "soft": "(soft_quantize(w), 1.0)",
    "affine": "(affine_quantize(w, 0.02, 3), 0.02)",
    "ste": "(ste_quantize(w), 1.0)",
    "ternary": "(ternary_quantize(w, method=\"threshold\"), 1.0)",
    "threshold": "(threshold_quantize(w, 0.7), 1.0)",
    "learned": "(learned_quantize(w, t), 1.0)",
    "own": "(trit(where(w > m * 0.7, 1.0, where(w < -(m * 0.7), -1.0, 0.0))), m)",
}
SOURCE = """\
layer Net() {{
    param w: Tensor<float32, [200, 300]> = randn([200, 300])
    param t: Tensor<float32, [300]> = full([300], 0.5)
    fn forward(x: Tensor<float32, [N, 300]>) {{
        let m = mean(abs(w), 1, true)
        let (q, scale) = {quantizer}
        return x @ (float32(q) * scale).transpose(0, 1)
    }}
}}
"""
LAYERS = """\
import nn
layer Net() {
    let a = nn.BitLinear(300, 200)
    let b = nn.BitLinear(200, 500)
    let c = nn.BitLinear(500, 70)
    fn forward(x: Tensor<float32, [N, 300]>) { return c(b(a(x))) }
}
"""
MANIFEST = "project p\n\nmodel net\n    sources = net.tri\n    entry = Net\n    input x = float32 [?, 300]\n"


class ParamCode(ProjectTest):
    def library(self, when, *words):
        self.env["TRIB_PARAM_CODE"] = when
        self.trib("build", "-C", "p", "-q", "--no-cache", *words)
        digest = hashlib.sha256(Path(self.path("p/build/libnet.so")).read_bytes()).hexdigest()
        self.trib("clean", "-C", "p")
        return digest

    def test_compiled_equals_interpreted(self):
        self.write("p/tri.build", MANIFEST)
        for name, quantizer in QUANTIZERS.items():
            with self.subTest(name):
                self.write("p/net.tri", SOURCE.format(quantizer=quantizer))
                interpreted = self.library("never")
                self.assertEqual(self.library("always"), interpreted)
                self.assertEqual(self.library("auto"), interpreted)
                self.assertEqual(self.library("always", "-j3", "-O3"), self.library("never", "-O3"))

    def test_layers_share_code(self):
        self.write("p/tri.build", MANIFEST)
        self.write("p/net.tri", LAYERS)

        def fragments():
            stats = json.loads(self.trib("cache", "stats", "--detailed", "--format=json").stdout)
            return next(k for k in stats["kinds"] if k["kind"] == "fragment")

        self.env["TRIB_PARAM_CODE"] = "always"
        self.trib("build", "-C", "p", "-q")
        first = fragments()
        self.assertEqual(first["entries"], 1 + 2)  # the model; the mean, then the trits
        self.edit("p/net.tri", "200", "210")
        self.trib("build", "-C", "p", "-q")
        self.assertEqual(fragments()["entries"], 2 + 2)
        self.assertEqual(fragments()["hits"], first["hits"] + 2)

    def test_wrong_word(self):
        self.trib("new", "p", "-q")
        self.env["TRIB_PARAM_CODE"] = "yes"
        self.assertIn("TRIB_PARAM_CODE wants auto, always or never", self.fails("build", "-C", "p", code=2))


if __name__ == "__main__":
    unittest.main()
