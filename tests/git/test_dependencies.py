"""Sources from other repositories: dependency blocks, tri.lock, trib update."""
import json
import os
import shutil
import unittest

from project import run
from repository import RepositoryTest, fn, model

BLOCKS = "\ndependency blocks\n    git = ../blocks\n"


class Dependencies(RepositoryTest):
    def setUp(self):
        super().setUp()
        self.blocks = self.library("blocks", {"blocks.tri": fn("gain", "x * 2.0"), "more/conv.tri": fn("conv", "x * 3.0")})
        self.write("tri.build", model("a", "A") + BLOCKS)
        self.write("src/a.tri", "import blocks\n" + fn("A", "blocks.gain(x)"))
        self.write(".gitignore", "/build/\n/.trib/\n")

    def library(self, name, files):
        """A repository beside the project's; its first commit."""
        folder = os.path.join(self.tmp, name)
        os.makedirs(folder)
        self.git("init", "-q", "-b", "main", ".", at=folder)
        return self.change(name, files)

    def change(self, name, files):
        for path, text in files.items():
            self.write(f"../{name}/{path}", text)
        return self.commit(at=os.path.join(self.tmp, name))

    def lock(self):
        return self.read("tri.lock").decode()

    def hide(self, name):
        shutil.move(os.path.join(self.tmp, name), os.path.join(self.tmp, name + ".hidden"))

    def calls(self, *args):
        """Libraries that trib opens, as strace shows."""
        log = os.path.join(self.tmp, "strace")
        run(["strace", "-f", "-e", "trace=openat", "-o", log, os.environ["TRIB"], *args], self.dir, env=self.env)
        with open(log) as f:
            return f.read()

    # ---- the plain case ----

    def test_build_and_lock(self):
        said = self.trib("build")
        self.assertIn("fetching", said.stderr)
        self.assertEqual(self.lock(), "# Written by trib: the commits of the dependencies. Commit this file; `trib update` renews it.\nversion = 1\n\n"
                                      f"dependency blocks\n    git = ../blocks\n    commit = {self.blocks}\n")
        again = self.trib("build")
        self.assertIn("nothing to do", again.stdout)
        self.assertEqual(again.stderr, "")
        self.assertEqual(self.trib("check").stderr, "")

    def test_stays_until_updated(self):
        self.build()
        second = self.change("blocks", {"blocks.tri": fn("gain", "x * 5.0")})
        self.assertEqual(self.build()["units"]["compiled"], 0)
        self.assertIn(f"{self.blocks[:12]} → {second[:12]}", self.trib("update").stdout)
        self.assertIn(second, self.lock())
        self.assertGreater(self.build()["units"]["compiled"], 0)
        self.assertIn("unchanged", self.trib("update", "blocks").stdout)
        self.assertIn("there is no dependency `block`", self.fails("update", "block", code=2))

    def test_no_network_once_it_is_there(self):
        self.build()
        self.hide("blocks")
        shutil.rmtree(self.path(".trib"))
        shutil.rmtree(self.path("build"))
        self.assertEqual(self.trib("build").stderr, "")
        self.edit("src/a.tri", "blocks.gain(x)", "blocks.gain(x) + 1.0")
        self.assertEqual(self.build("--offline", "--locked")["units"]["failed"], 0)

    def test_nothing_to_do_opens_no_repository(self):
        if not shutil.which("strace"):
            self.skipTest("no strace")
        self.build()
        self.build()
        seen = self.calls("build")
        self.assertNotIn("libtrib-git", seen)
        self.assertNotIn(".git/", seen.replace(self.top + "/.git", "").replace('".git/', "").replace('"../', ""))

    def test_the_cache_is_gone(self):
        self.build()
        shutil.rmtree(os.path.join(self.tmp, "cache"))
        self.assertEqual(self.build()["units"]["failed"], 0)
        self.assertTrue(os.path.exists(self.path(".trib/deps/blocks/blocks.tri")))
        self.edit("src/a.tri", "blocks.gain(x)", "blocks.gain(x) + 1.0")
        shutil.rmtree(os.path.join(self.tmp, "cache"))
        self.hide("blocks")
        self.assertIn("E0813", self.fails("build", code=3))
        self.assertIn("with --offline", self.fails("build", "--offline", code=3))

    def test_a_damaged_mirror_is_made_again(self):
        self.build()
        folder = os.path.join(self.tmp, "cache/trib/git")
        name = next(n for n in os.listdir(folder) if n.endswith(".git"))
        shutil.rmtree(os.path.join(folder, name[:-4]))
        os.unlink(os.path.join(folder, name, "HEAD"))
        shutil.rmtree(self.path(".trib"))
        self.assertEqual(self.build()["units"]["failed"], 0)

    def test_files_and_folders(self):
        self.write("src/a.tri", 'import "blocks/more/conv.tri" as conv\nfrom blocks import gain\n' + fn("A", "conv.conv(gain(x))"))
        self.build()
        self.edit("tri.build", "git = ../blocks\n", "git = ../blocks\n    path = more\n")
        self.write("src/a.tri", 'import "blocks/conv.tri" as conv\n' + fn("A", "conv.conv(x)"))
        self.build()
        self.write("src/a.tri", "import blocks\n" + fn("A", "x"))
        self.assertIn("the dependency `blocks` has no file `blocks.tri`", self.fails("build"))
        self.edit("tri.build", "path = more\n", "path = less\n")
        self.assertIn("has no folder `less`", self.fails("build", code=3))

    def test_a_file_beside_goes_first(self):
        self.build()
        self.write("src/blocks.tri", fn("gain", "x * 7.0"))
        self.assertGreater(self.build()["units"]["compiled"], 0)
        self.write("src/a.tri", 'import "blocks/more/conv.tri" as conv\n' + fn("A", "conv.conv(x)"))
        self.build()
        self.write("src/blocks/more/conv.tri", fn("conv", "x * 7.0"))
        self.assertGreater(self.build()["units"]["compiled"], 0)

    def test_a_changed_file_in_the_cache_is_put_back(self):
        outputs = self.build()["outputs"]
        good = self.read(outputs[0])
        real = os.path.realpath(self.path(".trib/deps/blocks/blocks.tri"))
        self.assertEqual(os.stat(real).st_mode & 0o222, 0)
        for harm in (lambda: os.chmod(real, 0o644), lambda: None), (lambda: os.unlink(real), lambda: None), (lambda: os.unlink(real), lambda: os.symlink("/dev/null", real)):
            harm[0]()
            if os.path.exists(real):
                with open(real, "w") as f:
                    f.write(fn("gain", "x * 9.0"))
            harm[1]()
            said = self.trib("build")
            self.assertIn("restoring files", said.stderr)
            self.assertEqual(self.read(outputs[0]), good)
            self.assertEqual(self.trib("build").stderr, "")
        with open(os.path.join(os.path.dirname(real), "more.tri"), "w") as f:
            f.write(fn("more", "x"))
        self.edit("src/a.tri", "blocks.gain(x)", "blocks.gain(x) + 1.0")
        self.assertIn("restoring files", self.trib("build").stderr)

    def test_a_cache_that_was_copied(self):
        self.build()
        cache = os.path.join(self.tmp, "cache")
        run(["cp", "-r", cache, cache + "2"], self.tmp)
        shutil.rmtree(cache)
        os.rename(cache + "2", cache)
        self.hide("blocks")
        self.edit("src/a.tri", "blocks.gain(x)", "blocks.gain(x) + 1.0")
        self.assertEqual(self.trib("build", "--offline").stderr, "")

    # ---- submodules ----

    def submodule(self, *settings):
        self.library("inner", {"inner.tri": fn("inner", "x * 3.0")})
        at = os.path.join(self.tmp, "blocks")
        self.git("submodule", "-q", "add", os.path.join(self.tmp, "inner"), "parts/inner", at=at)
        for key, value in settings:
            self.git("config", "-f", ".gitmodules", "submodule.parts/inner." + key, value, at=at)
        self.change("blocks", {"blocks.tri": 'import "parts/inner/inner.tri" as inner\n' + fn("gain", "inner.inner(x)")})

    def test_submodules(self):
        self.submodule(("url", "../inner"))
        self.build()
        shutil.rmtree(self.path(".trib"))
        self.hide("inner")
        self.edit("src/a.tri", "blocks.gain(x)", "blocks.gain(x) + 1.0")
        self.assertEqual(self.trib("build").stderr, "")
        shutil.rmtree(os.path.join(self.tmp, "cache"))
        self.edit("src/a.tri", "+ 1.0", "+ 2.0")
        self.assertIn("submodule `parts/inner`", self.fails("build", code=3))

    def test_a_submodule_without_users(self):
        self.submodule(("update", "none"))
        self.hide("inner")
        self.assertIn("no file", self.fails("build"))
        self.change("blocks", {"blocks.tri": fn("gain", "x * 5.0")})
        self.trib("update")
        self.build()

    # ---- what is asked for ----

    def test_revisions(self):
        self.git("tag", "-a", "v1", "-m", "one", at=os.path.join(self.tmp, "blocks"))
        self.git("branch", "old", at=os.path.join(self.tmp, "blocks"))
        second = self.change("blocks", {"blocks.tri": fn("gain", "x * 5.0")})
        for line, commit in (("tag = v1", self.blocks), ("branch = old", self.blocks), ("branch = main", second), (f"rev = {self.blocks}", self.blocks),
                             (f"rev = {self.blocks[:10]}", self.blocks), ("rev = v1", self.blocks), ("", second)):
            self.write("tri.build", model("a", "A") + BLOCKS + f"    {line}\n")
            self.build()
            self.assertIn(f"commit = {commit}", self.lock(), line)
            self.assertIn(line, self.lock())
        for line, words in (("tag = v2", "has no tag `v2`"), ("branch = x/y", "has no branch `x/y`"), ("rev = " + "0" * 40, "has no revision")):
            self.write("tri.build", model("a", "A") + BLOCKS + f"    {line}\n")
            self.assertIn(words, self.fails("build", code=3))

    def test_addresses(self):
        url = "file://" + os.path.join(self.tmp, "blocks")
        for git in url, os.path.join(self.tmp, "blocks"), "../blocks/.git":
            self.edit("tri.build", self.read("tri.build").decode().split("git = ")[1].split("\n")[0], git)
            self.build()
            self.assertIn(f"git = {git}\n", self.lock())
        self.edit("tri.build", "../blocks/.git", "../nowhere")
        said = self.fails("build", code=3)
        self.assertIn("E0813", said)
        self.assertIn("tri.build:6", said)
        self.assertIn("No such file", said)

    def test_branches_that_clash(self):
        at = os.path.join(self.tmp, "blocks")
        self.git("branch", "x", at=at)
        self.edit("tri.build", "git = ../blocks\n", "git = ../blocks\n    branch = x\n")
        self.build()
        self.git("branch", "-D", "x", at=at)
        self.git("branch", "x/y", at=at)
        self.edit("tri.build", "branch = x", "branch = x/y")
        self.build()
        self.edit("tri.build", "branch = x/y", "branch = x")
        self.assertIn("has no branch `x`", self.fails("build", code=3))

    def test_blocks_that_are_wrong(self):
        for block, words in (("dependency a-b\n    git = ../blocks\n", "cannot be the name"), ("dependency nn\n    git = ../blocks\n", "standard-library"),
                             ("dependency b\n    tag = x\n", "has no `git`"), ("dependency b\n    git = ../blocks\n    tag = x\n    rev = y\n", "more than one"),
                             ("dependency b\n    git = ../blocks\n    path = ../x\n", "leads out"),
                             ("dependency b\n    git = ../blocks\ndependency b\n    git = ../blocks\n", "two blocks")):
            self.write("tri.build", model("a", "A") + block)
            self.assertIn(words, self.fails("build"))
        self.write("tri.build", model("a", "A") + "dependency nn\n    git = ../blocks\n")
        self.assertIn("E0715", self.fails("build"))

    def test_another_users_repository(self):
        if os.getuid() != 0:
            self.skipTest("only root gives files away")
        for folder, _, _ in os.walk(os.path.join(self.tmp, "blocks")):
            os.chown(folder, 12345, 12345)
        self.assertIn("safe.directory", self.fails("build", code=3))

    # ---- the lock file ----

    def test_locked(self):
        self.assertIn("does not name dependency `blocks`", self.fails("build", "--locked"))
        self.assertFalse(os.path.exists(self.path("tri.lock")))
        self.build()
        self.assertIn("nothing to do", self.trib("build", "--locked").stdout)
        self.edit("tri.build", "git = ../blocks\n", "git = ../blocks\n    branch = main\n")
        said = self.fails("build", "--locked")
        self.assertIn("E0717", said)
        self.assertIn("tri.lock:4", said)
        self.assertIn("trib update blocks", said)
        self.build()
        self.library("other", {"other.tri": fn("other", "x")})
        self.edit("tri.build", "../blocks\n    branch = main\n", "../blocks\n    branch = main\ndependency other\n    git = ../other\n")
        self.build()
        self.assertEqual(self.lock().count("dependency "), 2)
        self.edit("tri.build", "dependency other\n    git = ../other\n", "")
        self.assertIn("no manifest names", self.fails("build", "--locked"))
        self.build()
        self.assertNotIn("other", self.lock())

    def test_a_damaged_lock(self):
        self.build()
        good = self.lock()
        for bad, line in ((good.replace("commit = ", "commit = z"), 6), (good.replace("version = 1", "version = 2"), 2), (good + "<<<<<<< HEAD\n", 7),
                          (good + "dependency blocks\n", 7), (good.replace("    git = ../blocks\n", ""), 4), (good.replace("version = 1\n", ""), 1), ("\0", 1)):
            self.write("tri.lock", bad)
            self.edit("src/a.tri", "blocks.gain(x)", "blocks.gain(x) + 1.0")
            said = self.fails("build")
            self.assertIn("E0716", said)
            self.assertIn(f"tri.lock:{line}:", said)
            self.assertIn("git checkout", said)

    def test_a_merge_that_has_conflicts(self):
        self.build()
        self.commit()
        self.git("branch", "side")
        second = self.change("blocks", {"blocks.tri": fn("gain", "x * 5.0")})
        self.trib("update")
        self.commit()
        self.git("checkout", "-q", "side")
        self.change("blocks", {"blocks.tri": fn("gain", "x * 6.0")})
        self.trib("update")
        self.commit()
        settings = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        self.assertNotEqual(run(["git", *settings, "merge", "-q", "main"], self.top, ok=False, env=self.env).returncode, 0)
        said = self.fails("build")
        self.assertIn("tri.lock:6:", said)
        self.assertIn("git checkout --ours tri.lock", said)
        self.git("checkout", "--theirs", "tri.lock")
        self.build()
        self.assertIn(second, self.lock())

    # ---- dependencies of dependencies ----

    def nested(self):
        self.gates = self.library("gates", {"gates.tri": fn("gate", "x * 4.0")})
        self.change("blocks", {"tri.build": "project blocks\n\ndependency gates\n    git = ../gates\n",
                               "blocks.tri": "from gates import gate\n" + fn("gain", "gate(x)")})

    def test_nested(self):
        self.nested()
        self.build()
        self.assertIn(f"dependency gates\n    git = ../gates\n    commit = {self.gates}", self.lock())
        self.write("src/a.tri", "import gates\n" + fn("A", "gates.gate(x)"))
        self.assertIn("there is no module `gates`", self.fails("build"))  # it is the dependency's, not the project's

    def test_conflict(self):
        self.nested()
        self.library("more", {"more.tri": "from gates import gate\n" + fn("more", "gate(x)"),
                              "tri.build": "dependency gates\n    git = ../gates\n    branch = main\n"})
        self.edit("tri.build", "git = ../blocks\n", "git = ../blocks\ndependency more\n    git = ../more\n")
        said = self.fails("build")
        self.assertIn("two dependencies are called `gates`", said)
        self.assertIn(".trib/deps/more/tri.build:1", said)
        self.assertIn(".trib/deps/blocks/tri.build:3", said)
        self.edit("tri.build", "dependency more", "dependency gates\n    git = ../gates\ndependency more")
        self.build()

    def test_circle(self):
        self.nested()
        self.change("gates", {"tri.build": "dependency blocks\n    git = ../blocks\n"})
        self.build()
        self.assertEqual(self.lock().count("dependency "), 2)

    # ---- what else uses them ----

    def test_affected(self):
        self.build()
        self.commit()
        self.assertEqual(self.definitions(), {})
        self.change("blocks", {"blocks.tri": fn("gain", "x * 5.0")})
        self.trib("update")
        self.assertEqual(self.definitions(), {"gain": "changed", "A": "affected"})
        self.hide("blocks")
        shutil.rmtree(os.path.join(self.tmp, "cache"))
        self.assertIn("E0813", self.fails("affected", "--since", "HEAD", code=3))

    def test_other_folder_hits_the_cache(self):
        self.build()
        shutil.copytree(self.top, self.top + "2", ignore=shutil.ignore_patterns("build", ".trib"))
        self.dir = self.top + "2"
        self.assertEqual(self.build()["units"]["compiled"], 0)

    def test_provenance(self):
        self.build()
        self.commit()
        self.build()
        self.assertNotIn("uncommitted", self.trib("version", "--model", "build/liba.so").stdout)

    def test_single_files(self):
        self.build()
        self.assertEqual(self.trib("check", "src/a.tri").stderr, "")

    def test_clean_leaves_the_cache(self):
        self.build()
        self.trib("clean")
        self.assertFalse(os.path.exists(self.path(".trib")))
        self.hide("blocks")
        self.assertEqual(json.loads(self.trib("build", "--message-format=json").stdout.splitlines()[-1])["ok"], True)


if __name__ == "__main__":
    unittest.main()
