"""Bad input of each kind gives a clear error and a non-zero exit code; the last good library remains."""
import json
import os
import struct
import unittest

from project import ProjectTest

FILE = "weights/digits.safetensors"


def pack(header, data=b""):
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return struct.pack("<Q", len(text)) + text + data


class BadInput(ProjectTest):
    example = "digits"

    def setUp(self):
        super().setUp()
        self.build()
        self.good = self.read("build/libdigits.so")

    def tearDown(self):
        self.assertEqual(self.read("build/libdigits.so"), self.good)

    def expect(self, *words, code=1):
        said = self.fails("build", code=code)
        for word in words:
            self.assertIn(word, said)
        return said

    def tensors(self):
        raw = self.read(FILE)
        (n,) = struct.unpack("<Q", raw[:8])
        return json.loads(raw[8:8 + n]), raw[8 + n:]

    def test_all_syntax_errors_of_a_file_are_shown(self):
        self.write("src/more.tri", "fn a( { }\n\nfn b() -> { return 1 }\n\nfn c(x: Tensor<float32, [N]>) {\n    return x +\n}\n")
        said = self.expect("more.tri:1", "more.tri:3", "more.tri:6")
        self.assertEqual(said.count("error["), 3, said)

    def test_shape_mismatch_names_both_layers_and_shapes(self):
        self.edit("src/digits.tri", "nn.BitLinear(HIDDEN, 10)", "nn.BitLinear(96, 10)")
        self.expect("fc3", "128", "96")

    def test_misspelt_layer(self):
        self.edit("src/digits.tri", "fc1 = nn.BitLinear", "fc1 = nn.BitLiner")
        self.expect("BitLiner", "BitLinear", "src/digits.tri:9")

    def test_misspelt_parameter(self):
        self.edit("src/digits.tri", "param center", "param centre")
        self.edit("src/digits.tri", "x - center", "x - centre")
        self.expect("centre", "center")

    def test_misspelt_file(self):
        self.edit("tri.build", "weights/digits.safetensors", "weights/digit.safetensors")
        self.expect("digit.safetensors", "digits.safetensors", "tri.build:", code=3)

    def test_misspelt_import(self):
        self.edit("src/digits.tri", "import nn", "import nnn")
        self.expect("nnn")

    def test_unknown_manifest_key(self):
        self.edit("tri.build", "weights =", "wieghts =")
        self.expect("wieghts", "weights", "tri.build:")

    def test_import_cycle(self):
        self.write("src/a.tri", 'import "b.tri" as b\n')
        self.write("src/b.tri", 'import "a.tri" as a\n')
        self.expect("a.tri", "b.tri", "closes the cycle")

    def test_missing_weights(self):
        header, data = self.tensors()
        header["fc1.wieght"] = header.pop("fc1.weight")
        header["centre"] = header.pop("center")
        self.edit("src/digits.tri", "fn forward", "param gain: Tensor<float32, [10]>\n    fn forward")
        self.edit("src/digits.tri", "return fc3(g)", "return fc3(g) * gain")
        self.write(FILE, pack(header, data))
        self.expect("gain", "center")

    def test_wrong_dtype_and_shape(self):
        header, data = self.tensors()
        header["center"] = {**header["center"], "dtype": "I32"}
        self.write(FILE, pack(header, data))
        self.expect("center", "int32", "float32")
        header, data = self.tensors()
        header["center"] = {**header["center"], "dtype": "F32", "shape": [8, 8]}
        self.write(FILE, pack(header, data))
        self.expect("center", "[8, 8]", "[64]")

    def test_truncated_weights(self):
        raw = self.read(FILE)
        for n in (0, 4, 8, 20, len(raw) // 2, len(raw) - 1):
            self.write(FILE, raw[:n])
            self.expect("digits.safetensors")

    def test_corrupt_weights(self):
        header, data = self.tensors()
        first = next(iter(header))
        bad = [
            pack(b"not json"), pack(b"[]"), pack(b"{" * 1000), struct.pack("<Q", 1 << 62) + b"{}",
            pack({**header, first: {**header[first], "data_offsets": [8, 4]}}, data),
            pack({**header, first: {**header[first], "data_offsets": [-8, 8]}}, data),
            pack({**header, first: {**header[first], "shape": [1 << 40, 1 << 40]}}, data),
            pack({**header, first: {**header[first], "dtype": "F33"}}, data),
            pack({**header, first: 5}, data),
        ]
        for raw in bad:
            self.write(FILE, raw)
            self.expect("digits.safetensors")

    def test_unwritable_output_folder(self):
        self.edit("src/digits.tri", "16.0", "8.0")
        self.assertIn("/proc/nowhere", self.fails("build", "--out=/proc/nowhere", code=3))

    def test_output_path_is_a_file(self):
        self.write("taken", "x")
        self.edit("tri.build", "emit    = library header", "emit    = library header\n    out     = taken")
        self.expect("taken", code=3)

    def test_no_manifest(self):
        os.unlink(self.path("tri.build"))
        self.assertIn("tri.build", self.trib("build", ok=False).stderr)

    def test_usage(self):
        self.assertIn("build", self.fails("biuld", code=2))
        self.assertIn("--jobs", self.fails("build", "--job", "2", code=2))
        self.fails("build", "-j", "x", code=2)
        self.fails("build", "nosuchmodel", code=2)

    def test_json_diagnostics(self):
        self.edit("src/digits.tri", "nn.BitLinear(HIDDEN, 10)", "nn.BitLinear(96, 10)")
        done = self.trib("build", "--message-format=json", ok=False)
        self.assertEqual(done.returncode, 1)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(lines[-1]["type"], "build")
        self.assertFalse(lines[-1]["ok"])
        first = next(line for line in lines if line["type"] == "diagnostic")
        self.assertRegex(first["code"], r"^E\d{4}$")
        self.assertTrue(first["spans"][0]["file"].endswith(".tri"))


if __name__ == "__main__":
    unittest.main()
