"""The editors' grammars: their word lists equal the compiler's, and they accept the language. --bless rewrites the lists of builtins."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import earley
from project import SOURCE

EDITORS = os.path.join(SOURCE, "frontend", "editors")
# What the elaborator knows by name beside builtins.def, and types beside dtypes.def.
SPECIALS = {"print", "len", "shape", "range", "enumerate", "zip", "reversed", "str", "ntuple"}
TYPES = {"int", "float", "str", "void", "Tensor", "TernaryTensor", "List", "Tuple"}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def table(name, pattern):
    return set(re.findall(pattern, read(SOURCE, "frontend", name), re.M))


KEYWORDS = table("syntax/tokens.def", r'^TOKEN\(\w+,\s*"(\w+)",\s*KEYWORD\)')
SIGNS = table("syntax/tokens.def", r'^TOKEN\(\w+,\s*"([^"]+)",\s*PUNCT\)')
DTYPES = table("hir/dtypes.def", r'^DTYPE\(\w+,\s*"(\w+)"')
BUILTINS = table("hir/builtins.def", r'^(?:BUILTIN|COMPOSED)\(\w+,\s*"([a-z]\w*)"')


class Highlighter:
    """As much of a TextMate engine as our grammar needs: the earliest match wins, then the first pattern."""

    def __init__(self, grammar):
        self.repository = grammar["repository"]
        self.top = grammar["patterns"]

    def flat(self, patterns):
        for p in patterns:
            if "include" in p:
                yield from self.flat(self.repository[p["include"][1:]]["patterns"])
            else:
                yield p

    def line(self, text):
        """Scope names to the texts they cover, in one line."""
        found, stack, at = [], [], 0
        while at <= len(text):
            best = None
            end = re.compile(stack[-1]["end"]).search(text, at) if stack else None
            for p in self.flat(stack[-1].get("patterns", []) if stack else self.top):
                m = re.compile(p.get("match") or p["begin"]).search(text, at)
                if m and (not best or m.start() < best[0].start()):
                    best = (m, p)
            if end and (not best or end.start() <= best[0].start()):
                p = stack.pop()
                self.put(found, end, p, "endCaptures")
                at = end.end()
                if end.end() == len(text) and not end.group():
                    break
                continue
            if not best:
                break
            m, p = best
            if "begin" in p:
                stack.append(p)
                self.put(found, m, p, "beginCaptures")
            else:
                found += [(p["name"], m.group())] if "name" in p else []
                self.put(found, m, p, "captures")
            at = max(m.end(), at + (m.end() == at))
        return found

    @staticmethod
    def put(found, m, p, captures):
        for i, c in p.get(captures, {}).items():
            if m.group(int(i)):
                found.append((c["name"], m.group(int(i))))


class TextMate(unittest.TestCase):
    grammar = json.loads(read(EDITORS, "vscode", "syntaxes", "tri.tmLanguage.json"))

    def words(self, scope):
        """The words that patterns of this scope list."""
        found = set()
        for part in self.grammar["repository"].values():
            for p in part["patterns"]:
                if p.get("name") == scope:
                    for group in re.findall(r"\\b\(\?:([\w|]+)\)", p["match"]):
                        found |= set(group.split("|"))
        return found

    def test_keywords_types_and_builtins_are_the_compilers(self):
        listed = self.words("keyword.control.tri") | self.words("keyword.declaration.tri") | self.words("constant.language.tri")
        self.assertEqual(listed, KEYWORDS | {"None"})
        self.assertEqual(self.words("support.type.tri"), DTYPES | TYPES - {"str"})
        self.assertEqual(self.words("support.function.tri"), (BUILTINS | SPECIALS) - {"where"})

    def test_scopes_of_sample_lines(self):
        h = Highlighter(self.grammar)
        samples = {
            "layer Block(channels: int, stride: int = 1) { # why": [
                ("keyword.declaration.tri", "layer"), ("entity.name.type.layer.tri", "Block"), ("support.type.tri", "int"),
                ("constant.numeric.integer.tri", "1"), ("comment.line.number-sign.tri", "# why")],
            "    let y = relu(conv1(x, stride=2)) @ w ** -1.5e-3": [
                ("support.function.tri", "relu"), ("entity.name.function.tri", "conv1"), ("variable.parameter.tri", "stride"),
                ("keyword.operator.tri", "@"), ("keyword.operator.tri", "**"), ("constant.numeric.float.tri", "1.5e-3")],
            "for i in 0..n { z = x.type }": [
                ("keyword.control.tri", "for"), ("constant.numeric.integer.tri", "0"), ("keyword.operator.tri", "..")],
            "    @inline": [("entity.other.attribute-name.tri", "@inline")],
            "print(f\"{x + 1:.2f} of {{y}} \\n\", 'z')": [
                ("support.function.tri", "print"), ("keyword.operator.tri", "+"), ("constant.other.format.tri", ".2f"),
                ("constant.character.escape.tri", "{{"), ("constant.character.escape.tri", "\\n")],
            "where(c, a, none)": [("support.function.tri", "where"), ("constant.language.tri", "none")],
        }
        for text, wanted in samples.items():
            found = h.line(text)
            for scope in wanted:
                self.assertIn(scope, found, text)
        self.assertNotIn(("keyword.declaration.tri", "type"), h.line("x.type"))

    def test_every_regular_expression_compiles(self):
        def walk(p):
            for key, value in p.items():
                if key in ("match", "begin", "end"):
                    re.compile(value)
                elif key == "patterns":
                    for q in value:
                        walk(q)
                elif key == "include":
                    self.assertIn(value[1:], self.grammar["repository"])
        for part in [self.grammar, *self.grammar["repository"].values()]:
            walk(part)

    def test_the_extension_names_files_that_exist(self):
        package = json.loads(read(EDITORS, "vscode", "package.json"))
        files = [package["main"], package["contributes"]["languages"][0]["configuration"], package["contributes"]["grammars"][0]["path"]]
        for f in files:
            self.assertTrue(os.path.exists(os.path.join(EDITORS, "vscode", f)), f)
        json.loads(read(EDITORS, "vscode", "language-configuration.json"))
        self.assertIn("vscode-languageclient", package["dependencies"])


class TreeSitter(unittest.TestCase):
    folder = os.path.join(EDITORS, "tree-sitter")

    def sources(self):
        kept = [f"{SOURCE}/frontend/std/*.tri", f"{SOURCE}/examples/**/*.tri", f"{SOURCE}/tests/golden/fmt/[cl]*.tri"]
        return sorted(f for pattern in kept for f in glob.glob(pattern, recursive=True))

    def rules(self):
        if not shutil.which("node"):
            self.skipTest("node is not installed: the tree-sitter grammar was not read")
        script = os.path.join(SOURCE, "tests", "docs", "tree_sitter_rules.js")
        done = subprocess.run(["node", script, os.path.join(self.folder, "grammar.js")], capture_output=True, text=True, check=True, timeout=60)
        return json.loads(done.stdout)["rules"]

    def test_word_lists_are_the_compilers(self):
        query = read(self.folder, "queries", "highlights.scm")
        matched = [set(g.split("|")) for g in re.findall(r'#match\? @\S+ "\^\(([\w|]+)\)\$"', query)]
        self.assertEqual(matched, [DTYPES | TYPES, BUILTINS | SPECIALS])
        quoted = set(re.findall(r'"([^"]+)"', re.sub(r"\(#match.*", "", query)))
        named = {"true", "false", "none", "break", "continue"}  # nodes of their own
        self.assertEqual(quoted, (KEYWORDS - named) | SIGNS | {"assert"})

    def test_the_grammar_has_every_keyword_and_sign(self):
        grammar = earley.Grammar(self.rules())
        self.assertEqual((KEYWORDS | SIGNS) - grammar.words, set())

    def test_the_grammar_defines_what_it_uses(self):
        rules = self.rules()
        used = set(re.findall(r'"SYMBOL", "name": "(\w+)"', json.dumps(rules)))
        self.assertEqual(used - set(rules), set())
        self.assertEqual(set(rules) - used, {"source_file", "comment"})
        nodes = set(re.findall(r"\((\w+)", re.sub(r'"[^"]*"', "", read(self.folder, "queries", "highlights.scm"))))
        self.assertEqual(nodes - set(rules), set())

    def test_the_grammar_accepts_the_sources_of_the_repository(self):
        grammar = earley.Grammar(self.rules())
        files = self.sources()
        self.assertGreater(len(files), 5)
        for f in files:
            row = earley.tokens(read(f))
            n = grammar.furthest("source_file", row)
            self.assertEqual(n, len(row) + 1, f"{f}: stops at " + " ".join(t for _, t in row[max(n - 8, 0):n + 1]))
        wrong = earley.tokens("fn f( { }")
        self.assertLess(grammar.furthest("source_file", wrong), len(wrong) + 1)

    def test_the_generated_parser_reads_the_sources(self):
        tool = shutil.which("tree-sitter")
        if not tool:
            self.skipTest("the tree-sitter tool is not installed: no parser was generated")
        with tempfile.TemporaryDirectory() as d:
            shutil.copytree(self.folder, d, dirs_exist_ok=True)
            for args in (["generate"], ["test"], ["parse", "--quiet", *self.sources()]):
                done = subprocess.run([tool, *args], cwd=d, capture_output=True, text=True, timeout=300, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


def bless():
    every = BUILTINS | SPECIALS
    lists = {("vscode", "syntaxes", "tri.tmLanguage.json"): every - {"where"}, ("tree-sitter", "queries", "highlights.scm"): every}
    for path, words in lists.items():
        text = re.sub(r"(?<=[(:])(?:\w+\|)+relu6\|(?:\w+\|)*\w+(?=\))", "|".join(sorted(words)), read(EDITORS, *path))
        with open(os.path.join(EDITORS, *path), "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    if "--bless" in sys.argv:
        sys.exit(bless())
    unittest.main(verbosity=2)
