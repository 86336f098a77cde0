"""Changes since a revision: definitions, their users, models; and builds of these models only."""
import json
import os
import re
import shutil
import unittest

from project import SOURCE, run
from repository import RepositoryTest, fn, model


class Affected(RepositoryTest):
    folder = "net"

    def setUp(self):
        super().setUp()
        self.write("tri.build", model("a", "A") + model("b", "B"))
        self.write("src/gain.tri", "# two gains\n" + fn("gain", "x * 2.0") + fn("other", "x * 3.0"))
        self.write("src/a.tri", "from gain import gain\n" + fn("mid", "gain(x) + 1.0") + fn("A", "mid(x)") + fn("unused", "x"))
        self.write("src/b.tri", "from gain import other\n" + fn("B", "other(x)"))
        self.first = self.commit()

    def test_nothing(self):
        record = self.affected()
        self.assertEqual(record["definitions"], [])
        self.assertEqual(record["commit"], self.first)
        self.assertEqual(self.models(), set())

    def test_comments_and_blanks(self):
        self.edit("src/gain.tri", "# two gains\n", "\n\n# some gains\n\n")
        self.edit("src/gain.tri", "x * 2.0", "x  *  2.0   # twice")
        self.edit("tri.build", "model b", "# the other\n\nmodel b")
        self.assertEqual(self.definitions(), {})
        self.assertEqual(self.models(), set())

    def test_the_way_to_the_change(self):
        self.edit("src/gain.tri", "x * 2.0", "x * 2.5")
        self.assertEqual(self.definitions(), {"gain": "changed", "mid": "affected", "A": "affected"})
        self.assertEqual(self.models(), {"a"})
        paths = {d["name"]: d.get("path") for d in self.affected()["definitions"]}
        self.assertEqual(paths, {"gain": None, "mid": ["mid", "gain"], "A": ["A", "mid", "gain"]})
        text = self.trib("affected", "--since", "HEAD").stdout
        self.assertIn("A → mid → gain", text)
        self.assertIn("1 of 2 models affected since HEAD", text)

    def test_a_constant_with_a_pattern(self):
        self.write("src/gain.tri", "let (low, high) = (2.0, 3.0)\n" + fn("gain", "x * high") + fn("other", "x"))
        self.commit()
        self.assertEqual(self.definitions(), {})
        self.edit("src/gain.tri", "3.0", "4.0")
        self.assertEqual(self.definitions(), {"low": "changed", "gain": "affected", "mid": "affected", "A": "affected"})
        self.assertEqual(self.models(), {"a"})

    def test_named_models(self):
        self.edit("src/gain.tri", "x * 2.0", "x * 2.5")
        self.assertEqual(self.definitions("b"), {})
        self.assertEqual(self.definitions("a"), {"gain": "changed", "mid": "affected", "A": "affected"})
        self.assertIn("there is no model `bb`", self.fails("affected", "--since", "HEAD", "a", "bb", code=2))

    def test_added_and_removed(self):
        self.edit("src/a.tri", fn("unused", "x"), fn("fresh", "x"))
        self.assertEqual(self.definitions(), {"unused": "removed", "fresh": "added"})
        self.assertEqual(self.models(), set())

    def test_moved_files(self):
        self.git("mv", "net/src/gain.tri", "net/src/gains.tri")
        for name in "ab":
            self.edit(f"src/{name}.tri", "from gain ", "from gains ")
        record = self.affected()
        self.assertEqual({(d["name"], d["change"], d["was_in"]) for d in record["definitions"]},
                         {("gain", "moved", "src/gain.tri"), ("other", "moved", "src/gain.tri")})
        self.assertEqual(self.models(), set())
        self.edit("src/gains.tri", "x * 2.0", "x * 2.5")
        self.assertEqual(self.definitions(), {"gain": "changed", "other": "moved", "mid": "affected", "A": "affected"})

    def test_an_import_of_another_definition(self):
        self.write("src/louder.tri", fn("gain", "x * 9.0"))
        self.commit()
        self.edit("src/a.tri", "from gain import", "from louder import")
        self.assertEqual(self.definitions()["mid"], "changed")
        self.assertEqual(self.models(), {"a"})

    def test_settings(self):
        self.edit("tri.build", "entry = B\n", "entry = B\n    opt = 2\n")
        self.assertEqual(self.reasons("b"), [("setting", "opt")])
        self.assertEqual(self.models(), {"b"})
        self.edit("tri.build", "model b\n", "model c\n")
        record = self.affected()
        self.assertEqual(record["removed_models"], ["b"])
        self.assertEqual(self.reasons("c"), [("new", "c")])

    def test_weights(self):
        self.edit("tri.build", "entry = B\n", "entry = B\n    weights = w/b.safetensors\n")
        self.write("w/b.safetensors", b"one")
        self.assertIn(("weights not in git", "w/b.safetensors"), self.reasons("b"))
        self.commit()
        self.assertEqual(self.reasons("b"), [])
        self.write("w/b.safetensors", b"two")
        self.assertEqual(self.reasons("b"), [("weights", "w/b.safetensors")])

    def test_revisions(self):
        self.edit("src/gain.tri", "x * 3.0", "x * 4.0")
        self.git("tag", "-a", "v1", "-m", "one")
        self.git("branch", "before")
        second = self.commit()
        self.assertEqual(self.models(), set())
        for rev in "v1", "before", "HEAD~1", "HEAD^", self.first, self.first[:9], "main~1", "v1^{commit}":
            self.assertEqual(self.models(since=rev), {"b"}, rev)
        self.assertEqual(self.models(since=second), set())

    def test_merge_base(self):
        """`main...` is where the branch left main: what main did since is not the branch's."""
        self.git("checkout", "-q", "-b", "side")
        self.edit("src/b.tri", "other(x)", "other(x) + 1.0")
        self.commit()
        self.git("checkout", "-q", "main")
        self.edit("src/a.tri", "gain(x) + 1.0", "gain(x) + 2.0")
        self.commit()
        self.git("checkout", "-q", "side")
        self.assertEqual(self.models(since="main"), {"a", "b"})
        for rev in "main...", "main...HEAD", "main...side", "side...main":
            self.assertEqual(self.models(since=rev), {"b"}, rev)
            self.assertEqual(self.affected(since=rev)["commit"], self.first)
        self.git("checkout", "-q", "--orphan", "alone")
        self.commit()
        self.assertIn("no revision `main...`", self.fails("affected", "--since", "main...", code=2))
        for rev in "nope...", "main...nope", "main..", "...", "":
            self.fails("affected", "--since", rev, code=2) if rev != "..." else self.assertEqual(self.models(since=rev), set())

    def test_another_users_repository(self):
        if os.getuid() != 0:
            self.skipTest("only root gives files away")
        for folder, _, _ in os.walk(self.top):
            os.chown(folder, 12345, 12345)
        said = self.fails("affected", "--since", "HEAD", code=3)
        self.assertIn("belongs to another user", said)
        self.assertIn("safe.directory", said)
        self.write("../../.gitconfig", f"[safe]\n\tdirectory = {self.top}\n")
        self.assertEqual(self.models(), set())

    def test_in_a_hook(self):
        """GIT_DIR and the like, which git sets there, are of no matter."""
        self.edit("src/gain.tri", "x * 3.0", "x * 4.0")
        self.env.update(GIT_DIR="/nowhere", GIT_INDEX_FILE="/nowhere")
        self.assertEqual(self.models(), {"b"})

    def test_lock_file_alone(self):
        self.write("tri.lock", "version = 1\n")
        self.assertEqual(self.models(), set())

    def test_deleted_model_file(self):
        os.unlink(self.path("src/b.tri"))
        said = self.trib("affected", "--since", "HEAD", ok=False)
        self.assertIn(said.returncode, (0, 1))
        self.assertTrue(said.stdout or "src/b.tri" in said.stderr)

    def test_staged_and_not(self):
        self.edit("src/gain.tri", "x * 3.0", "x * 4.0")
        self.git("add", "-A")
        self.edit("src/gain.tri", "x * 4.0", "x * 3.0")
        self.assertEqual(self.models(), set())

    def test_patterns_and_subfolders(self):
        self.write("tri.build", "model all\n    sources = src/**/*.tri\n    entry = A\n    input x = float32 [4]\n")
        self.write("src/deep/er/c.tri", fn("C", "x"))
        self.commit()
        self.assertEqual(self.definitions(), {})
        os.unlink(self.path("src/deep/er/c.tri"))
        self.assertEqual(self.definitions(), {"C": "removed"})

    def test_a_file_beside_the_project(self):
        self.write("../shared/lib.tri", fn("lib", "x * 5.0"))
        self.edit("src/b.tri", "from gain import other\n" + fn("B", "other(x)"),
                  'import "../../shared/lib.tri" as lib\n' + fn("B", "lib.lib(x)"))
        self.commit()
        self.assertEqual(self.definitions(), {})
        self.edit("../shared/lib.tri", "5.0", "6.0")
        self.assertEqual(self.definitions(), {"lib": "changed", "B": "affected"})

    def test_syntax_errors_then(self):
        self.edit("src/gain.tri", "x * 2.0", "x * * 2.0")
        self.commit()
        self.edit("src/gain.tri", "x * * 2.0", "x * 2.0")
        record = self.affected()
        self.assertIn("src/gain.tri of HEAD has syntax errors", record["notes"][0])
        self.assertEqual(self.models(), {"a", "b"})

    def test_syntax_errors_now(self):
        self.edit("src/gain.tri", "x * 2.0", "x * * 2.0")
        self.assertIn("src/gain.tri:3", self.fails("affected", "--since", "HEAD"))

    def test_no_manifest_then(self):
        shutil.move(self.path("tri.build"), self.path("kept"))
        self.commit()
        shutil.move(self.path("kept"), self.path("tri.build"))
        record = self.affected()
        self.assertIn("no tri.build in HEAD", record["notes"][0])
        self.assertEqual(self.models(), {"a", "b"})
        self.write("tri.build", "modle a\n")
        self.commit()
        self.write("tri.build", model("a", "A"))
        self.assertIn("tri.build of HEAD has errors", self.affected()["notes"][0])

    def test_links(self):
        os.symlink("gain.tri", self.path("src/other.tri"))
        self.edit("src/b.tri", "from gain import", "from other import")
        self.commit()
        self.assertEqual(self.definitions(), {})
        self.edit("src/gain.tri", "x * 3.0", "x * 4.0")
        self.assertEqual(self.models(), {"b"})

    def test_submodule(self):
        library = os.path.join(self.tmp, "library")
        os.mkdir(library)
        self.git("init", "-q", "-b", "main", ".", at=library)
        self.write("../../library/lib.tri", fn("lib", "x * 5.0"))
        self.commit(at=library)
        self.git("submodule", "-q", "add", library, "net/lib")
        self.edit("src/b.tri", "from gain import other\n" + fn("B", "other(x)"), 'import "../lib/lib.tri" as lib\n' + fn("B", "lib.lib(x)"))
        self.commit()
        self.assertEqual(self.definitions(), {})
        self.edit("lib/lib.tri", "5.0", "6.0")
        self.assertEqual(self.definitions(), {"lib": "changed", "B": "affected"})
        shutil.rmtree(self.path("lib"))
        shutil.copytree(library, self.path("lib"), ignore=shutil.ignore_patterns(".git"))
        self.assertIn("submodule net/lib", self.affected()["notes"][0])
        self.assertEqual(self.definitions(), {"lib": "added", "B": "changed"})

    def test_errors(self):
        self.assertIn("no revision `nope`", self.fails("affected", "--since", "nope", code=2))
        self.assertIn("no revision `HEAD:net`", self.fails("affected", "--since", "HEAD:net", code=2))
        self.assertIn("wants --since", self.fails("affected", code=2))
        self.assertIn("--format wants", self.fails("affected", "--since", "HEAD", "--format", "xml", code=2))
        self.git("clone", "-q", "--bare", ".", "../bare.git")
        run_in = os.path.join(self.tmp, "bare.git")
        done = run([os.environ["TRIB"], "affected", "--since", "HEAD"], run_in, ok=False, env=self.env)
        self.assertEqual(done.returncode, 3)
        self.assertIn("is bare", done.stderr)
        shutil.rmtree(os.path.join(self.top, ".git"))
        self.assertIn("no git repository", self.fails("affected", "--since", "HEAD", code=3))

    def test_shallow(self):
        self.edit("src/gain.tri", "x * 3.0", "x * 4.0")
        self.commit()
        self.git("clone", "-q", "--depth=1", "file://" + self.top, "../shallow")
        self.dir = os.path.join(self.tmp, "shallow/net")
        self.assertEqual(self.models(), set())
        self.assertIn("--unshallow", self.fails("affected", "--since", "HEAD~1", code=2))

    def test_linked_work_tree(self):
        self.git("worktree", "add", "-q", "../tree")
        self.dir = os.path.join(self.tmp, "tree/net")
        self.edit("src/gain.tri", "x * 3.0", "x * 4.0")
        self.assertEqual(self.models(), {"b"})

    def test_build(self):
        self.edit("src/gain.tri", "x * 3.0", "x * 4.0")
        said = self.trib("build", "--since", "HEAD").stdout
        self.assertIn("not affected since HEAD: a", said)
        self.assertTrue(os.path.exists(self.path("build/libb.so")))
        self.assertFalse(os.path.exists(self.path("build/liba.so")))
        self.assertIn("nothing to do", self.trib("build", "--since", "HEAD").stdout)
        self.assertIn("nothing to build", self.trib("build", "--since", "HEAD", "a").stdout)
        lines = [json.loads(line) for line in self.trib("build", "--since", "HEAD", "--message-format=json").stdout.splitlines()]
        self.assertEqual([line["type"] for line in lines], ["affected", "build"])
        self.assertEqual(lines[-1]["outputs"], ["build/libb.so", "build/b.h"])



class EverySource(RepositoryTest):
    """Whatever a source holds, right or wrong, no command that follows its uses fails otherwise than with a message."""

    def follow(self, folder, name):
        with open(os.path.join(self.dir, name), errors="replace") as f:
            found = re.findall(r"^(?:layer|fn) (\w+)", f.read(), re.M) or ["Net"]
        self.write("tri.build", f"model m\n    sources = {name}\n    entry = {found[-1]}\n")
        for command in (["graph"], ["graph", "--format=json"], ["deps"], ["affected", "--since", "HEAD"], ["build", "--since", "HEAD", "--dry-run"]):
            with self.subTest(source=os.path.join(folder, name), command=command):
                done = self.trib(*command, ok=False)
                self.assertIn(done.returncode, (0, 1), done.stderr[-2000:])

    def test_the_examples_and_the_goldens(self):
        found = 0
        for part in ("examples", "tests/golden"):
            for path, _, files in sorted(os.walk(os.path.join(SOURCE, part))):
                sources = sorted(f for f in files if f.endswith(".tri"))
                if not sources:
                    continue
                shutil.rmtree(self.dir)
                shutil.copytree(path, self.dir)
                self.git("init", "-q", "-b", "main", ".", at=self.dir)
                self.commit(at=self.dir)
                for name in sources:
                    self.follow(os.path.relpath(path, SOURCE), name)
                found += len(sources)
        self.assertGreater(found, 60)


if __name__ == "__main__":
    unittest.main()
