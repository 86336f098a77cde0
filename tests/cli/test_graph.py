"""trib deps and trib graph: dependencies between definitions."""
import json
import os
import re
import shutil
import subprocess
import unittest

from project import ProjectTest

SOURCE = """import nn
const WIDE = 16

fn scale(x: Tensor<float32, [N, 16]>) {
    return x * 2.0
}

fn unused(x: Tensor<float32, [K]>) -> Tensor<float32, [K]> {
    return x
}

layer Net() {
    let fc = nn.Linear(8, WIDE)
    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 16]> {
        return scale(fc(x))
    }
}
"""


class Graph(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("src/net.tri", SOURCE)
        self.write("tri.build", "project p\n    version = 1.0\n\nmodel net\n    sources = src/*.tri\n    entry   = Net\n\n"
                                "model other\n    sources = src/*.tri\n    entry   = Net\n    opt     = 2\n")

    def graph(self, *args):
        return json.loads(self.trib("graph", "--format=json", *args).stdout)

    def test_definitions(self):
        g = self.graph()
        defs = {d["name"]: d for d in g["definitions"]}
        name = lambda ids: {g["definitions"][i]["name"] for i in ids}
        self.assertEqual(name(defs["Net"]["uses"]), {"WIDE", "scale", "Linear"})
        self.assertIn("Net", name(defs["scale"]["used_by"]))
        self.assertEqual(name(defs["unused"]["used_by"]), set())
        self.assertEqual([d["name"] for d in g["definitions"]].count("Net"), 1)  # two models share it
        self.assertEqual(defs["scale"]["type"], "float32[N, 16]")  # inferred
        self.assertIn({"kind": "argument", "name": "forward.x", "type": "float32[N, 8]"}, defs["Net"]["types"])
        self.assertTrue(defs["Linear"]["std"])
        self.assertEqual((defs["scale"]["file"], defs["scale"]["line"]), ("src/net.tri", 4))

    def test_units(self):
        before = self.graph("net")
        self.assertEqual([m["name"] for m in before["models"]], ["net"])
        self.assertTrue(all(not u["built"] and u["key"] is None for u in before["units"]))
        self.trib("build")
        g = self.graph()
        for i, u in enumerate(g["units"]):
            self.assertEqual(u["id"], i)
            for c in u["uses"]:
                self.assertIn(i, g["units"][c]["used_by"])
                self.assertEqual(g["units"][c]["model"], u["model"])
        scale = next(u for u in g["units"] if u["definition"] == "scale" and u["model"] == "net")
        self.assertEqual(scale["signature"], "(x: float32[N, 16]) -> (out: float32[N, 16])")
        self.assertTrue(scale["built"] and scale["current"])
        self.assertRegex(scale["key"], "^[0-9a-f]{32}$")
        self.assertGreater(scale["compile_ms"], 0)
        self.edit("src/net.tri", "x * 2.0", "x * 3.0")
        changed = {u["definition"]: u for u in self.graph("net")["units"]}
        self.assertFalse(changed["scale"]["current"])
        self.assertTrue(changed["Net"]["current"])

    def test_deps(self):
        self.trib("build")
        text = self.trib("deps", "scale").stdout
        for want in ("scale  src/net.tri:4", "-> float32[N, 16]", "x: float32[N, 16]", "used by  Net (src/net.tri:12)", "compiled in"):
            self.assertIn(want, text)
        self.assertIn("src/net.tri:12 Net -> WIDE, scale, Linear", self.trib("deps", "src/net.tri").stdout)
        self.assertIn("files src/net.tri", self.trib("deps", "net").stdout)
        self.assertNotIn("std/", self.trib("deps").stdout)
        reported = json.loads(self.trib("deps", "scale", "--format=json").stdout)
        self.assertEqual([d["name"] for d in reported["definitions"]], ["scale"])
        self.assertEqual({u["model"] for u in reported["units"]}, {"net", "other"})
        self.assertIn("did you mean `scale`", self.fails("deps", "scal", code=2))
        self.fails("deps", "a", "b", code=2)

    def test_dot(self):
        text = self.trib("graph", "net").stdout
        self.assertTrue(text.startswith("digraph trib {") and text.rstrip().endswith("}"))
        self.assertRegex(text, r"u\d+ -> u\d+")
        if shutil.which("dot"):
            subprocess.run(["dot", "-Tsvg"], input=text, text=True, check=True, capture_output=True)
        self.assertIn("did you mean `dot`", self.fails("graph", "--format=dto", code=2))

    def test_data_flow(self):
        self.write("src/net.tri", SOURCE.replace("return scale(fc(x))", "let y = relu(fc(x))\n        return scale(y) + y"))
        g = self.graph("net")
        entry = g["units"][g["models"][0]["entries"][0]["unit"]]
        steps = entry["steps"]
        label = lambda i: (steps[i]["kind"], steps[i]["name"].split()[0].split("(")[0])
        flow = {(label(v["from"]), label(v["to"]), v["type"]) for v in entry["values"]}
        x, wide, narrow = ("input", "x"), "float32[N, 16]", "float32[N, 8]"
        call, scale, relu, add = ("call", "Linear"), ("call", "scale"), ("operation", "relu"), ("operation", "add")
        self.assertEqual(flow, {(x, call, narrow), (("parameter", "fc.weight"), call, "float32[16, 8]"), (("parameter", "fc.bias"), call, "float32[16]"),
                                (call, relu, wide), (relu, scale, wide), (scale, add, wide), (relu, add, wide), (add, ("output", "out"), wide)})
        fc = next(s for s in steps if s["kind"] == "call" and s["name"].startswith("Linear"))
        self.assertEqual((fc["layer"], fc["line"], g["units"][fc["unit"]]["definition"]), ("fc", 15, "Linear"))

    def test_page(self):
        self.write("src/odd.tri", "fn closing(x: Tensor<float32, [N]>, s=\"</script><b>\") -> Tensor<float32, [N]> {\n    return x\n}\n")
        self.trib("build")
        page = self.trib("graph", "--format=html").stdout
        self.assertNotRegex(page, r"""<(script|img|link|iframe)[^>]*(src|href)="(?!data:)""")  # nothing from elsewhere
        data = re.search(r"""<script type="application/json" id="data">(.*?)</script>""", page, re.S).group(1)
        self.assertEqual(json.loads(data)["graph"], self.graph())
        self.assertIn("page.html", self.trib("graph", "-o", "page.html").stdout)
        self.assertEqual(self.read("page.html").decode(), page)
        self.trib("graph", "--format=json", "-o", "graph.json")
        self.assertEqual(json.loads(self.read("graph.json")), self.graph())
        self.trib("graph", "-o", "net.dot", "net")
        self.assertTrue(self.read("net.dot").startswith(b"digraph"))
        self.assertIn("cannot write", self.fails("graph", "-o", "nowhere/x.dot", code=3))

    def test_open(self):
        self.write("browser", "#!/bin/sh\necho \"$1\" > asked\n")
        os.chmod(self.path("browser"), 0o755)
        self.env["BROWSER"] = "absent-program:./browser"
        self.trib("graph", "--open")
        self.assertEqual(self.read("asked").decode().strip(), "graph.html")
        self.assertIn(b"<!DOCTYPE html>", self.read("graph.html"))
        self.env["BROWSER"] = "absent-program:/bin/false"
        self.assertIn("open other.html yourself", self.fails("graph", "--open", "-o", "other.html", code=3))
        self.fails("graph", "--open", "--format=json", code=2)

    def test_precompiled_library(self):
        reported = json.loads(self.trib("pch", "create", "--stdlib", "--format=json").stdout)
        self.assertTrue(reported["verified"])
        self.assertIn("nn", [m["name"] for m in reported["modules"]])
        self.assertEqual([m["name"] for m in reported["models"]], ["net", "other"])
        self.assertGreater(reported["models"][0]["saved_percent"], 15)
        self.assertIn("nothing to create", self.trib("pch", "create", "--stdlib").stdout.replace("\n", " "))
        self.fails("pch", "create", code=2)

    def test_a_project_with_errors(self):
        self.write("src/net.tri", SOURCE.replace("scale(fc(x))", "scale(fc(x)"))
        self.assertIn("E0", self.fails("graph"))


if __name__ == "__main__":
    unittest.main()
