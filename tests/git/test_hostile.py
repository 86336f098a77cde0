"""Repositories that git's own tools would not create: nothing is written outside the cache, and each fault is reported."""
import os
import stat
import unittest

from project import run
from repository import RepositoryTest, fn, model

FILE, LINK, FOLDER, MODULE = "100644", "120000", "40000", "160000"
GOOD = fn("gain", "x * 2.0")


class Hostile(RepositoryTest):
    def setUp(self):
        super().setUp()
        self.blocks = self.repository("blocks")
        self.payload = self.repository("payload")
        self.outside = os.path.join(self.tmp, "outside")
        os.mkdir(self.outside)
        with open(os.path.join(self.outside, "kept"), "w") as f:
            f.write("mine")
        self.write("src/a.tri", "import blocks\n" + fn("A", "blocks.gain(x)"))
        self.write("tri.build", model("a", "A") + "\ndependency blocks\n    git = ../blocks\n")
        self.inner = self.commit_tree(self.payload, [(FILE, "kept", self.blob(self.payload, "overwritten")), (FILE, "new", self.blob(self.payload, "x"))])

    def repository(self, name):
        at = os.path.join(self.tmp, name)
        os.mkdir(at)
        self.git("init", "-q", "-b", "main", ".", at=at)
        return at

    def raw(self, at, kind, data):
        done = run(["git", "hash-object", "-t", kind, "-w", "--stdin", "--literally"], at, env=self.env, input=data.decode("latin-1"), encoding="latin-1")
        return done.stdout.strip()

    def blob(self, at, text):
        return self.raw(at, "blob", text.encode())

    def tree(self, at, entries):
        """In the order given, whatever their names are."""
        return self.raw(at, "tree", b"".join(f"{mode} {name}".encode() + b"\0" + bytes.fromhex(i) for mode, name, i in entries))

    def commit_tree(self, at, entries):
        """A commit of such a tree becomes the branch."""
        was = run(["git", "rev-parse", "-q", "--verify", "main"], at, ok=False, env=self.env).stdout.strip()
        commit = self.git("commit-tree", self.tree(at, entries), "-m", "x", *(["-p", was] if was else []), at=at)
        self.git("update-ref", "refs/heads/main", commit, at=at)
        return commit

    def offer(self, entries, modules=()):
        """What the dependency's last commit holds, besides a source and .gitmodules."""
        text = "".join(f'[submodule "{p}"]\n\tpath = {p}\n\turl = {url}\n' for p, url in modules)
        entries = entries + [(FILE, "blocks.tri", self.blob(self.blocks, GOOD))] + ([(FILE, ".gitmodules", self.blob(self.blocks, text))] if text else [])
        self.commit_tree(self.blocks, sorted(entries, key=lambda e: e[1]))

    def refused(self, *words, code=3):
        for command in ("check", "build"):
            said = self.fails(command, code=code)
            for word in words:
                self.assertIn(word, said)
        self.untouched()

    def untouched(self):
        self.assertEqual(os.listdir(self.outside), ["kept"])
        with open(os.path.join(self.outside, "kept")) as f:
            self.assertEqual(f.read(), "mine")

    # ---- names ----

    def test_a_link_and_a_submodule_of_one_name(self):
        link = self.blob(self.blocks, self.outside)
        self.offer([(LINK, "sub", link), (MODULE, "sub", self.inner)], [("sub", "../payload")])
        self.refused("two entries named `sub`")

    def test_a_link_and_a_folder_of_one_name(self):
        link = self.blob(self.blocks, self.outside)
        folder = self.tree(self.blocks, [(MODULE, "sub", self.inner)])
        os.mkdir(os.path.join(self.tmp, "elsewhere"))
        self.offer([(LINK, "a", link), (FOLDER, "a", folder)], [("a/sub", "../payload")])
        self.refused("two entries named `a`")

    def test_a_link_and_a_folder_of_files(self):
        link = self.blob(self.blocks, self.outside)
        folder = self.tree(self.blocks, [(FILE, "kept", self.blob(self.blocks, "overwritten"))])
        self.offer([(LINK, "a", link), (FOLDER, "a", folder)])
        self.refused("two entries named `a`")

    def test_letters_of_another_case(self):
        blob = self.blob(self.blocks, "x")
        self.offer([(FILE, "Readme", blob), (FILE, "README", blob)])
        self.refused("case of letters", "`README` and `Readme`")

    def test_names_that_lead_elsewhere(self):
        blob = self.blob(self.blocks, "x")
        for name in ("..", ".", ".git", ".GIT", "git~1", "a\nb", "a\x7fb", "../outside/kept", "/tmp/x", "a/b"):
            self.offer([(FILE, name, blob)])
            self.assertIn("invalid name", self.fails("update", code=3))
        folder = self.tree(self.blocks, [(FILE, "kept", blob)])
        self.offer([(FOLDER, "..", folder)])
        self.fails("update", code=3)
        self.refused("invalid name")

    def test_below_a_folder(self):
        blob = self.blob(self.blocks, "x")
        self.offer([(FOLDER, "deep", self.tree(self.blocks, [(FILE, "a", blob), (LINK, "a", blob)]))])
        self.refused("its folder `deep` has two entries named `a`")

    # ---- links ----

    def links(self, **targets):
        """Offers links: {name: target}."""
        self.offer([(LINK, name, self.blob(self.blocks, target)) for name, target in targets.items()])

    def arrived(self, name):
        return os.path.lexists(self.path(".trib/deps/blocks/" + name))

    def test_a_link_out_of_the_repository(self):
        """It is not written; a count of all and the first name are printed."""
        self.links(out=self.outside, up="../../..", hop="out/kept", near="blocks.tri", here=".")
        said = self.trib("build").stderr
        self.assertIn("leaving out 3 links to no file of the repository, `hop` first", said)
        self.assertEqual([n for n in ("out", "up", "hop", "near", "here") if self.arrived(n)], ["near", "here"])
        self.untouched()
        self.assertEqual(self.trib("build").stderr, "")

    def imports(self, name, *words):
        """What the import of a link says; the words are in no message."""
        self.write("src/a.tri", f'import "blocks/{name}" as b\n' + fn("A", "x"))
        said = self.fails("check")
        self.assertIn("E0205", said)
        for word in words:
            self.assertNotIn(word, said)

    def test_nothing_is_read_through_a_link(self):
        """Neither a file of the machine, nor a pipe without a writer, nor a device."""
        os.mkfifo(os.path.join(self.tmp, "pipe"))
        with open(os.path.join(self.tmp, "secret.tri"), "w") as f:
            f.write("password ?")
        targets = {"a.tri": "/etc/passwd", "b.tri": os.path.join(self.tmp, "pipe"), "c.tri": "/dev/zero", "d.tri": "../../../../../secret.tri", "e.tri": "d.tri", "f.tri": self.outside, "g.tri": "f.tri/kept"}
        self.links(**targets, **{"h.tri": "h.tri", "i.tri": "j.tri", "j.tri": "i.tri", "k.tri": "missing.tri"})
        for name in (*targets, "h.tri", "i.tri", "k.tri", "f.tri/kept"):
            self.imports(name, "root:", "password")
        self.untouched()

    def test_names_of_the_manifest(self):
        """A dependency's tri.build includes only files of its repository, and its main file is one."""
        for text in ("include /etc/passwd\n", "include ../../../../../../../../etc/passwd\n", "include passwd\n"):
            entries = [(FILE, "tri.build", self.blob(self.blocks, text)), (LINK, "passwd", self.blob(self.blocks, "/etc/passwd"))]
            self.offer(entries)
            said = self.fails("update")
            self.assertIn("E0707", said)
            self.assertNotIn("root:", said)

    def test_imports_that_lead_out(self):
        for text in ("/etc/passwd", "../../../../../../../etc/passwd", "../../../src/a.tri", "../payload/x.tri"):
            self.offer([(FILE, "inner.tri", self.blob(self.blocks, f'import "{text}" as p\n' + GOOD))])
            self.trib("update")
            self.imports("inner.tri", "root:")
        self.write("src/a.tri", 'import "blocks/../../../tri.build" as b\n' + fn("A", "x"))
        self.assertIn("leads out of the dependency", self.fails("check"))

    def test_a_cached_source_becomes_a_link(self):
        """A changed cache is restored, and nothing is read through the link."""
        self.offer([])
        self.trib("build")
        real = os.path.realpath(self.path(".trib/deps/blocks/blocks.tri"))
        os.mkfifo(os.path.join(self.tmp, "pipe"))
        os.unlink(real)
        os.symlink(os.path.join(self.tmp, "pipe"), real)
        self.assertIn("restoring files", self.trib("build").stderr)
        self.assertFalse(os.path.islink(real))

    def test_letters_outside_of_ascii(self):
        """Names that some file systems take for one: a link never takes the place of the folder."""
        link, folder = self.blob(self.blocks, self.outside), self.tree(self.blocks, [(FILE, "kept", self.blob(self.blocks, "overwritten"))])
        for one, other in (("\u00c9", "\u00e9"), ("\u00e9", "e\u0301"), ("K", "\u212a"), ("s", "\u017f"), ("\u0130", "i"), ("\u03a3", "\u03c2"), ("SS", "\u00df"), ("a", "a\u200c"), ("\uff21", "\uff41")):
            self.offer([(LINK, one, link), (FOLDER, other, folder)])
            self.trib("update")
            self.assertFalse(self.arrived(one))
            with open(self.path(f".trib/deps/blocks/{other}/kept")) as f:
                self.assertEqual(f.read(), "overwritten")
            self.untouched()

    def test_gitmodules_is_no_link(self):
        self.offer([(LINK, ".gitmodules", self.blob(self.blocks, os.path.join(self.outside, "kept")))])
        self.refused("`.gitmodules` is a symbolic link")

    def test_gitmodules_includes_nothing(self):
        self.offer([(FILE, ".gitmodules", self.blob(self.blocks, "[include]\n\tpath = /dev/zero\n")), (MODULE, "sub", self.inner)])
        self.refused(".gitmodules includes other files")

    def test_the_plain_case(self):
        """Files, programs, folders, links and a submodule's files arrive as they are."""
        tool = self.blob(self.blocks, "#!/bin/sh\n")
        folder = self.tree(self.blocks, [(MODULE, "sub", self.inner), ("100755", "tool", tool)])
        self.offer([(FOLDER, "a", folder), (LINK, "l", self.blob(self.blocks, "a/tool"))], [("a/sub", "../payload")])
        self.trib("build")
        at = self.path(".trib/deps/blocks/")
        with open(at + "a/sub/kept") as f:
            self.assertEqual(f.read(), "overwritten")
        self.assertTrue(os.stat(at + "a/tool").st_mode & stat.S_IXUSR)
        self.assertEqual(os.readlink(at + "l"), "a/tool")
        self.untouched()

    # ---- bounds ----

    def test_deep_folders(self):
        at = self.tree(self.blocks, [])
        for _ in range(80):
            at = self.tree(self.blocks, [(FOLDER, "d", at)])
        self.offer([(FOLDER, "d", at)])
        self.refused("nested more than 64 levels deep")

    def test_a_tree_that_unfolds(self):
        """Eight folders with the same ten entries each are 10^8 files."""
        at = self.tree(self.blocks, [(FILE, f"f{i}", self.blob(self.blocks, "")) for i in range(10)])
        for _ in range(7):
            at = self.tree(self.blocks, [(FOLDER, f"d{i}", at) for i in range(10)])
        self.offer([(FOLDER, "d", at)])
        self.assertIn("files", self.fails("check", code=3))
        self.untouched()

    def test_submodules_in_submodules(self):
        """Each commit holds the one before it."""
        commit = self.inner
        for _ in range(20):
            modules = self.blob(self.payload, '[submodule "s"]\n\tpath = s\n\turl = ./\n')
            commit = self.commit_tree(self.payload, [(FILE, ".gitmodules", modules), (MODULE, "s", commit)])
        self.offer([(MODULE, "s", commit)], [("s", "../payload")])
        self.refused("nested more than 16 levels deep")

    def test_many_submodules(self):
        commit = self.inner
        text = "".join(f'[submodule "s{i}"]\n\tpath = s{i}\n\turl = ./\n' for i in range(12))
        for _ in range(3):
            commit = self.commit_tree(self.payload, [(FILE, ".gitmodules", self.blob(self.payload, text))] + [(MODULE, f"s{i}", commit) for i in range(12)])
        self.offer([(MODULE, "s", commit)], [("s", "../payload")])
        self.assertIn("more than 1000 submodules", self.fails("check", code=3))
        self.untouched()


if __name__ == "__main__":
    unittest.main()
