"""frontend/LANGUAGE.md: its examples are checked and run; its signatures and grammar are compared with the compiler's tables."""
import os
import re
import unittest

from project import SOURCE, ProjectTest

# ```tri is checked without errors, ```tri,error=E0403 gives just that error; a ```text fence after a tri fence is what its main block prints.
FENCE = re.compile(r"^```(\S*)\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.M | re.S)
# Layers of the library that others are made of.
PARTS = {"Bias", "Affine", "Running", "Scale", "Shift", "InProjectionBias", "InputScale", "OutputScale"}


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as f:
        return f.read()


LANGUAGE = read("frontend", "LANGUAGE.md")


def section(heading):
    level = heading.split(" ")[0]
    found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^#{{2,{len(level)}}} |\Z)", LANGUAGE, re.M | re.S)
    return found.group(1)


def documented(text):
    """The signatures in the first column of the tables."""
    return [c for row in re.findall(r"^\| (.*?) \|", text, re.M) for c in re.findall(r"`(\w+\(.*?\))`(?=[, ]|$)", row)]


def without_types(arguments):
    """stride: int = 1, bias: bool = true -> stride=1, bias=true"""
    parts, depth = [""], 0
    for c in arguments:
        depth += (c in "([<") - (c in ")]>")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    found = [re.fullmatch(r"\s*(\w+)\s*(?::[^=]*)?(?:=\s*(.*?))?\s*", p, re.S) for p in parts if p.strip()]
    return ", ".join(f"{m[1]}={m[2]}" if m[2] else m[1] for m in found)


def declared(module, keyword):
    """Name to signature of the public definitions of a library module."""
    text = re.sub(r"#.*", "", read("frontend", "std", module))
    found = {}
    for m in re.finditer(rf"^{keyword} ([A-Za-z]\w*)(?:<[^(]*>)?\(", text, re.M):
        depth, end = 1, m.end()
        while depth:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        found[m[1]] = f"{m[1]}({without_types(text[m.end():end - 1])})"
    return found


class Examples(ProjectTest):
    def test_every_example(self):
        examples = [m for m in FENCE.finditer(LANGUAGE) if m[1].split(",")[0] == "tri"]
        self.assertGreater(len(examples), 10)
        self.write("lib/blocks.tri", "layer Block() { fn forward(x) { return x } }\n")
        for m in examples:
            line = LANGUAGE.count("\n", 0, m.start()) + 1
            with self.subTest(line=line):
                self.write("example.tri", m[2])
                done = self.trib("check", "example.tri", ok=False)
                wanted = re.findall(r"error=(\w+)", m[1])
                self.assertEqual(re.findall(r"^error\[(\w+)\]", done.stderr, re.M), wanted, f"LANGUAGE.md:{line}\n{done.stderr}")
                if m[3] is not None:
                    self.assertEqual(self.trib("run", "--main", "example.tri").stdout, m[3], f"LANGUAGE.md:{line}")


class Tables(unittest.TestCase):
    maxDiff = None

    def test_builtins_are_documented_with_their_signatures(self):
        rows = re.findall(r'^(?:BUILTIN|COMPOSED)\(\w+,\s*"(\w+)",\s*"((?:[^"\\]|\\.)*)"', read("frontend", "hir", "builtins.def"), re.M)
        self.assertGreater(len(rows), 100)
        wanted = {f"{name}({signature})".replace('\\"', '"') for name, signature in rows if not name.startswith("_")}
        have = set(documented(section("## Builtins")))
        self.assertEqual(sorted(wanted - have), [], "missing in LANGUAGE.md, or with another signature")

    def test_library_layers_are_documented_with_their_signatures(self):
        for module, heading in (("nn.tri", "### nn"), ("quant.tri", "### quant")):
            layers = declared(module, "layer")
            self.assertGreater(len(layers), 3)
            wanted = {s for name, s in layers.items() if name not in PARTS}
            self.assertEqual(sorted(wanted - set(documented(section(heading)))), [], heading)

    def test_library_functions_are_documented_with_their_signatures(self):
        for module, heading in (("quant.tri", "### quant"), ("init.tri", "### init")):
            functions = declared(module, "fn")
            shown = documented(section(heading))
            self.assertGreater(len(shown), 3)
            known = set(functions.values()) | set(declared(module, "layer").values())
            self.assertEqual(sorted(set(shown) - known), [], heading)

    def test_the_grammar_has_every_keyword_and_sign(self):
        grammar = re.search(r"```ebnf\n(.*?)```", LANGUAGE, re.S)[1]
        terminals = set(re.findall(r'"([^"]+)"', grammar))
        rows = re.findall(r'^TOKEN\(\w+,\s*"([^"]+)",\s*(\w+)\)', read("frontend", "syntax", "tokens.def"), re.M)
        wanted = {text for text, kind in rows if kind in ("KEYWORD", "PUNCT")}
        self.assertEqual(sorted(wanted - terminals), [])
        self.assertEqual(sorted(terminals - wanted), ["assert", "cap"])

    def test_the_grammar_defines_what_it_uses(self):
        grammar = re.sub(r'"[^"]+"', "", re.search(r"```ebnf\n(.*?)```", LANGUAGE, re.S)[1])
        defined = set(re.findall(r"^(\w+)\s*=", grammar, re.M))
        used = set(re.findall(r"\w+", grammar))
        self.assertEqual(sorted(used - defined), ["FLOAT", "FSTRING", "INT", "NAME", "STRING", "newline"])

    def test_every_group_of_codes_is_reported(self):
        codes = set(re.findall(r'^DIAG\(\w+,\s*"([EW]\d\d)', read("base", "diags.def"), re.M))
        listed = set(re.findall(r"^\| (E\d\d)\.\. \|", LANGUAGE, re.M))
        self.assertEqual({c for c in codes if c[0] == "E"}, listed)
        self.assertLessEqual({"E" + c[1:] for c in codes}, listed)

    def test_keywords_are_listed(self):
        listed = re.search(r"- Keywords: `([^`]*)`", LANGUAGE)[1].split()
        rows = re.findall(r'^TOKEN\(\w+,\s*"([^"]+)",\s*KEYWORD\)', read("frontend", "syntax", "tokens.def"), re.M)
        self.assertEqual(sorted(listed), sorted(rows))


if __name__ == "__main__":
    unittest.main()
