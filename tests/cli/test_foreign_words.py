"""Words of other tools: each works like the word here that means the same, or one line says what to write. `trib help foreign` lists them."""
import concurrent.futures
import json
import os
import re
import unittest

from project import ProjectTest, run

MANIFEST = "project p\n\nmodel net\n    sources = net.tri\n    entry = Net\n    input x = float32 [?, 8]\n"
NET = "import nn\n\nlayer Net() {\n    let a = nn.Linear(8, 8)\n    let b = nn.Linear(8, 8)\n    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n        return b(relu(a(x)))\n    }\n}\n"
BLOCKS = {"project": "project p\n", "model": MANIFEST, "profile": "profile f\n", "cache": "cache\n", "dependency": "dependency d\n    git = x\n", "any block": "server\n"}
VALUES = {"out": "elsewhere", "trace": "t.json", "profile-out": "p.json", "jobs": "3", "opt": "2", "samples": "4", "warm-up": "0"}  # of flags here; the others take none


class Foreign(ProjectTest):
    def setUp(self):
        super().setUp()
        self.env["XDG_CONFIG_HOME"] = os.path.join(self.tmp, "config")
        self.write("net.tri", NET)
        self.write("tri.build", MANIFEST)


class Table(Foreign):
    def rows(self):
        """(kind, word, place, what the table says), with letters for what patterns leave open."""
        text = self.trib("help", "foreign").stdout
        for words, kind, places, says in re.findall(r"^  (\S.*)   \((\w+) of (.*)\)\n      (.*)$", text, re.M):
            for word in words.split():
                for place in [places] if places == "any block" else places.replace("any command", "build clean lsp").split():
                    yield kind, re.sub(r"\[(.).*\]", r"\1", re.sub(r"[*?]", "x", word)), place, says

    def check(self, row):
        kind, word, place, says = row
        same = re.match(r"as `(?:--)?([\w-]+)(=?)[^`]*`", says)
        if kind == "key":
            return self.check_key(word, place, says, same)
        if kind == "block":
            return self.check_block(word, says)
        if kind == "command":
            return self.check_command(word, says)
        value = [VALUES[same[1]]] if same and not same[2] and same[1] in VALUES else []
        words = [place, word, *value, *(["--help"] if same else [])]
        done = self.trib(*words, ok=False)
        if same and done.returncode == 0:
            return None
        if not same and done.returncode == 2 and done.stderr == f"trib: `trib {place}` has no {kind} `{word}`: {says}\n":
            return None
        return f"{words}: {done.returncode} {done.stderr}"

    def check_in(self, name, text):
        """What `check` says of a manifest in a folder of its own."""
        folder = os.path.join(self.tmp, "keys", name)
        os.makedirs(folder)
        with open(os.path.join(folder, "tri.build"), "w") as f:
            f.write(text)
        return run([self.executable, "check", "-C", folder, "--message-format=json"], self.dir, ok=False, env=self.env).stdout

    def check_key(self, word, place, says, same):
        said = self.check_in(f"{place}.{word}", f"{BLOCKS[place]}    {word} = 1\n")
        unknown = [d for d in map(json.loads, said.splitlines()) if d.get("code") == "E0703"]
        if bool(unknown) == bool(same) or (unknown and unknown[0]["help"] != says):
            return f"{place}: {word}: {said}"
        done = self.trib("config", "get", f"cache.{word}", ok=False) if place == "cache" else None
        if done and (done.returncode if same else not done.stderr.startswith(f"trib: there is no setting `cache.{word}`: {says}\n")):
            return f"config get cache.{word}: {done.stderr}"
        return None

    def check_block(self, word, says):
        said = self.check_in(word, f"{word} x\n    key = 1\n")
        wrong = [json.loads(line) for line in said.splitlines()]
        return None if [d["help"] for d in wrong if d.get("code") == "E0702"] == [says] else f"{word}: {said}"

    def check_command(self, word, says):
        """In a folder without a project, and in one, where a model could have that name."""
        outside, inside = (run([self.executable, "-C", where, word], self.dir, ok=False, env=self.env) for where in (self.tmp, "."))
        if outside.returncode == 2 and outside.stderr == f"trib: there is no command `{word}`: {says}\n" and inside.returncode in (1, 2) and says in inside.stderr:
            return None
        return f"{word}: {outside.stderr} {inside.stderr}"

    def test_a_model_may_have_the_name_of_a_foreign_command(self):
        self.edit("tri.build", "model net", "model install")
        self.trib("install")
        self.assertTrue(os.path.exists(self.path("build/libinstall.so")))

    def test_each_row(self):
        rows = list(self.rows())
        self.assertGreater(len(rows), 250)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            self.assertEqual([w for w in pool.map(self.check, rows) if w], [])


class Flags(Foreign):
    def test_output(self):
        self.build("--output", "there")
        self.assertTrue(os.path.exists(self.path("there/libnet.so")))
        self.build("net.tri", "--output=one.so", "--input", "x=float32[?, 8]")
        self.assertTrue(os.path.exists(self.path("one.so")))
        self.assertIn("--out is given twice", self.fails("build", "--output=a", "--out=b", code=2))
        self.trib("run", "net", "--input=x=ones:1x8", "--output", "out=y.npy")  # has a flag of that name
        self.assertTrue(os.path.exists(self.path("y.npy")))

    def test_debug_is_O0(self):
        self.build("--debug", "--no-cache")
        debug = self.read("build/libnet.so")
        self.build()
        self.assertFalse(self.read("build/libnet.so") == debug)
        self.build("-O0")
        self.assertTrue(self.read("build/libnet.so") == debug)
        self.assertIn("it takes no value", self.fails("build", "--debug=2", code=2))
        self.assertIn("--opt is given twice", self.fails("build", "--debug", "-O2", code=2))

    def test_parallel(self):
        for words in (["build", "--parallel", "3"], ["--parallel=3", "build"], ["--parallel", "3", "build"], ["--workers", "3"]):
            record = json.loads(self.trib(*words, "--no-cache", "--message-format=json").stdout.splitlines()[-1])
            self.assertEqual((record["type"], record["jobs"]), ("build", 3))
            self.trib("clean")
        for words in (["--parallel"], ["--parallel", "net"], ["--parallel", "--timing"]):
            self.assertEqual(self.fails("build", *words, code=2), "trib: `trib build` has no flag `--parallel`: builds are parallel, with a worker for each CPU; `-j N` for another number\n")

    def test_times(self):
        self.assertIn("cod", self.trib("build", "--timings").stdout)
        self.assertIn("`trib profile html`", self.fails("build", "--timings=html", code=2))

    def test_a_profile_that_is_none(self):
        self.assertIn("to measure a build: `--timing`, `--profile-out FILE`", self.fails("build", "--profile", "net", code=2))

    def test_other_commands_do_not_know_them(self):
        self.assertIn("`trib clean` has no flag `--incremental`\n", self.fails("clean", "--incremental", code=2))
        self.assertIn("`trib fmt` has no flag `--output`", self.fails("fmt", "--output", code=2))


class Keys(Foreign):
    def test_a_level_of_the_cache(self):
        self.trib("config", "set", "cache.l3_code.enabled", "false")
        self.assertEqual(self.trib("config", "get", "cache.l3").stdout, "false\n")
        self.assertEqual(self.trib("config", "get", "cache.l3_code.enabled").stdout, "false\n")
        self.trib("config", "unset", "l3_code.enabled")
        self.assertEqual(self.trib("config", "get", "cache.l3").stdout, "true\n")
        self.write("tri.build", MANIFEST + "\ncache\n    l3_code.enabled = false\n")
        self.assertIn("false", re.search(r"^cache\.l3 .*tri\.build:9$", self.trib("config", "list").stdout, re.M)[0])

    def test_a_folder(self):
        self.write("tri.build", MANIFEST + "\ncache\n    path = here\n")
        self.build()
        self.assertTrue(os.path.isdir(self.path("here")))

    def test_one_line(self):
        for key, says in (("cache.l3_code.path", "levels l2 and l3 are in one folder: `cache.dir`"), ("check_compiler_version", "it is always checked: another compiler uses nothing of this one")):
            self.assertEqual(self.fails("config", "set", key, "1", code=2), f"trib: there is no setting `{key}`: {says}\n")
        self.assertEqual(self.fails("config", "set", "opt", "3", code=2), "trib: `opt` is no setting: it is a key of tri.build\n")

    def test_an_optimisation_level(self):
        self.build("-O0")
        level0 = self.read("build/libnet.so")
        self.write("tri.build", MANIFEST + "    opt-level = 0\n    output = there\n")
        self.build()
        self.assertTrue(self.read("there/libnet.so") == level0)
        self.edit("tri.build", "output =", "opt = 2\n    output =")
        self.assertIn("`opt` is set twice", self.fails("build"))

    def test_brackets(self):
        self.write("tri.build", MANIFEST + "\n[profile.release]\nopt-level = 3\n    debug = true\n")
        said = self.fails("check")
        self.assertIn("without brackets: `profile release`", said)
        self.assertNotIn("belongs to no block", said)


if __name__ == "__main__":
    unittest.main()
