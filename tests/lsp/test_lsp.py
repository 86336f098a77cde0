#!/usr/bin/env python3
"""Sessions with `trib lsp`, each with exact answers."""
import json
import os
import random
import stat
import unittest

from client import FULL, Client, Failure
from project import ProjectTest

MAIN = """\
import nn
import blocks
from blocks import twice as double

# How wide it is.
const WIDTH = 64

layer Net() {
    let fc = nn.Linear(WIDTH, 10, bias=false)
    let block = blocks.Block(10)
    fn forward(x: Tensor<float32, [B, 64]>) {
        let y = relu(fc(x))
        return double(block(y))
    }
}
"""
BLOCKS = """\
# Scales its input.
layer Block(channels: int) {
    param gain: Tensor<float32, [channels]> = ones([channels])
    fn forward(x: Tensor<float32, [N, channels]>) { return x * gain }
}

fn twice(x: Tensor<float32, [M, K]>) { return x + x }
"""
MANIFEST = """\
project p
    version = 1.0

model net
    sources = src/*.tri
    entry   = Net
"""


def pos(text, needle, nth=0, units="utf-16"):
    """The protocol's position of the n-th occurrence (from 0); `|` in the needle is the cursor."""
    offset = needle.find("|") if "|" in needle else 0
    plain = needle.replace("|", "")
    at = -1
    for _ in range(nth + 1):
        at = text.index(plain, at + 1)
    at += offset
    line = text.count("\n", 0, at)
    before = text[text.rfind("\n", 0, at) + 1 : at]
    width = len(before.encode("utf-16-le")) // 2 if units == "utf-16" else len(before.encode())
    return {"line": line, "character": width}


def span(text, needle, nth=0, units="utf-16"):
    first = pos(text, needle, nth, units)
    return {"start": first, "end": pos(text, needle + "|", nth, units)}


class LspTest(ProjectTest):
    def setUp(self):
        super().setUp()
        self.client = Client(self.dir, self.env)
        self.addCleanup(self.client.kill)

    def uri(self, name):
        return "file://" + self.path(name)

    def open(self, name, text):
        self.client.open(self.uri(name), text)
        return self.uri(name)

    def hover(self, uri, position):
        result = self.client.at("hover", uri, position)
        return result and result["contents"]["value"]

    def refused(self, code, method, params=None):
        with self.assertRaises(Failure) as caught:
            self.client.ask(method, params)
        self.assertEqual(caught.exception.code, code)
        return str(caught.exception)

    def project(self):
        """A project with two files, only main.tri open."""
        self.write("tri.build", MANIFEST)
        self.write("src/main.tri", MAIN)
        self.write("src/blocks.tri", BLOCKS)
        self.client.start()
        return self.open("src/main.tri", MAIN)


class Lifecycle(LspTest):
    def test_capabilities(self):
        result = self.client.start()
        offered = result["capabilities"]
        self.assertEqual(offered["positionEncoding"], "utf-16")
        self.assertEqual(offered["textDocumentSync"], {"openClose": True, "change": 2, "save": True})
        self.assertEqual(offered["codeActionProvider"], {"codeActionKinds": ["quickfix", "source.fixAll"]})
        self.assertTrue(offered["renameProvider"]["prepareProvider"])
        self.assertEqual(result["serverInfo"]["name"], "trib")
        self.assertEqual(self.client.stop(), 0)

    def test_order_of_requests(self):
        self.refused(-32002, "textDocument/hover")
        self.client.tell("textDocument/didOpen", {})
        self.client.start()
        self.refused(-32600, "initialize")
        self.refused(-32601, "textDocument/implementation")
        self.refused(-32602, "textDocument/hover", {"textDocument": {"uri": "file:///nowhere.tri"}, "position": {"line": 0, "character": 0}})
        self.client.tell("$/unknown")
        self.client.ask("shutdown")
        self.refused(-32600, "textDocument/hover")
        self.client.tell("exit")
        self.client.process.stdin.close()
        self.assertEqual(self.client.process.wait(30), 0)

    def test_exit_codes(self):
        self.client.start()
        self.client.tell("exit")
        self.assertEqual(self.client.process.wait(30), 1)
        other = Client(self.dir, self.env)
        self.addCleanup(other.kill)
        other.start()
        other.process.stdin.close()
        self.assertEqual(other.process.wait(30), 1)

    def test_shutdown_and_the_end_of_the_input(self):
        self.client.start()
        self.client.ask("shutdown")
        self.client.process.stdin.close()
        self.assertEqual(self.client.process.wait(30), 0)

    def test_wrong_messages_get_errors(self):
        self.client.start()
        for bad in (b"Content-Length: 5\r\n\r\n{\"a\":", b"Content-Length: x\r\n\r\n", b"Content-Length: 3\r\n\r\n\xff\xfe\xfd", b"\r\n\r\n",
                    b"Content-Type: x\r\n\r\n", b"Content-Length: 7\r\n\r\n\"\\u0000"):
            self.client.raw(bad)
            message = self.client.read()
            self.assertEqual((message["id"], message["error"]["code"]), (None, -32700), bad)
        self.client.send({"id": 7})
        self.assertEqual(self.client.read()["error"]["code"], -32600)
        self.client.raw(b"Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n[]")
        self.assertEqual(self.client.read()["error"]["code"], -32600)
        self.client.raw(b"Content-Length: 999999999999\r\n\r\n")
        self.assertEqual(self.client.read()["error"]["code"], -32700)
        self.client.process.stdin.close()
        self.assertEqual(self.client.process.wait(30), 1)

    def test_a_cancelled_request_is_not_run(self):
        self.client.start()
        uri = self.open("a.tri", "const A = 1\n")
        where = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 6}}
        self.client.send(
            {"id": 50, "method": "textDocument/hover", "params": where},
            {"id": 51, "method": "textDocument/hover", "params": where},
            {"method": "$/cancelRequest", "params": {"id": 50}},
        )
        with self.assertRaises(Failure) as caught:
            self.client.answer(50)
        self.assertEqual(caught.exception.code, -32800)
        self.assertIn("const A: int = 1", self.client.answer(51)["contents"]["value"])


class Diagnostics(LspTest):
    def test_diagnostics_follow_edits(self):
        self.client.start()
        uri = self.open("a.tri", "fn f(x: Tensor<float32, [N, 4]>) {\n    return rellu(x)\n}\n")
        self.client.sync()
        (d,) = self.client.diagnostics[uri]
        self.assertEqual((d["code"], d["severity"], d["source"]), ("E0201", 1, "trib"))
        self.assertEqual(d["range"], {"start": {"line": 1, "character": 11}, "end": {"line": 1, "character": 16}})
        self.assertIn("did you mean `relu`?", d["message"])
        self.client.change(uri, 2, {"range": {"start": {"line": 1, "character": 13}, "end": {"line": 1, "character": 14}}, "text": ""})
        self.client.sync()
        self.assertEqual(self.client.diagnostics[uri], [])
        self.assertEqual(self.client.published[-1], (uri, 2))

    def test_related_places(self):
        self.client.start()
        text = "const A = 1\nconst A = 2\n"
        uri = self.open("a.tri", text)
        self.client.sync()
        (d,) = self.client.diagnostics[uri]
        self.assertEqual(d["relatedInformation"], [{"location": {"uri": uri, "range": span(text, "A")}, "message": "first defined here"}])

    def test_unnecessary_code_is_tagged(self):
        self.client.start()
        text = "fn f(x: Tensor<float32, [N]>) {\n    let unused = relu(x)\n    return x\n    return relu(x)\n}\n"
        uri = self.open("a.tri", text)
        self.client.sync()
        self.assertEqual([(d["severity"], d["range"]["start"]["line"], d["tags"]) for d in self.client.diagnostics[uri]], [(2, 1, [1]), (2, 3, [1])])

    def test_queued_changes_are_checked_once(self):
        self.client.start()
        uri = self.open("a.tri", "")
        self.client.sync()
        before = len(self.client.published)
        self.client.send(*[
            {"method": "textDocument/didChange", "params": {"textDocument": {"uri": uri, "version": v}, "contentChanges": [{"text": f"const A{v} = {v}\n"}]}}
            for v in range(2, 200)
        ])
        self.client.sync()
        self.assertEqual(self.client.published[-1], (uri, 199))
        self.assertLess(len(self.client.published) - before, 20)

    def test_errors_of_an_import_are_shown_in_its_file(self):
        self.write("lib.tri", "fn f( {\n")
        self.client.start()
        self.open("a.tri", "import lib\n")
        self.client.sync()
        self.assertTrue(self.client.diagnostics[self.uri("lib.tri")])
        self.write("lib.tri", "fn f() { }\n")
        self.client.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": self.uri("lib.tri"), "type": 2}]})
        self.client.sync()
        self.assertEqual(self.client.diagnostics[self.uri("lib.tri")], [])

    def test_open_documents_hide_the_disk(self):
        self.write("lib.tri", "fn on_disk() { }\n")
        self.client.start()
        a = self.open("a.tri", "from lib import unsaved\nmain { unsaved() }\n")
        self.client.sync()
        self.assertEqual([d["code"] for d in self.client.diagnostics[a]], ["E0206"])
        lib = self.open("lib.tri", "fn unsaved() { }\n")
        self.client.sync()
        self.assertEqual(self.client.diagnostics[a], [])
        self.client.tell("textDocument/didClose", {"textDocument": {"uri": lib}})
        self.client.sync()
        self.assertEqual([d["code"] for d in self.client.diagnostics[a]], ["E0206"])
        self.client.tell("textDocument/didClose", {"textDocument": {"uri": a}})
        self.client.sync()
        self.assertEqual(self.client.diagnostics[a], [])

    def test_documents_without_a_file(self):
        self.client.start()
        self.client.open("untitled:Untitled-1", "fn f() { return oops }\n")
        self.client.open("untitled:Untitled-2", "fn f() { }\n")
        self.client.sync()
        self.assertEqual([d["code"] for d in self.client.diagnostics["untitled:Untitled-1"]], ["E0201"])
        self.assertEqual(self.client.diagnostics["untitled:Untitled-2"], [])
        self.assertEqual(self.client.at("definition", "untitled:Untitled-2", {"line": 0, "character": 3})["uri"], "untitled:Untitled-2")

    def test_projects_and_their_manifest(self):
        self.write("src/blocks.tri", BLOCKS.replace("x + x", "x + oops"))
        self.write("src/main.tri", MAIN)
        self.write("tri.build", MANIFEST)
        self.client.start()
        self.open("src/main.tri", MAIN)
        self.client.sync()
        self.assertEqual([d["code"] for d in self.client.diagnostics[self.uri("src/blocks.tri")]], ["E0201"])
        manifest = self.open("tri.build", MANIFEST.replace("sources", "source"))
        self.client.sync()
        self.assertIn("E07", self.client.diagnostics[manifest][0]["code"])
        self.client.change(manifest, 2, {"text": MANIFEST})
        self.client.sync()
        self.assertEqual(self.client.diagnostics[manifest], [])

    def test_errors_of_elaboration(self):
        text = MAIN.replace("x: Tensor<float32, [B, 64]>", "x: Tensor<float32, S>")
        self.write("src/blocks.tri", BLOCKS)
        self.write("tri.build", MANIFEST + "    input x = float32 [?, 64]\n")
        self.client.start()
        uri = self.open("src/main.tri", text)
        self.client.sync()
        self.assertEqual(self.client.diagnostics[uri], [])
        self.client.change(uri, 2, {"text": text.replace("blocks.Block(10)", "blocks.Block(11)")})
        self.client.sync()
        self.assertEqual(self.client.diagnostics[uri], [])
        self.client.rest(uri)
        self.assertIn("E04", self.client.diagnostics[uri][0]["code"])
        self.client.change(uri, 3, {"text": text.replace("Net", "Other")})
        self.client.sync()
        self.client.rest(self.uri("tri.build"))
        self.assertEqual([d["code"] for d in self.client.diagnostics[self.uri("tri.build")]], ["E0507"])

    def test_quick_fixes(self):
        self.client.start()
        text = "fn f(x: Tensor<float32, [N]>) { return rellu(x) + sigmoyd(x) }\n"
        uri = self.open("a.tri", text)
        everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}

        def actions(where, only=None):
            context = {"diagnostics": [], **({"only": only} if only else {})}
            return self.client.ask("textDocument/codeAction", {"textDocument": {"uri": uri}, "range": where, "context": context})

        first, all_of_them = actions(span(text, "rellu"))
        self.assertEqual((first["title"], first["kind"], first["isPreferred"]), ("replace `rellu` with `relu`", "quickfix", True))
        self.assertEqual(first["edit"]["changes"][uri], [{"range": span(text, "rellu"), "newText": "relu"}])
        self.assertEqual(first["diagnostics"][0]["code"], "E0201")
        self.assertEqual(len(actions(everywhere, ["quickfix"])), 2)
        (only_all,) = actions(everywhere, ["source.fixAll"])
        self.assertEqual(only_all, all_of_them)
        self.assertEqual([e["newText"] for e in only_all["edit"]["changes"][uri]], ["relu", "sigmoid"])


class Positions(LspTest):
    def test_utf16_with_wide_characters(self):
        text = 'const A = "日本🎉"; const B = A\r\nconst C = B\r\n'
        self.client.start()
        uri = self.open("a.tri", text)
        self.assertEqual(self.client.at("definition", uri, pos(text, "B\r\n")), {"uri": uri, "range": span(text, "B = A")} | {
            "range": {"start": pos(text, "B = A"), "end": pos(text, "B| = A")}})
        self.assertEqual(pos(text, "B = A")["character"], 24)
        self.client.change(uri, 2, {"range": span(text, "🎉"), "text": "é"})
        text = text.replace("🎉", "é")
        self.assertEqual(self.client.at("definition", uri, pos(text, "B\r\n"))["range"]["start"], pos(text, "B = A"))
        # inside a surrogate pair and beyond every end: moved back, not refused
        self.client.change(uri, 3, {"text": 'const A = "🎉"\n'}, {"range": {"start": {"line": 0, "character": 12}, "end": {"line": 0, "character": 13}}, "text": ""})
        self.client.change(uri, 4, {"range": {"start": {"line": 0, "character": 999}, "end": {"line": 77, "character": 5}}, "text": "\nconst Z = A\n"})
        names = [s["name"] for s in self.client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})]
        self.assertEqual(names, ["A", "Z"])

    def test_many_edits(self):
        """After random edits, the text of the client and of the server have their definitions at the same positions."""
        self.client.start()
        rng = random.Random(5)
        wide = "aé日🎉ß𝄞x"
        lines = [f'const A{i} = "{i}"' for i in range(20)]
        uri = self.open("a.tri", "\n".join(lines))
        for version in range(2, 40):
            edits = []
            for _ in range(rng.randrange(1, 6)):
                at, word = rng.randrange(len(lines)), "".join(rng.choice(wide) for _ in range(rng.randrange(6)))
                units = len(lines[at].encode("utf-16-le")) // 2
                if rng.random() < 0.6:  # in front of the closing quote
                    edits.append({"range": {"start": {"line": at, "character": units - 1}, "end": {"line": at, "character": units - 1}}, "text": word})
                    lines[at] = lines[at][:-1] + word + '"'
                else:  # from inside a line's string to behind that of a later line
                    last = min(at + rng.randrange(3), len(lines) - 1)
                    start = len(lines[at][: lines[at].index('"') + 1].encode("utf-16-le")) // 2
                    end = len(lines[last].encode("utf-16-le")) // 2
                    name = f"N{version}_{len(edits)}"
                    edits.append({"range": {"start": {"line": at, "character": start}, "end": {"line": last, "character": end}}, "text": word + f'"\nconst {name} = "' + word + '"'})
                    lines[at : last + 1] = [lines[at][: lines[at].index('"') + 1] + word + '"', f'const {name} = "{word}"']
            self.client.change(uri, version, *edits)
        got = self.client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        want = [(line.split()[1], i, len(line.encode("utf-16-le")) // 2) for i, line in enumerate(lines)]
        self.assertEqual([(s["name"], s["selectionRange"]["start"]["line"], s["range"]["end"]["character"]) for s in got], want)

    def test_utf8_if_negotiated(self):
        text = 'const A = "日本🎉"; const B = A\n'
        self.client.start({**FULL, "general": {"positionEncodings": ["utf-8", "utf-16"]}})
        uri = self.open("a.tri", text)
        where = self.client.at("definition", uri, pos(text, "A\n", units="utf-8"))
        self.assertEqual(where["range"], span(text, "A", units="utf-8"))
        self.assertEqual(self.client.at("hover", uri, pos(text, "B", units="utf-8"))["range"], span(text, "B", units="utf-8"))


class Navigation(LspTest):
    def test_hover(self):
        uri = self.project()
        code = "```tri\n%s\n```"
        self.assertEqual(self.hover(uri, pos(MAIN, "y = relu")), code % "let y: float32[B, 10]")
        self.assertEqual(self.hover(uri, pos(MAIN, "x))")), code % "x: Tensor<float32, [B, 64]>")
        self.assertEqual(self.hover(uri, pos(MAIN, "WIDTH,")), code % "const WIDTH: int = 64" + "\n\nHow wide it is.")
        self.assertEqual(self.hover(uri, pos(MAIN, "forward")), code % "fn forward(x: Tensor<float32, [B, 64]>) -> float32[B, 10]")
        self.assertEqual(self.hover(uri, pos(MAIN, "relu")), code % "relu(x)" + "\n\nmax(x, 0).")
        self.assertEqual(self.hover(uri, pos(MAIN, "fc(x)")), code % "let fc: Linear(64, 10, bias=false)")
        self.assertEqual(self.hover(uri, pos(MAIN, "B, 64")), code % "dimension B")
        self.assertEqual(self.hover(uri, pos(MAIN, "float32")), code % "type float32" + "\n\nIEEE single precision; a call converts.")
        self.assertEqual(self.hover(uri, pos(MAIN, "Block(10)")), code % (
            "layer Block(channels: int)\n    param gain: float32[channels]\n    fn forward(x: Tensor<float32, [N, channels]>) -> float32[N, channels]"
        ) + "\n\nScales its input.")
        self.assertEqual(self.hover(uri, pos(MAIN, "blocks")), code % "module blocks" + "\n\nScales its input.")
        self.assertIsNone(self.hover(uri, pos(MAIN, "= 64")))

    def test_hover_after_loops_of_unknown_length(self):
        self.client.start()
        text = (
            "import nn\nlayer L(depth: int) {\n    let blocks = [nn.Linear(4, 4) for i in 0..depth]\n"
            "    fn forward(x: Tensor<float32, [N, 4, 8]>) {\n        let y = x\n        let steps = []\n"
            "        for block in blocks { y = y[:, :, 0:y.shape[2] // 2]; steps.append(y) }\n"
            "        let (last, first) = (steps[-1], blocks[0])\n        return y\n    }\n}\n"
        )
        uri = self.open("a.tri", text)
        code = "```tri\n%s\n```"
        self.assertEqual(self.hover(uri, pos(text, "blocks")), code % "let blocks: [Linear(4, 4); ?]")
        self.assertEqual(self.hover(uri, pos(text, "block in")), code % "let block: Linear(4, 4)")
        self.assertEqual(self.hover(uri, pos(text, "last")), code % "let last: float32[N, 4, ?]")
        self.assertEqual(self.hover(uri, pos(text, "first")), code % "let first: Linear(4, 4)")
        self.assertEqual(self.hover(uri, pos(text, "forward")), code % "fn forward(x: Tensor<float32, [N, 4, 8]>) -> float32[N, 4, ?]")

    def test_hover_in_loops(self):
        self.client.start()
        text = "import nn\nlayer L() {\n    let a = [nn.Linear(4, n) for n in [8, 9]]\n    let b = [nn.Linear(4, 4), nn.ReLU()]\n    fn forward(x: Tensor<float32, [N, 4]>) {\n        for c in b { x = c(x) }\n        return x\n    }\n}\n"
        uri = self.open("a.tri", text)
        self.assertEqual(self.hover(uri, pos(text, "n in")), "```tri\nlet n: int\n```")
        self.assertEqual(self.hover(uri, pos(text, "c in")), "```tri\nlet c: Linear(4, 4) | ReLU()\n```")
        self.assertEqual(self.hover(uri, pos(text, "a =")), "```tri\nlet a: [Linear(4, 8), Linear(4, 9)]\n```")

    def test_hover_over_the_standard_library(self):
        self.client.start()
        uri = self.open("a.tri", "import nn\nfn f() { let a = nn.Linear(4, 2) }\n")
        lines = self.hover(uri, {"line": 1, "character": 21}).splitlines()
        self.assertEqual(lines[1], "layer Linear(in_features: int, out_features: int, bias: bool = true)")
        self.assertEqual(lines[2], "    param weight: Tensor<float32, [out_features, in_features]>")

    def test_hover_in_plain_text(self):
        caps = json.loads(json.dumps(FULL))
        caps["textDocument"]["hover"]["contentFormat"] = ["plaintext"]
        self.client.start(caps)
        uri = self.open("a.tri", "const A = 1\n")
        self.assertEqual(self.client.at("hover", uri, {"line": 0, "character": 6})["contents"], {"kind": "plaintext", "value": "const A: int = 1"})

    def test_definitions(self):
        uri = self.project()
        blocks = self.uri("src/blocks.tri")
        for needle, where, text, target in (
            ("y))", uri, MAIN, "y ="),
            ("x))", uri, MAIN, "x:"),
            ("fc(x", uri, MAIN, "fc ="),
            ("Block(10", blocks, BLOCKS, "Block("),
            ("double(", blocks, BLOCKS, "twice("),
            ("twice as", blocks, BLOCKS, "twice("),
            ("WIDTH,", uri, MAIN, "WIDTH ="),
        ):
            got = self.client.at("definition", uri, pos(MAIN, needle))
            self.assertEqual((got["uri"], got["range"]["start"]), (where, pos(text, target)), needle)
        self.assertEqual(self.client.at("definition", uri, pos(MAIN, "blocks.Block"))["uri"], blocks)
        self.assertIsNone(self.client.at("definition", uri, pos(MAIN, "relu")))

    def test_definitions_in_the_standard_library(self):
        uri = self.project()
        got = self.client.at("definition", uri, pos(MAIN, "Linear"))
        path = got["uri"].removeprefix("file://")
        self.assertTrue(path.startswith(self.env["XDG_CACHE_HOME"]))
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode) & 0o222, 0)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.assertEqual(text.splitlines()[got["range"]["start"]["line"]].split("(")[0], "layer Linear")
        self.client.open(got["uri"], text)
        self.assertIn("layer Bias(features: int)", self.hover(got["uri"], pos(text, "Bias(out_features)")))
        self.client.sync()
        self.assertNotIn(got["uri"], [u for u, d in self.client.diagnostics.items() if d])
        self.assertEqual(self.client.at("definition", got["uri"], pos(text, "Bias(out_features)"))["uri"], got["uri"])

    def test_references_and_highlights(self):
        uri = self.project()
        blocks = self.uri("src/blocks.tri")
        found = self.client.at("references", uri, pos(MAIN, "twice"), context={"includeDeclaration": True})
        self.assertEqual(found, [{"uri": blocks, "range": span(BLOCKS, "twice")}, {"uri": uri, "range": span(MAIN, "twice")}])
        found = self.client.at("references", uri, pos(MAIN, "WIDTH"), context={"includeDeclaration": False})
        self.assertEqual(found, [{"uri": uri, "range": span(MAIN, "WIDTH", 1)}])
        marks = self.client.at("documentHighlight", uri, pos(MAIN, "y))"))
        self.assertEqual(marks, [{"range": {"start": pos(MAIN, "y ="), "end": pos(MAIN, "y| =")}, "kind": 3},
                                 {"range": {"start": pos(MAIN, "y))"), "end": pos(MAIN, "y|))")}, "kind": 2}])

    def test_outlines(self):
        uri = self.project()
        top = self.client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        self.assertEqual([(s["name"], s["kind"]) for s in top], [("nn", 2), ("blocks", 2), ("WIDTH", 14), ("Net", 5)])
        self.assertEqual([(s["name"], s["kind"]) for s in top[3]["children"]], [("fc", 7), ("block", 7), ("forward", 6)])
        self.assertEqual(top[3]["selectionRange"], span(MAIN, "Net"))
        self.assertEqual(top[3]["range"]["end"], {"line": 14, "character": 1})
        found = self.client.ask("workspace/symbol", {"query": "blk"})
        self.assertEqual({(s["name"], s["location"]["uri"], s.get("containerName")) for s in found},
                         {("block", uri, "Net"), ("Block", self.uri("src/blocks.tri"), None)})

    def test_inlay_hints(self):
        uri = self.project()
        hints = self.client.ask("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": {
            "start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}})
        self.assertEqual({(h["position"]["line"], h["position"]["character"], h["label"]) for h in hints}, {
            (5, 11, ": int"), (8, 10, ": Linear(64, 10, bias=false)"), (9, 13, ": Block(10)"), (10, 43, "-> float32[B, 10]"), (11, 13, ": float32[B, 10]")})
        hints = self.client.ask("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": {
            "start": {"line": 11, "character": 0}, "end": {"line": 11, "character": 90}}})
        self.assertEqual([h["label"] for h in hints], [": float32[B, 10]"])

    def test_folding(self):
        self.client.start()
        uri = self.open("a.tri", "# one\n# two\nimport nn\nfrom nn import Linear\n\nfn f(\n    a: int,\n) {\n    return [\n        a,\n    ]\n}\n")
        folds = self.client.ask("textDocument/foldingRange", {"textDocument": {"uri": uri}})
        self.assertEqual(sorted((f["startLine"], f["endLine"], f.get("kind")) for f in folds),
                         [(0, 1, "comment"), (2, 3, "imports"), (5, 6, None), (7, 10, None), (8, 9, None)])

    def test_semantic_tokens(self):
        legend = self.client.start()["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"]
        uri = self.open("a.tri", 'const A = "🎉"; const B = A\nfn f(x: int) { return f(B) }\n')
        data = self.client.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}})["data"]
        line = column = 0
        got = []
        for i in range(0, len(data), 5):
            line, column = line + data[i], data[i + 1] + (0 if data[i] else column)
            got.append((line, column, data[i + 2], legend[data[i + 3]], data[i + 4]))
        self.assertEqual(got, [(0, 6, 1, "variable", 1), (0, 22, 1, "variable", 1), (0, 26, 1, "variable", 0), (1, 3, 1, "function", 1),
                               (1, 5, 1, "parameter", 1), (1, 8, 3, "type", 2), (1, 22, 1, "function", 0), (1, 24, 1, "variable", 0)])


class Renaming(LspTest):
    def rename(self, uri, position, name):
        return self.client.at("rename", uri, position, newName=name)["changes"]

    def apply(self, text, edits):
        lines = text.splitlines(keepends=True)
        for e in sorted(edits, key=lambda e: (e["range"]["start"]["line"], e["range"]["start"]["character"]), reverse=True):
            start, end = e["range"]["start"], e["range"]["end"]
            self.assertEqual(start["line"], end["line"])
            line = lines[start["line"]]
            lines[start["line"]] = line[: start["character"]] + e["newText"] + line[end["character"] :]
        return "".join(lines)

    def test_rename_in_all_files(self):
        uri = self.project()
        blocks = self.uri("src/blocks.tri")
        changes = self.rename(uri, pos(MAIN, "Block(10"), "Scaled")
        self.assertEqual(self.apply(MAIN, changes[uri]), MAIN.replace("Block(", "Scaled("))
        self.assertEqual(self.apply(BLOCKS, changes[blocks]), BLOCKS.replace("Block(", "Scaled("))
        changes = self.rename(uri, pos(MAIN, "twice"), "doubled")
        self.assertEqual(self.apply(MAIN, changes[uri]), MAIN.replace("twice", "doubled"))
        changes = self.rename(uri, pos(MAIN, "double(block"), "dbl")
        self.assertEqual(self.apply(MAIN, changes[uri]), MAIN.replace("double", "dbl"))
        self.assertEqual(list(changes), [uri])

    def test_capacities(self):
        manifest = "project p\n    version = 1.0\n\nmodel net\n    sources = src/*.tri\n    entry   = Cache\n    state.T = 64\n"
        cache = (
            "layer Cache() {\n    state k: Tensor<float32, [2, cap T]>\n    state v: Tensor<float32, [cap T, 2]>\n"
            "    fn forward(x: Tensor<float32, [2, N]>) {\n        k.append(x, dim=1)\n        v.append(x.transpose(0, 1), dim=0)\n        return k @ v\n    }\n}\n"
        )
        self.write("tri.build", manifest)
        self.write("src/cache.tri", cache)
        self.client.start()
        uri = self.open("src/cache.tri", cache)
        self.assertEqual(self.hover(uri, pos(cache, "T]>")), "```tri\ncapacity T\n```")
        changes = self.rename(uri, pos(cache, "T, 2"), "Length")
        self.assertEqual(self.apply(cache, changes[uri]), cache.replace("cap T", "cap Length"))
        self.assertEqual(self.apply(manifest, changes[self.uri("tri.build")]), manifest.replace("state.T", "state.Length"))

    def test_arguments_members_and_dimensions(self):
        self.client.start()
        text = ("layer B(size: int) {\n    param gain: Tensor<float32, [size]>\n    fn forward(x: Tensor<float32, [N, size]>) -> Tensor<float32, [N, size]> { return x * gain }\n}\n"
                "layer C() {\n    let b = B(size=4)\n    fn forward(x: Tensor<float32, [N, 4]>) { return b(x) + b.gain }\n}\n")
        uri = self.open("a.tri", text)
        self.assertEqual(self.apply(text, self.rename(uri, pos(text, "size]>"), "width")[uri]), text.replace("size", "width"))
        self.assertEqual(self.apply(text, self.rename(uri, pos(text, "b.|gain"), "factor")[uri]), text.replace("gain", "factor"))
        first = text.index("layer C")
        self.assertEqual(self.apply(text, self.rename(uri, pos(text, "N, size"), "Rows")[uri]), text[:first].replace("[N,", "[Rows,") + text[first:])

    def test_refused_renames(self):
        uri = self.project()

        def refused(position, name, code=-32602):
            return self.refused(code, "textDocument/rename", {"textDocument": {"uri": uri}, "position": position, "newName": name})

        here = pos(MAIN, "y =")
        for name in ("", "1x", "a b", "fn", "a.b", "日本", "relu", "Tensor", "x", "WIDTH", "fc"):
            refused(here, name)
        self.assertIn("src/main.tri, line 6", refused(pos(MAIN, "Net"), "WIDTH"))
        for needle in ("relu", "Linear", "float32", "forward", "nn", "= 64"):
            refused(pos(MAIN, needle), "other", -32803)
        where = {"textDocument": {"uri": uri}, "position": pos(MAIN, "relu")}
        self.assertIn("belongs to the language", self.refused(-32803, "textDocument/prepareRename", where))
        self.assertEqual(self.client.at("prepareRename", uri, here), {"range": {"start": here, "end": pos(MAIN, "y| =")}, "placeholder": "y"})

    def test_versioned_edits(self):
        self.write("src/blocks.tri", BLOCKS)
        self.write("tri.build", MANIFEST)
        self.client.start({**FULL, "workspace": {"workspaceEdit": {"documentChanges": True}}})
        uri = self.open("src/main.tri", MAIN)
        changes = self.client.at("rename", uri, pos(MAIN, "Block(10"), newName="Scaled")["documentChanges"]
        self.assertEqual({c["textDocument"]["uri"]: c["textDocument"]["version"] for c in changes}, {uri: 1, self.uri("src/blocks.tri"): None})


class Completing(LspTest):
    def complete(self, text, name="a.tri"):
        """Labels at the `|`, with their details."""
        where = pos(text.replace("|", "\0"), "\0")
        uri = self.open(name, text.replace("|", "", 1))
        return {item["label"]: item.get("detail") for item in self.client.at("completion", uri, where)}

    def test_names_in_scope(self):
        self.client.start()
        got = self.complete("import nn\nconst A = 1\nfn f(x: Tensor<float32, [N, 4]>) {\n    let y = relu(x)\n    for i in 0..3 { let z = i }\n    return y + |\n}\n")
        self.assertEqual(got["y"], "let y: float32[N, 4]")
        self.assertEqual(got["A"], "const A: int = 1")
        self.assertEqual(got["softmax"], "softmax(x, dim=-1, *, dtype=none)")
        self.assertTrue({"x", "N", "f", "nn", "if"} <= got.keys())
        self.assertFalse({"i", "z"} & got.keys())

    def test_members(self):
        self.write("blocks.tri", BLOCKS)
        self.client.start()
        got = self.complete("import nn\nfn f() { let l = nn.| }\n")
        self.assertEqual(got["Identity"], "layer Identity()")
        self.assertNotIn("relu", got)
        got = self.complete("import blocks\nlayer N() {\n    let b = blocks.Block(4)\n    fn forward(x: Tensor<float32, [M, 4]>) {\n        let y = b.ga|\n        return y\n    }\n}\n")
        self.assertEqual(got["gain"], "float32[4]")
        got = self.complete("fn f(x: Tensor<float32, [M, 4]>) {\n    let y = relu(x.|\n    return y\n}\n")
        self.assertEqual(got["shape"], "[M, 4]")
        self.assertEqual(got["sum"], "sum(x, dim=none, keepdim=false, *, dtype=none)")
        self.assertNotIn("zeros", got)

    def test_arguments_types_attributes_and_modules(self):
        self.write("blocks.tri", BLOCKS)
        self.client.start()
        got = self.complete("import nn\nfn f() { let l = nn.Linear(|) }\n")
        self.assertEqual(got["bias="], "bias: bool = true")
        got = self.complete("fn f(x: Tensor<float32, [M]>) { return x.softmax(|) }\n")
        self.assertEqual(got["dim="], "dim=-1")
        got = self.complete("type Image = Tensor<float32, [3]>\nfn f(x: |) { }\n")
        self.assertTrue({"Image", "Tensor", "float32"} <= got.keys())
        self.assertFalse({"relu", "f"} - {"f"} & got.keys())
        got = self.complete("@in|\nfn f() { }\n").keys()
        self.assertTrue({"inline", "noinline", "export", "device", "opt", "nograd"} <= got)
        self.assertNotIn("f", got)
        self.assertTrue({"nn", "blocks"} <= self.complete("import |\n").keys())
        self.assertEqual(set(self.complete("from blocks import |\n")), {"Block", "twice"})
        self.assertTrue({"fn", "layer"} <= self.complete("la|\n").keys())

    def test_manifests(self):
        self.project()
        self.assertEqual(set(self.complete(MANIFEST + "pro|", "tri.build")), {"project", "model", "profile", "cache", "server", "dependency"})
        got = self.complete(MANIFEST + "    we|", "tri.build")
        self.assertTrue({"weights", "input", "entry"} <= got.keys())
        self.assertNotIn("version", got)
        self.assertEqual(self.complete(MANIFEST.replace("entry   = Net", "entry   = |"), "tri.build"), {
            "Net": "layer Net()", "Block": "layer Block(channels: int)", "twice": "fn twice(x: Tensor<float32, [M, K]>) -> float32[M, K]"})
        self.assertIsNone(self.client.ask("textDocument/documentSymbol", {"textDocument": {"uri": self.uri("tri.build")}}))

    def test_no_completion_in_comments_and_numbers(self):
        self.client.start()
        for text in ("# com|\n", 'const A = "str|"\n', "const A = 12|\n", "fn f() { let y = unknown.| }\n"):
            self.assertEqual(self.complete(text), {}, text)

    def test_no_completion_of_internals_of_the_library(self):
        self.client.start()
        for before in ("import nn\nlayer L() { let l = nn.| }\n", "from nn import |\n", "import nn\nlayer L() {\n    let l = nn.LSTM(3, 4)\n    fn forward(x) { return l.| }\n}\n"):
            names = self.complete(before)
            self.assertTrue(names, before)
            self.assertEqual([n for n in names if n.startswith("_")], [], before)
        own = self.complete("layer L() {\n    let _hidden = 1\n    fn forward(x) { return _hid| }\n}\n")
        self.assertIn("_hidden", own)

    def test_signatures(self):
        self.client.start()

        def help_at(text):
            where = pos(text.replace("|", "\0"), "\0")
            got = self.client.at("signatureHelp", self.open("a.tri", text.replace("|", "", 1)), where)
            if got is None:
                return None
            (s,) = got["signatures"]
            return s["label"], s["parameters"][got["activeParameter"]]["label"] if got["activeParameter"] < len(s["parameters"]) else None

        head = "import nn\nfn g(a: int, b: float = 1.0) { return a }\nfn f(x: Tensor<float32, [N, 4]>) {\n"
        self.assertEqual(help_at(head + "    return g(|)\n}\n"), ("g(a: int, b: float = 1.0) -> int", "a: int"))
        self.assertEqual(help_at(head + "    let y = g(1, |\n    return y\n}\n"), ("g(a: int, b: float = 1.0) -> int", "b: float = 1.0"))
        self.assertEqual(help_at(head + "    return softmax(relu(x), |)\n}\n"), ("softmax(x, dim=-1, *, dtype=none)", "dim=-1"))
        self.assertEqual(help_at(head + "    return x.softmax(|)\n}\n"), ("softmax(x, dim=-1, *, dtype=none)", "dim=-1"))
        self.assertEqual(help_at(head + "    return x.sum(keepdim=|)\n}\n"), ("sum(x, dim=none, keepdim=false, *, dtype=none)", "keepdim=false"))
        self.assertEqual(help_at("import nn\nlayer L() { let l = nn.Linear(4, |) }\n")[1], "out_features: int")
        self.assertEqual(help_at(head + "    let y = [x, softmax(relu(|\n    return y\n}\n"), ("relu(x)", "x"))
        self.assertEqual(help_at(head + "    let y = g(a=g(|\n    return y\n}\n")[1], "a: int")
        self.assertIsNone(help_at(head + "    return |x\n}\n"))
        for arguments, active in (("|4, 5)", "in_features: int"), ("4|, 5)", "in_features: int"), ("4, 5|)", "out_features: int"), ("4, |", "out_features: int")):
            text = "import nn\nlayer L() {\n    let l = nn.Linear(%s\n    fn forward(x) { return l(x) }\n}\n" % arguments
            self.assertEqual(help_at(text), ("Linear(in_features: int, out_features: int, bias: bool = true)", active), arguments)
        self.assertEqual(help_at("fn f() { print('a|b', 1) }\n")[0], "print(*values)")


class Formatting(LspTest):
    def test_only_changed_lines_are_edited(self):
        self.client.start()
        text = "const A = 1\n\nfn f( x:int ) {\n  return x+A }\n\nconst B = 2\n"
        uri = self.open("a.tri", text)
        options = {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}}
        self.client.change(uri, 2, {"text": "const  Z = 1\n" + text})
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
        (edit,) = self.client.ask("textDocument/rangeFormatting", {**options, "range": whole})
        self.assertEqual(edit, {"range": whole, "newText": "const Z = 1\n"})
        self.assertEqual(len(self.client.ask("textDocument/formatting", options)), 2)
        self.client.change(uri, 3, {"text": text})
        (edit,) = self.client.ask("textDocument/formatting", options)
        self.assertEqual(edit["newText"], "fn f(x: int) {\n    return x + A\n}\n")
        self.assertEqual(edit["range"], {"start": {"line": 2, "character": 0}, "end": {"line": 4, "character": 0}})
        self.client.change(uri, 2, {"range": edit["range"], "text": edit["newText"]})
        self.assertEqual(self.client.ask("textDocument/formatting", options), [])
        self.client.change(uri, 3, {"text": "fn f( {"})
        self.assertIsNone(self.client.ask("textDocument/formatting", options))


class Errors(LspTest):
    def test_every_request_on_text_full_of_errors(self):
        self.client.start()
        text = "import nn\nlayer Net() {\n    let fc = nn.Linear(4,\n    fn forward(x: Tensor<float32, [N, 4]>) {\n        let y = relu(x)\n        let z = y.\n        return fc(y +\n    }\n"
        uri = self.open("a.tri", text)
        self.client.sync()
        self.assertTrue(self.client.diagnostics[uri])
        self.assertEqual(self.hover(uri, pos(text, "y = ")), "```tri\nlet y: float32[N, 4]\n```")
        everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
        lines = text.splitlines()
        for line, content in enumerate(lines):
            for character in range(0, len(content) + 2, 3):
                for method in ("hover", "definition", "references", "documentHighlight", "completion", "signatureHelp"):
                    self.client.at(method, uri, {"line": line, "character": character}, context={"includeDeclaration": True})
        for method in ("documentSymbol", "foldingRange", "semanticTokens/full", "inlayHint", "codeAction"):
            self.client.ask("textDocument/" + method, {"textDocument": {"uri": uri}, "range": everything, "context": {"diagnostics": []}})
        self.assertEqual(self.client.stop(), 0)


if __name__ == "__main__":
    unittest.main()
