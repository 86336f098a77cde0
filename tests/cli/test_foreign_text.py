"""Foreign text in all outputs: projects whose names and texts are hostile, every command in every format. No output has a control character, JSON gives
back the original text, and no text of a project becomes an element, a link or a mention of a report."""
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import unittest
import urllib.parse

import numpy as np

from hostile import BYTES, NAME, PIECES, TEXT, faults, json_values, markdown_faults, read_page, strings
from project import SOURCE, TRIB, ProjectTest, wait_until

sys.path.insert(0, os.path.join(SOURCE, "tests", "lsp"))
import client  # noqa: E402

PAGE_ELEMENTS = {"html", "meta", "link", "title", "style", "body", "noscript", "script"}
PLAIN = "".join(c for c in NAME if c >= " " and c not in "\x7f\ufeff")  # what a source may hold


def quoted(text):
    """As a string of .tri, every character by its code."""
    return '"' + "".join(f"\\u{{{ord(c):X}}}" for c in text) + '"'


class Foreign(ProjectTest):
    def setUp(self):
        super().setUp()
        self.dir = os.path.join(self.tmp, "p" + NAME)
        self.env.update(GITHUB_WORKSPACE=self.tmp, CI_PROJECT_DIR=self.tmp)
        self.seen = []

    def project(self, source=None):
        """The quickstart with a hostile folder and file name; `source` replaces its text."""
        shutil.rmtree(self.dir, True)
        shutil.copytree(os.path.join(SOURCE, "examples", "quickstart"), self.dir, ignore=shutil.ignore_patterns("build", ".trib"))
        os.remove(self.path("src/main.tri"))
        self.source = os.path.join("src", "main" + NAME + ".tri")
        self.write(self.source, source or self.example_text())
        return self.source

    def example_text(self):
        with open(os.path.join(SOURCE, "examples", "quickstart", "src", "main.tri")) as f:
            return f"# {PLAIN}\n{f.read()}"

    def say(self, *args, code=0, terminal=False, **more):
        """The output of a command, whose bytes were checked. code: None allows any but a signal."""
        return self.run_trib(*args, code=code, terminal=terminal, **more).stdout.decode()

    def run_trib(self, *args, code=None, terminal=False, **more):
        done = subprocess.run([TRIB, *args], cwd=self.dir, env={**os.environ, **self.env}, capture_output=True, timeout=240, **more)
        for stream in (done.stdout, done.stderr):
            self.assertEqual(faults(stream, terminal), [], args)
        self.assertFalse([line for line in (done.stdout + done.stderr).decode().splitlines() if re.match(r"\s*(::\w+::forged|/close)|.*##\w*\[error", line)], args)
        if code is not None:
            self.assertEqual(done.returncode, code, (args, done.stdout.decode(), done.stderr.decode()))
        self.assertGreaterEqual(done.returncode, 0, args)
        return done

    def json(self, *args, **more):
        """The texts of a command's JSON."""
        return list(strings(json_values(self.say(*args, **more))))

    def has(self, texts, part=NAME):
        self.assertTrue(any(part in t for t in texts), f"{part!r} is in none of {texts!r}")

    def markdown(self, *args, **more):
        text = self.say(*args, **more)
        self.assertEqual(markdown_faults(text), [], (args, text))
        return text

    def page(self, path):
        data = self.read(path)
        self.assertEqual(faults(data), [])
        text = data.decode()
        page = read_page(text)
        self.assertLessEqual(page.elements, PAGE_ELEMENTS)
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


class Names(Foreign):
    """The names of folders and files."""

    def test_builds(self):
        source = self.project()
        self.json("build", "--message-format=json", "--explain", "--timing", "-v")
        for args in ([], ["--explain"], ["--timing"], ["-v"], ["--dry-run", "-O2"], ["--no-cache", "-v", "-O2", "--explain"], ["--trace", "t.json"], ["--profile-out", "p" + NAME],
                     ["--cache-dir", NAME], ["--out", "o" + NAME], ["--annotations", "github"], ["--annotations", "gitlab"], ["--emit", "library,header,opencl"]):
            self.say("build", *args)
        for written in ("t.json", "p" + NAME, "build/quickstart.h", "gl-code-quality-report.json"):
            self.assertEqual(faults(self.read(written)), [])
        for stage in ("tokens", "ast", "types", "ir", "loops", "llvm", "asm", "code", "quantized"):
            self.say("build", f"--dump-{stage}", "--no-cache")
        self.say("build", "--color", "always", terminal=True)
        for format in ([], ["--format=json"]):
            self.say("deps", *format)
            self.say("deps", source, *format)
            self.say("cache", "stats", "--detailed", "--cache-dir", NAME, *format)
            self.say("cache", "validate", "--cache-dir", NAME, *format)
            self.say("config", "list", "--cache-dir", NAME, *format)
        self.has(self.json("deps", "--format=json"))
        self.has(self.json("graph", "--format=json"))
        self.say("graph")
        self.say("graph", "--format=html", "-o", "g.html")
        self.has(strings(self.page("g.html")))
        for args in (["check"], ["check", source], ["fmt", "--check"], ["params"], ["validate"], ["explain", "TernaryFC"], ["server", "status"], ["pch", "create", "--stdlib"],
                     ["version", "--model", "build/libquickstart.so"], ["run", "quickstart", "--input", "x=random", "--output", f"out={NAME}.npy"], ["test"], ["clean"],
                     ["cache", "prune", "--cache-dir", NAME], ["cache", "clear", "--cache-dir", NAME], ["profile", "history"]):
            self.say(*args, code=None)

    def test_profiles(self):
        self.project()
        self.write("tri.build", self.read("tri.build").decode() + "    profile = true\n")
        for k in ("a", "b"):
            self.say("build", "--no-cache", "--profile-out", f"{NAME}{k}.json")
            self.say("run", "quickstart", "--input", "x=random", "--profile-out", f"run{k}.json")
        self.every_report(f"{NAME}a.json", f"{NAME}b.json")
        self.every_report("runa.json", "runb.json")
        self.markdown("bench", "quickstart", "--format=markdown", "--max-time", "10ms", "--threads", "1,2", "--roofline", "r.svg")
        self.assertEqual(faults(self.read("r.svg")), [])
        self.has(self.json("bench", "quickstart", "--format=json", "--max-time", "10ms"))
        self.say("bench", "quickstart", "--max-time", "10ms")
        self.say("profile", "record", "build", "-n", "1", "-o", f"{NAME}c.json")
        self.markdown("profile", "history", "--format=markdown")
        self.markdown("profile", "scaling", "-n", "1", "--max-time", "1s", "--format=markdown")
        self.markdown("profile", "suggest", "runa.json", "--format=markdown", "--try", "-n", "1")
        self.markdown("profile", "ab", "--a=-O1", "--b=-O2", "-n", "1", "--format=markdown")

    def every_report(self, one, two, code=0):
        for format, of in (("text", self.say), ("json", self.json), ("markdown", self.markdown)):
            of("profile", "report", one, f"--format={format}", code=code)
            of("profile", "compare", one, two, f"--format={format}", "--any-conditions", code=code)
            of("profile", "suggest", one, f"--format={format}", code=code)
            of("profile", "check", two, "--baseline", one, f"--format={format}", "--any-conditions", "--budget", "total=1ns,unit:*=1ns", code=None)
        self.say("profile", "compare", one, two, code=None)
        with open(self.path("gate.json"), "w") as f:
            f.write(self.say("profile", "check", two, "--baseline", one, "--format=json", "--any-conditions", code=None))
        self.say("profile", "html", one, two, "gate.json", "-o", "p.html", code=code)
        return list(strings(self.page("p.html")))

    def test_a_profile_of_others(self):
        """Every text of a profile is hostile, as in a file from elsewhere."""
        self.project()
        self.say("build", "--profile-out", "a.json")
        plain = json.loads(self.read("a.json"))
        files = []
        for k in range(2):
            p = json.loads(json.dumps(plain))
            p["trib"] = {key: v + TEXT for key, v in p["trib"].items()}
            p["machine"].update({key: TEXT + str(k) for key in ("id", "cpu", "system", "device")})
            p["settings"] = {key: v + TEXT + str(k) for key, v in p["settings"].items()} | {TEXT: TEXT}
            p["facts"] |= {TEXT: 1, "outlier." + TEXT: 2}
            for i, item in enumerate(p["items"]):
                item.update(name=item["name"] + TEXT, note=TEXT, at=TEXT)
                item["wall_ns"] = [(1 + 10 * k * (i % 3 == 0)) * 1e9]
            p["items"] += [{"kind": "unit", "name": TEXT + str(k), "at": TEXT, "note": TEXT, "wall_ns": [2e9], "cpu_ns": [2e9]}]
            files.append(f"{k}.json")
            self.write(files[-1], json.dumps(p, ensure_ascii=k == 0))
        self.has(self.every_report(*files), TEXT)
        self.has(self.json("profile", "report", files[0], "--format=json", "--top=100"), TEXT)
        for damage in ('{"type":"' + PLAIN, '{"kind":' + json.dumps(TEXT) + "}", TEXT):
            self.write("damaged.json", damage)
            self.say("profile", "report", "damaged.json", code=3)


    def test_random_names(self):
        """What GitHub's program makes of random markup in cells and sentences."""
        self.project()
        self.say("build", "--profile-out", "a.json")
        p = json.loads(self.read("a.json"))
        rng = random.Random(7)
        for i in range(300):
            name, at = ("".join(rng.choice(PIECES) for _ in range(rng.randint(1, 40))) for _ in range(2))
            p["items"].append({"kind": "unit", "name": f"{name}{i}", "at": at, "note": at, "wall_ns": [1e6 * i]})
            p["settings"][f"{at}{i}"] = name
        self.write("a.json", json.dumps(p))
        self.markdown("profile", "report", "a.json", "--format=markdown", "--top=1000")
        self.markdown("profile", "suggest", "a.json", "--format=markdown", "--top=1000")


class Sources(Foreign):
    """Texts of sources, in excerpts, messages, fixes and annotations."""

    BROKEN = [
        "# " + PLAIN + "\nfn f() { return zog } # " + PLAIN + "\n",
        "fn f() { return " + '"' + PLAIN.replace('"', "'").replace("\\", "") + '" + 1 }\nlayer Net() { }\n',
        "fn f() { zog\u202e\u2066(1)\x9b }\n",
        "\x1b[2J\n",
        "fn \u200fx() { }\n",
        'import "' + PLAIN.replace('"', "'").replace("\\", "") + '.tri" as x\n',
        "import nosuch\nlet x = rellu(1)\n",
    ]

    def test_errors(self):
        for text in self.BROKEN:
            source = self.project(text)
            for args in (["check"], ["build"], ["check", source], ["fmt"], ["fmt", "--check"], ["fmt", "--diff"], ["check", "--fix", "--diff"], ["deps"], ["graph"], ["params"],
                         ["check", "--annotations", "gitlab"]):
                self.say(*args, code=None)
            self.say("check", "--color=always", code=None, terminal=True)
            found = json_values(self.say("check", "--message-format=json", code=1))
            self.has(strings(found))
            errors = [d for d in found if d["type"] == "diagnostic"]
            lines = self.say("check", "--annotations", "github", code=1).splitlines()
            for line in lines:
                self.assertRegex(line, r"^::(error|warning) file=[^,]*,line=\d+,col=\d+,endLine=\d+,endColumn=\d+,title=[EW]\d+::[^\n]*$")
            self.assertGreaterEqual(len(lines), len(errors))
            report = self.read("gl-code-quality-report.json")
            self.assertEqual(faults(report), [])
            self.has(strings(json.loads(report)))

    def test_messages_of_programs(self):
        text = quoted(TEXT)
        for name, body in (("print", f"print({text})"), ("assert", f"assert 1 == 2, {text}"), ("format", f"let s = {text}\n    assert false, f\"{{s}} {{s!r}}\"")):
            source = self.project(f"main {{\n    {body}\n}}\n")
            if name == "print":
                done = subprocess.run([TRIB, "run", "--main", source], cwd=self.dir, env={**os.environ, **self.env}, capture_output=True)
                self.assertEqual(done.stdout.decode(), TEXT + "\n")  # a pipe gets the program's own bytes
            else:
                self.say("run", "--main", source, code=1)
                self.say("check", source, code=None)
        self.project(f"layer Net() {{\n    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {{\n        assert x.shape[1] == 9, {text}\n        return x\n    }}\n}}\n")
        self.edit("tri.build", "TernaryFC", "Net")
        self.say("build", code=1)
        self.has(self.json("build", "--message-format=json", code=1), TEXT)

    def test_messages_of_compiled_code(self):
        """Compiled code prints on stderr, in any program."""
        text = quoted(TEXT)
        self.project(f"layer Net() {{\n    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {{\n        print({quoted(NAME)}, x.sum())\n        assert x.sum() < 0.0, {text}\n"
                     "        return x\n    }\n}\n")
        self.edit("tri.build", "TernaryFC", "Net")
        for device in ("cpu", "reference"):
            done = self.run_trib("run", "quickstart", "--input", "x=ones:1x8", "--device", device)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"<img", done.stderr)

    def test_formatting_gives_back_bytes(self):
        self.project()
        text = f"# {PLAIN}\nlet x = 1\n".encode()
        done = subprocess.run([TRIB, "fmt", "-"], cwd=self.dir, env={**os.environ, **self.env}, input=text, capture_output=True)
        self.assertEqual((done.stdout, done.returncode), (text, 0))


class Files(Foreign):
    """Manifests, weights, tests, dependencies, arguments, settings."""

    def test_manifests(self):
        self.project()
        good = self.read("tri.build").decode()
        for old, new in (("version = 1.0", "version = " + NAME), ("entry   = TernaryFC", "entry = " + NAME), ("src/*.tri", "src/" + NAME), ("[?, 8]", NAME), ("entry ", NAME + " "),
                         ("model quickstart", "model " + NAME), ("input x", "input " + NAME), ("weights/quickstart.safetensors", NAME), ("project quickstart", "project " + NAME),
                         ("project", "# " + TEXT + "\nproject")):
            self.assertIn(old, good)
            self.write("tri.build", good.replace(old, new))
            for args in (["build"], ["check"], ["build", "--message-format=json"], ["build", "--annotations", "github"], ["params"], ["version"]):
                self.say(*args, code=None)

    def safetensors(self, **tensors):
        head, data = {"__metadata__": {TEXT: TEXT}}, b""
        for name, (kind, shape) in tensors.items():
            size = int(np.prod(shape)) * {"F32": 4, "I8": 1}.get(kind, 4)
            head[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + size]}
            data += bytes(size)
        text = json.dumps(head).encode()
        return struct.pack("<Q", len(text)) + text + data

    def test_weights(self):
        self.project()
        file = "weights/quickstart.safetensors"
        for content in (self.safetensors(w=("I8", [8, 4]), b=("F32", [4]), **{TEXT: ("F32", [4])}), self.safetensors(**{"w" + NAME: ("I8", [8, 4])}),
                        self.safetensors(w=(TEXT, [8, 4])), struct.pack("<Q", 9) + b'{"' + BYTES[:7], TEXT.encode()):
            self.write(file, content)
            for args in (["build"], ["params"], ["build", "--message-format=json"], ["build", "--explain", "--no-cache"], ["validate"], ["check"]):
                self.say(*args, code=None)
        gguf = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + struct.pack("<Q", len(TEXT.encode())) + TEXT.encode() + struct.pack("<IQ", 8, 3) + b"abc"
        gguf += struct.pack("<Q", len(TEXT.encode())) + TEXT.encode() + struct.pack("<IQIQ", 1, 4, 99, 0) + bytes(64)
        self.write("weights/x.gguf", gguf)
        self.edit("tri.build", file, "weights/x.gguf")
        self.say("build", code=None)
        for name, content in ((f"tests/quickstart/{NAME}/x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(BYTES)) + BYTES), (f"tests/quickstart/{NAME}.npy", b""),
                              (f"tests/{NAME}/x.npy", b"")):
            self.write(name, content)
            self.say("test", code=None)
            self.say("test", "--message-format=json", code=None)
        self.say("run", "quickstart", "--input", f"x=tests/quickstart/{NAME}/x.npy", code=None)

    def test_arguments(self):
        self.project()
        commands = re.findall(r"^  ([a-z]+) ", self.say("--help"), re.M)
        self.assertIn("build", commands)
        for command in sorted(set(commands) - {"lsp", "watch", "help"}):
            for args in ([TEXT], ["--" + TEXT], ["-" + TEXT], ["--jobs", TEXT], [TEXT, TEXT, TEXT], ["--format", TEXT]):
                self.say(command, *args, code=None)
        for flag in ("since", "cpu", "target", "emit", "out", "linker", "profile", "cache-dir", "input", "entry", "weights", "message-format", "annotations", "stop-after", "dump-ir", "color",
                     "opt", "jobs", "directory", "profile-if-slower-than"):
            self.say("build", f"--{flag}={TEXT}", code=None)
        for args in (["run", "--device", TEXT], ["run", "quickstart", "--input", TEXT], ["run", "quickstart", "--input", f"x={TEXT}"], ["bench", "--compare", TEXT], ["bench", "--batch", TEXT],
                     ["test", "--rtol", TEXT], ["config", "set", TEXT, TEXT], ["config", "set", "dir", NAME], ["config", "list"], ["config", "list", "--format=json"], ["config", "get", TEXT],
                     ["explain", TEXT], ["new", TEXT], ["init", NAME], ["ci", "init", TEXT], ["profile", TEXT], ["profile", "check", "--budget", TEXT], ["profile", "report", TEXT],
                     ["version", "--model", TEXT], ["profile", "ab", "--a", TEXT, "--b", TEXT, "-n", "1"], ["affected", "--since", TEXT], ["help", TEXT], ["completion", TEXT]):
            self.say(*args, code=None)
        for name in ("TRIB_JOBS", "TRIB_CACHE", "TRIB_SERVER", "TRIB_PARAM_CODE", "MAKEFLAGS"):
            self.env[name] = TEXT
            self.say("build", "--no-cache", code=None)
            del self.env[name]
        self.env["XDG_CACHE_HOME"] = NAME
        self.say("build", code=None)

    def test_recipes(self):
        """A recipe is run by a shell with a token: a folder that a shell would read is refused."""
        for folder, ok in (("net", True), ("große Netze/a_b-1.2", True), ("$(id)", False), ("a`id`", False), ('a"b', False), ("a'b", False), ("${{ github.token }}", False), (NAME, False), ("a;b", False)):
            self.dir = os.path.join(self.tmp, "r", folder)
            os.makedirs(os.path.join(self.tmp, "r", ".git"), exist_ok=True)
            os.makedirs(self.dir)
            self.write("tri.build", "project p\n    version = 1.0\n")
            for service in ("github", "gitlab"):
                self.say("ci", "init", service, "-o", "-", code=0 if ok else 2)


class Repositories(Foreign):
    def git(self, *args, folder=None):
        subprocess.run(["git", "-c", f"user.name={PLAIN}", "-c", "user.email=<img>@evil", *args], cwd=folder or self.dir, check=True, capture_output=True)

    def test_git(self):
        self.project()
        deps = os.path.join(self.tmp, "deps" + NAME)
        os.makedirs(deps)
        with open(os.path.join(deps, "blocks.tri"), "w") as f:
            f.write("fn twice(x) { return x * 2 }\n")
        branch = "<img-src=x>@evil#1&`c`|" + "\u202e\u2066\u009b"  # git refuses spaces, brackets and control characters below 0x80
        self.git("init", "-q", "-b", branch, folder=deps)
        self.git("add", "-A", folder=deps)
        self.git("commit", "-qm", PLAIN, folder=deps)
        good = self.read("tri.build").decode()
        for lines in (f"git = {deps}\n    branch = {branch}", f"git = {deps}\n    branch = {NAME}", f"git = https://localhost:1/{NAME}", f"git = ssh://localhost:1/{NAME}",
                      f"git = {deps}\n    path = {NAME}", f"path = {NAME}"):
            self.write("tri.build", good + f"\ndependency blocks\n    {lines}\n")
            for args in (["update"], ["build"], ["check"], ["build", "--locked", "--message-format=json"]):
                self.say(*args, code=None)
        ssh = os.path.join(self.tmp, "ssh")
        with open(ssh, "w") as f:
            f.write(f"#!/bin/sh\ncat <<'END' >&2\n{TEXT}\nEND\nexit 1\n")
        os.chmod(ssh, 0o755)
        self.env["GIT_SSH_COMMAND"] = ssh
        self.write("tri.build", good + "\ndependency blocks\n    git = ssh://localhost/x\n")
        self.assertIn("<img", self.run_trib("update").stderr.decode())
        self.write("tri.build", good)
        self.write("tri.lock", TEXT)
        self.say("build", code=None)
        os.remove(self.path("tri.lock"))
        self.git("init", "-q", "-b", branch)
        self.git("add", "-A")
        self.git("commit", "-qm", PLAIN)
        self.git("tag", branch + "-tag")
        self.say("build")
        self.say("version", "--model", "build/libquickstart.so")
        self.write(self.source, self.example_text() + "\nfn more() { return 1 }\n")
        for rev in ("HEAD", branch, branch + "-tag", NAME, "a..." + NAME):
            for args in (["affected", "--since", rev], ["affected", "--since", rev, "--format=json"], ["build", "--since", rev]):
                self.say(*args, code=None)
        self.has(self.json("affected", "--since", branch, "--format=json"))


class Programs(Foreign):
    """The language server, `trib watch`, the build server, terminals."""

    def test_editor(self):
        source = self.project()
        said = os.path.join(self.tmp, "said")
        client.TRIB = os.path.join(self.tmp, "trib")
        self.addCleanup(setattr, client, "TRIB", TRIB)
        with open(client.TRIB, "w") as f:
            f.write(f'#!/bin/sh\n"{TRIB}" "$@" | tee "{said}"\n')
        os.chmod(client.TRIB, 0o755)
        c = client.Client(self.dir, self.env)
        self.addCleanup(c.kill)
        c.start()
        uri = "file://" + urllib.parse.quote(self.path(source))
        text = f"# {PLAIN} ![i](http://evil.example/i)\n# ```\n# second\nfn f(x = \"``` ![i](i.png)\") {{ return x }}\n\nfn g() {{ return f(1) + zog }} # {PLAIN}\n"
        c.open(uri, text)
        c.sync()
        self.has(strings(c.diagnostics), "zog")
        at = lambda line, word: {"textDocument": {"uri": uri}, "position": {"line": line, "character": text.split("\n")[line].index(word)}}
        value = c.ask("textDocument/hover", at(5, "f("))["contents"]["value"]
        self.assertEqual(faults(value.encode()), [])
        self.assertIn("second", value)
        self.assertEqual([f for f in markdown_faults(value) if f not in ("element pre", "attribute class", "attribute lang")], [], value)
        for method in ("definition", "references", "documentHighlight", "completion", "signatureHelp"):
            c.ask("textDocument/" + method, {**at(5, "zog"), "context": {"includeDeclaration": True}})
        c.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        c.ask("workspace/symbol", {"query": TEXT})
        c.stop()
        with open(said, "rb") as f:
            self.assertEqual(faults(f.read().replace(b"\r\n", b"\n")), [])

    def test_watch(self):
        source = self.project()
        with open(os.path.join(self.tmp, "log"), "w+b") as log:
            for args in (["watch"], ["watch", "--message-format=json"], ["watch", "--", NAME]):
                watch = subprocess.Popen([TRIB, *args], cwd=self.dir, env={**os.environ, **self.env}, stdout=log, stderr=log)
                self.wait_for(log, b"watching")
                for text in ("fn f() { return zog }\n", self.example_text().replace("x @ w", "x  @ w"), self.example_text()):
                    n = os.fstat(log.fileno()).st_size
                    self.write(source, text)
                    self.wait_for(log, b"main", n)
                watch.send_signal(signal.SIGINT)
                watch.wait(30)
                log.seek(0)
                data = log.read()
                self.assertEqual(faults(data), [])
                self.assertIn(b"<img", data)
                log.seek(0)
                log.truncate()

    def wait_for(self, log, text, start=0):
        wait_until(lambda: text in os.pread(log.fileno(), 1 << 22, start), lambda: (text, os.pread(log.fileno(), 1 << 22, 0)))

    def test_server(self):
        source = self.project()
        self.env["TRIB_SERVER"] = "on"
        self.say("build")
        self.say("server", "status")
        self.write(source, "fn f() { return zog } # " + PLAIN + "\n")
        self.say("build", code=1)
        self.say("server", "stop")

    def test_terminal(self):
        """On a terminal even what a program prints has no control characters but ours."""
        source = self.project(f"main {{\n    print({quoted(TEXT)})\n}}\n")
        self.env["TERM"] = "xterm"
        del self.env["NO_COLOR"]
        for args in (["run", "--main", source], ["check", source], ["fmt", "-"], ["build"], ["build", "-v"]):
            command = " ".join("'" + a.replace("'", "'\\''") + "'" for a in [TRIB, *args])
            done = subprocess.run(["script", "-qec", command, "/dev/null"], cwd=self.dir, env={**os.environ, **self.env}, capture_output=True, input=f"# {PLAIN}\n\x04".encode(), timeout=120)
            said = done.stdout.replace(f"# {PLAIN}".encode(), b"")
            self.assertEqual([f for f in faults(said, terminal=True) if "^D" not in f], [], args)


if __name__ == "__main__":
    unittest.main()
