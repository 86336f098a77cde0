"""Every flag that a command takes changes what the command does: its output, its exit code or its files."""
import hashlib
import os
import re
import shutil
import struct
import unittest

from project import TRIB, ProjectTest, run
from test_flags import VALUES, Flags

NET = "layer {name}() {{\n    let w = nn.Linear(8, 8)\n    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {{\n        let unused = x * 2.0\n        return relu( w(x))\n    }}\n}}\n\nmain {{ print(1) }}\n"
MANIFEST = """\
project p

model net
    sources = net.tri
    entry = Net
    input x = float32 [?, 8]

profile small
    opt = s
    out = small
"""
# Arguments with which each command has something to do.
WORDS = {"check": ["wrong.tri"], "fmt": ["net.tri"], "affected": ["--since=HEAD"], "new": ["hello"], "init": ["there"], "explain": ["E0301"], "version": [], "config get": ["cache.max_size"],
         "config set": ["cache.max_size", "1GiB"], "config unset": ["cache.max_size"], "pch create": ["--stdlib"], "ci init": ["github"], "ci": ["init", "github"], "run": ["--input=x=random"], "watch": ["--", "true"]}
EXCEPTIONS = {("check", "--diff"): ["wrong.tri", "--fix"], ("check", "--profile"): [], ("explain", "--list"): []}  # the project's profiles are not a single file's
GIVEN = {"--profile": "none", "--message-format": "json", "--out": "elsewhere", "--linker": "cc", "--cpu": "x86-64-v2", "--target": "x86_64-linux", "--since": "HEAD~9", "--opt": "3",
         "--trace": "trace.json", "--emit": "library,live", "--cache-dir": "cache2", "--entry": "none", "--device": "none", "--output": "out=y.npy", "--input": "z=z.npy", "--directory": "nowhere", "--level": "l2",
         "--size": "16MiB", "--days": "1", "--format": "json", "--stop-after": "lex", "--model": "build/libnet.so", "--color": "always", "--batch-size": "3", "--weights": "none.safetensors",
         "--atol": "5", "--rtol": "5", "--keep-going": None}
# What these change is seen by no single run here, and where it is tested.
UNSEEN = {
    "--jobs": "speed", "--load-average": "test_scheduling.py", "--low-memory": "test_scheduling.py", "--threads": "speed", "--no-server": "test_serve.py", "--no-cache": "test_cache.py", "--poll": "watch", "--on-success": "watch",
    "--on-failure": "watch", "--locked": "test_dependencies.py", "--offline": "test_dependencies.py", "--keep-going": "test_scheduling.py", "--target": "the only one", "--lazy": "test_lazy.py", "--repair": "test_cache.py",
    "--force": "test_ci.py", "--level": "test_cache.py", "--size": "test_cache.py", "--days": "test_cache.py", "--deny-warnings": "warnings", "--entry": "one entry", "--color": "terminals", "--quiet": "terminals", "--cache-dir": "test_cache.py",
    "--version": "test_flags.py", "--help": "test_flags.py",
}


class Effects(Flags):
    maxDiff = None
    """Returns the accepted pairs of command and flag."""

    def setUp(self):
        super().setUp()
        self.write("net.tri", "import nn\n\n" + NET.format(name="Net"))
        self.write("tri.build", MANIFEST)
        self.write("wrong.tri", "fn f(x: Tensor<float32, [4]>) -> Tensor<float32, [4]> {\n    return rleu(x)\n}\n")
        os.mkdir(self.path("there"))
        for args in (["init", "-q", "."], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "x"]):
            run(["git", *args], self.dir)
        self.write("net.tri", self.read("net.tri").decode().replace("2.0", "3.0"))
        self.env.update(XDG_CONFIG_HOME=os.path.join(self.tmp, "config"), HOME=self.tmp)
        header = b"\x93NUMPY\x01\x00v\x00" + "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 8), }".ljust(117).encode() + b"\n"
        for name, value in ("x.npy", 0), ("tests/net/x.npy", 0), ("tests/net/out.npy", 1):
            self.write(name, header + struct.pack("<16f", *[value] * 16))
        self.saved = os.path.join(self.tmp, "saved")
        self.trib("build")
        self.write("net.tri", self.read("net.tri").decode().replace("relu( ", "tanh( "))  # something to compile
        shutil.copytree(self.dir, self.saved, symlinks=True)

    def seen(self, words):
        """Runs the command from the saved state. Returns its output and the files."""
        shutil.rmtree(self.dir)
        shutil.rmtree(os.path.join(self.tmp, "config"), True)
        shutil.copytree(self.saved, self.dir, symlinks=True)
        done = run([TRIB, *words], self.dir, ok=False, env=self.env)
        files = {}
        for folder, _, names in os.walk(self.dir):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), self.dir)
                if not path.startswith((".git/", ".trib/")):
                    files[path] = hashlib.sha256(self.read(path)).hexdigest()
        said = re.sub(r"[0-9.]+ ?m?s\b|[0-9.]+ % saved|\b[0-9]+\.[0-9]+\b", "T", done.stdout + done.stderr)
        return done.returncode, said, files

    def pairs(self):
        """(target, flag) of all that is accepted, but for watch, which does not end, what serves or has no device, and measurements, which differ each
        time (test_bench.py, test_profile.py)."""
        for target in self.targets:
            if target[0] in ("watch", "lsp", "server", "devices", "update", "bench", "profile") or target == ["cache"] or target == ["config"] or target == ["pch"]:
                continue
            text = run([TRIB, *target, "--help"], self.dir, env=self.env).stdout
            for name, takes in re.findall(r"^  (?:-.,|   ) (--[a-z0-9-]+)(?: (\S+))?  ", text, re.M):
                if name not in UNSEEN:
                    yield target, name, GIVEN.get(name, VALUES.get(takes, "x") if takes else None)

    def test_each_flag_has_an_effect(self):
        silent, plain = [], {}
        for target, name, value in list(self.pairs()):
            words = EXCEPTIONS.get((" ".join(target), name), WORDS.get(" ".join(target), []))
            key = tuple(target + words)
            if key not in plain:
                plain[key] = self.seen(target + words)
            flag = [name if value is None else f"{name}={value}"]
            rest = [w for w in words if not w.startswith(name + "=")] if name == "--since" else words
            end = rest.index("--") if "--" in rest else len(rest)
            if self.seen(target + rest[:end] + flag + rest[end:]) == plain[key]:
                silent.append(" ".join(target + flag))
        self.assertEqual(silent, [])


for inherited in [name for name in dir(Flags) if name.startswith("test_")]:
    setattr(Effects, inherited, None)
del Flags  # its own tests run in test_flags.py


if __name__ == "__main__":
    unittest.main()
