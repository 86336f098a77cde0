"""Help, completion, the manual page and the reference tables are complete and true."""
import json
import os
import re
import shutil
import subprocess
import unittest

from project import SOURCE, TRIB, ProjectTest, run

ROOMS = ("base", "scheduler", "frontend", "backend", "gpu", "builder")


def sources():
    for room in ROOMS:
        for folder, _, names in os.walk(os.path.join(SOURCE, room)):
            for name in names:
                if name.endswith((".c", ".h", ".def")):
                    with open(os.path.join(folder, name), encoding="utf-8") as f:
                        yield name, f.read()


class Reference(ProjectTest):
    def test_every_variable_that_is_read_is_listed(self):
        listed = set(re.findall(r"^  ([A-Z_0-9]+) ", self.trib("help", "variables").stdout, re.M))
        read = {"LD_LIBRARY_PATH", "LD_PRELOAD"}  # the dynamic linker's: trib itself only compares them
        known = set(read)
        for name, text in sources():
            defines = dict(re.findall(r'#define (\w+) "([A-Z_0-9]+)"', text))
            for word in re.findall(r"(?:secure_)?getenv\(([^)]*)\)", text):
                found = re.findall(r'"([A-Z_0-9]+)"', word) or [defines[word]] if word in defines or '"' in word else []
                known.update(found)
            known.update(re.findall(r'"(TRIB_[A-Z_0-9]+)"', text))
            known.update(re.findall(r'\bvariable\("([A-Z_0-9]+)"\)', text))
        missing = {n for n in known - read if n not in listed and not n.endswith("_H")}
        self.assertEqual(missing, set())
        self.assertIn("TRIB_JOBS", listed)
        self.assertIn("TRIB_CACHE_DIR", listed)

    def test_every_key_of_the_manifest_has_help(self):
        with open(os.path.join(SOURCE, "builder/manifest/manifest_keys.def"), encoding="utf-8") as f:
            keys = re.findall(r'^KEY\(\w+, *"([a-z0-9_.]+)"', f.read(), re.M)
        text = self.trib("help", "manifest").stdout
        self.assertGreater(len(keys), 30)
        for key in keys:
            self.assertRegex(text, rf"(?m)^  {re.escape(key)} +[a-z ]+  \S", key)

    def test_the_document(self):
        with open(os.path.join(SOURCE, "builder/REFERENCE.md"), encoding="utf-8") as f:
            self.assertEqual(f.read(), self.trib("help", "reference").stdout, "scripts/bless rewrites it")

    def test_help_fits_a_terminal(self):
        commands = re.findall(r"^  ([a-z]+) +\S", self.trib("--help").stdout, re.M)
        for words in (["--help"], *([c, "--help"] for c in commands)):
            self.assertEqual([line for line in self.trib(*words).stdout.splitlines() if len(line) > 82], [], words)

    def test_exit_codes(self):
        self.assertEqual(re.findall(r"^  (\d+) ", self.trib("help", "exit").stdout, re.M), ["0", "1", "2", "3", "130"])

    def test_manual_page(self):
        page = self.trib("help", "man").stdout
        for section in ("COMMANDS", "FLAGS", "MANIFEST KEYS", "ENVIRONMENT", "FILES", "EXIT STATUS"):
            self.assertIn(f".SH {section}\n", page)
        for word in ("TRIB_CACHE_DIR", "weights.missing", "\\-\\-keep\\-going", "130"):
            self.assertIn(word, page)
        for line in page.splitlines():
            self.assertNotRegex(line, r"^['.](?![A-Z]{2}\b|B|I|RI)")

    def test_every_help_has_an_example(self):
        commands = re.findall(r"^  ([a-z]+) +\S", self.trib("--help").stdout, re.M)
        for command in commands:
            self.assertRegex(self.trib(command, "--help").stdout, rf"\nexamples:\n    trib {command}", command)
        self.assertIn("no command", self.fails("help", "nosuch", code=2))

    def test_list_of_codes(self):
        lines = self.trib("explain", "--list").stdout.splitlines()
        self.assertGreater(len(lines), 100)
        self.assertIn("E0719  no `tri.build` in this folder or any parent folder", lines)
        self.fails("explain", code=2)


# What a key's value may be, by the key's type in builder/manifest/manifest_keys.def.
VALUES = {"WORDS": "net.tri", "TEXT": "x", "INPUT": "float32 [?, 64]", "EMIT": "library", "OPT": "2", "COUNT": "1", "SIZE": "16MiB", "BOOL": "true",
          "ZSTD": "1"}


class Accepted(ProjectTest):
    """The program accepts every command, flag, key and setting that builder/REFERENCE.md lists."""

    def rows(self, title):
        """The cells of the rows of a section."""
        with open(os.path.join(SOURCE, "builder/REFERENCE.md"), encoding="utf-8") as f:
            section = re.split(r"^## ", f.read(), flags=re.M)
        lines = next(s for s in section if s.startswith(title)).splitlines()
        found = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if line.startswith("| `")]
        self.assertGreater(len(found), 4)
        return [[cells[0].strip("`"), *cells[1:]] for cells in found]

    def test_commands(self):
        for name, *_ in self.rows("Commands"):
            self.assertIn(f"trib {name}", self.trib(name, "--help").stdout)

    def test_flags(self):
        commands = [row[0] for row in self.rows("Commands")]
        for names, where, _ in self.rows("Flags"):
            value = " " in names.split(", ")[-1] and "[" not in names
            for flag in (re.split(r"[ [=]", name)[0] for name in names.split(", ")):
                for command in commands if where == "all" else where.split():
                    done = self.trib(command, flag, *["1"] * value, "--help", ok=False)
                    self.assertNotIn("has no flag", done.stderr, f"{command} {flag}")

    def test_an_unknown_flag_is_refused(self):
        self.assertIn("has no flag", self.trib("build", "--nosuch", "--help", ok=False).stderr)  # test_flags would see it

    def keys(self):
        """Name, blocks, and a value of its type."""
        with open(os.path.join(SOURCE, "builder/manifest/manifest_keys.def"), encoding="utf-8") as f:
            types = dict(re.findall(r'^KEY\(\w+, *"([a-z0-9_.T]+)", +(\w+),', f.read(), re.M))
        for name, blocks, _ in self.rows("Keys of `tri.build`"):
            yield name, blocks.split(), VALUES[types[name]]

    def test_keys(self):
        for name, blocks, value in self.keys():
            for block in blocks:
                title = block if block in ("cache", "server", "build") else f"{block} b"
                self.write("tri.build", f"{title}\n    {'input x' if name == 'input' else name} = {value}\n")
                done = self.trib("check", ok=False)
                self.assertNotIn("E0703", done.stderr, f"`{name}` in {block}")
        self.write("tri.build", "cache\n    nosuch = 1\n")
        self.assertIn("E0703", self.trib("check", ok=False).stderr)

    def test_settings(self):
        listed = {f"{block}.{name}" for name, blocks, _ in self.keys() for block in blocks if block in ("cache", "server", "build")}
        known = {line.split()[0] for line in self.trib("config", "list").stdout.splitlines()}
        self.assertEqual(listed, known)
        for name in listed:
            self.trib("config", "get", name)
        variables = {row[0] for row in self.rows("Environment variables")}
        self.assertLess({s["variable"] for s in json.loads(self.trib("config", "list", "--format", "json").stdout)}, variables)

    def test_what_is_not_there_is_refused_with_a_reason(self):
        self.assertIn("several machines share one through `cache.dir`", self.fails("config", "get", "cache.remote", code=2))
        self.write("tri.build", "cache\n    remote = https://h/p\n")
        self.assertIn("several machines share one through `cache.dir`", self.fails("check"))


class Completion(ProjectTest):
    def setUp(self):
        super().setUp()
        self.trib("new", "digits", "-q")
        self.dir = self.path("digits")

    def bash(self, line):
        """Returns the completions of bash at the end of the line."""
        words = line.split(" ")
        script = self.trib("completion", "bash").stdout + f"""
COMP_WORDS=({" ".join(f"'{w}'" for w in words)}); COMP_CWORD={len(words) - 1}
_trib '{TRIB}'; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        done = run(["bash", "-c", script], self.dir, env=self.env)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash(self):
        self.assertIn("build", self.bash("trib b"))
        self.assertEqual(self.bash("trib build di"), ["digits"])
        self.assertEqual(self.bash("trib build --keep"), ["--keep-going"])
        self.assertEqual(self.bash("trib explain E030"), [c for c in self.trib("completion", "codes").stdout.split() if c.startswith("E030")])
        self.assertEqual(self.bash("trib config get cache.max_s"), ["cache.max_size"])
        self.assertIn("opencl", self.bash("trib build --emit o"))
        self.assertEqual(self.bash("trib build --color al"), ["always"])
        self.assertEqual(self.bash("trib -C sr"), ["src"])
        self.assertEqual(self.bash("trib cache v"), ["validate"])
        self.assertEqual(self.bash("trib help var"), ["variables"])
        self.assertEqual(self.bash("trib completion f"), ["fish"])

    def test_bash_completes_operands(self):
        self.edit("tri.build", "model", "profile fast\n    opt = 3\n\nmodel")
        self.assertEqual(self.bash("trib build --profile "), ["fast"])
        self.assertEqual(self.bash("trib graph --format "), ["dot", "json", "html"])
        self.assertEqual(self.bash("trib deps --format "), ["text", "json"])
        self.assertEqual(self.bash("trib cache clear --level "), ["l2", "l3"])
        self.assertEqual(self.bash("trib cache prune --s"), ["--size"])
        self.assertEqual(self.bash("trib cache clear --d"), ["--directory"])
        self.assertEqual(self.bash("trib cache prune "), [])
        self.assertEqual(self.bash("trib config set server.i"), ["server.idle"])

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish(self):
        def fish(line):
            done = run(["fish", "-c", f"{TRIB} completion fish | source; complete -C '{line}'"], self.dir, env={**self.env, "HOME": self.tmp, "PATH": f"{os.path.dirname(TRIB)}:{os.environ['PATH']}"})
            return [x.split("\t")[0] for x in done.stdout.splitlines()]
        self.assertEqual(sorted(fish("trib cache ")), ["clear", "prune", "stats", "validate"])
        self.assertEqual(sorted(fish("trib run --device ")), ["cpu", "opencl", "reference"])
        self.assertEqual(fish("trib build dig"), ["digits"])
        self.assertIn("manifest", fish("trib help "))
        self.assertIn("compile", fish("trib co"))

    def test_lists(self):
        self.assertEqual(self.trib("completion", "models").stdout, "digits\n")
        self.assertIn("server.idle", self.trib("completion", "keys").stdout)
        self.assertEqual(run([TRIB, "completion", "models"], self.tmp, env=self.env).stdout, "")

    def test_all_shells_know_all_commands(self):
        commands = re.findall(r"^  ([a-z]+) +\S", self.trib("--help").stdout, re.M)
        for shell in ("bash", "zsh", "fish"):
            text = self.trib("completion", shell).stdout
            for command in commands:
                self.assertRegex(text, rf"\b{command}\b")
            self.assertRegex(text, r"l keep-going|--keep-going")
        self.assertIn("did you mean `bash`?", self.fails("completion", "bsh", code=2))

    def test_syntax(self):
        for shell in ("bash", "zsh", "fish"):
            if subprocess.run(["sh", "-c", f"command -v {shell}"], capture_output=True).returncode == 0:
                self.write("script", self.trib("completion", shell).stdout)
                run([shell, "-n", "script"], self.dir)


if __name__ == "__main__":
    unittest.main()
