"""The commit in a library: a new commit links the library again and compiles nothing; after an edit the library reports a modified tree."""
import unittest

from project import ProjectTest, run


class Provenance(ProjectTest):
    example = "quickstart"

    def setUp(self):
        super().setUp()
        self.env["GIT_CONFIG_GLOBAL"] = "/dev/null"
        self.git("init", "-q", ".")
        self.write(".gitignore", "/build/\n/.trib/\n")
        self.git("add", "-A")
        self.commit()
        self.build()

    def git(self, *args):
        return run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *args], self.dir, env=self.env).stdout.strip()

    def commit(self):
        self.git("commit", "-q", "--allow-empty", "-a", "-m", "x")

    def said(self):
        return self.trib("version", "--model", "build/libquickstart.so").stdout

    def test_commit_links_and_compiles_nothing(self):
        self.assertIn(f"commit {self.git('rev-parse', 'HEAD')}\n", self.said())
        self.commit()
        record = self.build()
        self.assertEqual(record["units"]["compiled"], 0)
        self.assertIn(f"commit {self.git('rev-parse', 'HEAD')}\n", self.said())
        self.assertIn("nothing to do", self.trib("build").stdout)

    def test_packed_refs(self):
        self.git("pack-refs", "--all")
        self.assertEqual(self.build()["units"]["compiled"], 0)
        self.assertIn(self.git("rev-parse", "HEAD"), self.said())

    def test_comment_edit_is_reported(self):
        self.edit("src/main.tri", "# One", "# Just one")
        self.assertEqual(self.build()["units"]["compiled"], 0)
        self.assertIn("uncommitted changes", self.said())
        self.edit("src/main.tri", "# Just one", "# One")
        self.commit()
        self.build()
        self.assertNotIn("uncommitted", self.said())

    def test_an_edit_taken_back_is_clean(self):
        self.edit("src/main.tri", "# One", "# Just one")
        self.build()
        self.assertIn("uncommitted changes", self.said())
        self.edit("src/main.tri", "# Just one", "# Simply one")
        self.assertIn("nothing to do", self.trib("build").stdout)
        self.edit("src/main.tri", "# Simply one", "# One")
        self.build()
        self.assertNotIn("uncommitted", self.said())
        self.assertIn("nothing to do", self.trib("build").stdout)

    def test_other_files_do_not_count(self):
        self.write("notes.txt", "x")
        self.assertIn("nothing to do", self.trib("build").stdout)
        self.assertNotIn("uncommitted", self.said())

    def test_without_a_repository(self):
        run(["rm", "-rf", ".git"], self.dir)
        self.build()
        self.assertNotIn("commit", self.said())


if __name__ == "__main__":
    unittest.main()
