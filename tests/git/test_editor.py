"""The language server in a project with dependencies."""
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["TRIB_SOURCE"], "tests/lsp"))
from client import Client  # noqa: E402
from project import run  # noqa: E402
from repository import RepositoryTest, fn, model  # noqa: E402

SOURCE = "import blocks\n" + fn("A", "blocks.gain(x)")


class Editor(RepositoryTest):
    def setUp(self):
        super().setUp()
        blocks = os.path.join(self.tmp, "blocks")
        os.mkdir(blocks)
        self.git("init", "-q", "-b", "main", ".", at=blocks)
        self.write("../blocks/blocks.tri", "# Twice as much.\n" + fn("gain", "x * 2.0"))
        self.commit(at=blocks)
        self.write("tri.build", model("a", "A") + "\ndependency blocks\n    git = ../blocks\n")
        self.write("src/a.tri", SOURCE)
        self.uri = "file://" + self.path("src/a.tri")

    def start(self):
        client = Client(self.dir, self.env)
        self.addCleanup(client.kill)
        client.start()
        client.open(self.uri, SOURCE)
        return client

    def test_before_the_first_build(self):
        client = self.start()
        client.at("hover", self.uri, {"line": 0, "character": 0})
        said = client.diagnostics[self.uri][0]["message"]
        self.assertIn("blocks", said)
        self.assertIn("trib build", said)
        self.build()  # the next look finds the files
        client.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": "file://" + self.path("tri.lock"), "type": 1}]})
        client.at("hover", self.uri, {"line": 0, "character": 0})
        self.assertEqual(client.diagnostics[self.uri], [])

    def test_names_of_a_dependency(self):
        self.build()
        client = self.start()
        at = {"line": 2, "character": SOURCE.split("\n")[2].index("gain") + 1}
        self.assertIn("Twice as much.", client.at("hover", self.uri, at)["contents"]["value"])
        self.assertEqual(client.diagnostics[self.uri], [])
        where = client.at("definition", self.uri, at)
        where = where[0] if isinstance(where, list) else where
        uri = where.get("uri") or where["targetUri"]
        path = uri[len("file://"):]
        self.assertEqual(os.path.basename(path), "blocks.tri")
        with open(path) as f:
            text = f.read()
        self.assertIn("fn gain", text)
        self.assertFalse(os.stat(path).st_mode & 0o222)  # editors warn
        client.open(uri, text)
        outline = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        self.assertEqual([s["name"] for s in outline], ["gain"])
        names = client.ask("textDocument/completion", {"textDocument": {"uri": self.uri}, "position": at})
        items = names["items"] if isinstance(names, dict) else names
        self.assertIn("gain", [i["label"] for i in items])

        client.change(self.uri, 2, {"text": "import b"})
        names = client.ask("textDocument/completion", {"textDocument": {"uri": self.uri}, "position": {"line": 0, "character": 8}})
        items = names["items"] if isinstance(names, dict) else names
        self.assertIn(("blocks", "dependency"), [(i["label"], i.get("detail")) for i in items])

    def test_nothing_of_a_dependency_is_renamed(self):
        self.build()
        client = self.start()
        at = {"line": 2, "character": SOURCE.split("\n")[2].index("gain") + 1}
        with self.assertRaises(Exception) as caught:
            client.ask("textDocument/rename", {"textDocument": {"uri": self.uri}, "position": at, "newName": "other"})
        self.assertIn("dependency", str(caught.exception))

    def test_a_dependency_that_has_gone(self):
        self.build()
        shutil.rmtree(os.path.join(self.tmp, "cache"))
        client = self.start()
        client.at("hover", self.uri, {"line": 0, "character": 0})
        self.assertIn("trib build", client.diagnostics[self.uri][0]["message"])
        self.assertEqual(run([os.environ["TRIB"], "check"], self.dir, env=self.env).returncode, 0)


if __name__ == "__main__":
    unittest.main()
