"""The package for VS Code is well-formed and contains what package.json names."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
import zipfile

SOURCE = os.environ["TRIB_SOURCE"]


class Vsix(unittest.TestCase):
    def setUp(self):
        self.tmp = tempfile.mkdtemp(prefix="trib-vsix-")
        self.addCleanup(shutil.rmtree, self.tmp, True)
        self.folder = os.path.join(self.tmp, "vscode")
        shutil.copytree(os.path.join(SOURCE, "frontend/editors/vscode"), self.folder, ignore=shutil.ignore_patterns("node_modules"))

    def pack(self, name="a.vsix"):
        out = os.path.join(self.tmp, name)
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "scripts/vsix"), out, self.folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with zipfile.ZipFile(out) as z:
            self.assertIsNone(z.testzip())
            return {n: z.read(n) for n in z.namelist()}, done.stderr

    def check(self, files):
        package = json.loads(files["extension/package.json"])
        identity = xml.fromstring(files["extension.vsixmanifest"]).find(".//{*}Identity").attrib
        self.assertEqual((identity["Id"], identity["Version"], identity["Publisher"]), (package["name"], package["version"], package["publisher"]))
        types = {e.attrib["Extension"] for e in xml.fromstring(files["[Content_Types].xml"])}
        self.assertLessEqual({os.path.splitext(n)[1] for n in files} - {".xml", ""}, types)
        places = [language["configuration"] for language in package["contributes"]["languages"]] + [g["path"] for g in package["contributes"]["grammars"]]
        for path in places + ([package["main"]] if "main" in package else []):
            self.assertIn("extension/" + path[2:], files)
        return package

    def test_highlighting_only(self):
        files, said = self.pack()
        self.assertIn("highlighting only", said)
        self.assertNotIn("main", self.check(files))

    def test_with_the_client(self):
        client = os.path.join(self.folder, "node_modules/vscode-languageclient")
        os.makedirs(client)
        with open(os.path.join(client, "package.json"), "w", encoding="utf-8") as f:
            f.write("{}")
        files, said = self.pack()
        self.assertEqual(said, "")
        self.assertEqual(self.check(files)["main"], "./extension.js")
        self.assertIn("extension/node_modules/vscode-languageclient/package.json", files)

    def test_the_same_bytes(self):
        self.pack("a.vsix")
        os.utime(os.path.join(self.folder, "extension.js"), (0, 0))
        self.pack("b.vsix")
        with open(os.path.join(self.tmp, "a.vsix"), "rb") as a, open(os.path.join(self.tmp, "b.vsix"), "rb") as b:
            self.assertEqual(a.read(), b.read())


if __name__ == "__main__":
    unittest.main()
