"""trib fmt through the real executable."""
import os
import subprocess
import unittest

from project import SOURCE, TRIB, ProjectTest

UGLY = "fn f( x ){ # why\nreturn   x+1\n}\n"
NEAT = "fn f(x) {  # why\n    return x + 1\n}\n"
BROKEN = "fn f( {\n"


class Fmt(ProjectTest):
    def stdin(self, text, *args):
        return subprocess.run([TRIB, "fmt", "-", *args], cwd=self.dir, input=text, capture_output=True, text=True, timeout=60, check=False)

    def test_a_file_in_place_with_its_permissions(self):
        self.write("a.tri", UGLY)
        os.chmod(self.path("a.tri"), 0o662)
        self.assertEqual(self.trib("fmt", "a.tri").stdout, "")
        self.assertEqual(self.read("a.tri").decode(), NEAT)
        self.assertEqual(os.stat(self.path("a.tri")).st_mode & 0o777, 0o662)
        self.assertEqual(os.listdir(self.dir), ["a.tri"])

    def test_a_formatted_file_is_not_touched(self):
        self.write("a.tri", NEAT)
        os.utime(self.path("a.tri"), ns=(1, 1))
        before = os.stat(self.path("a.tri"))
        self.trib("fmt", "a.tri")
        after = os.stat(self.path("a.tri"))
        self.assertEqual((before.st_mtime_ns, before.st_ino), (after.st_mtime_ns, after.st_ino))

    def test_a_link_is_not_replaced(self):
        self.write("real/a.tri", UGLY)
        os.symlink("real/a.tri", self.path("b.tri"))
        self.trib("fmt", "b.tri")
        self.assertTrue(os.path.islink(self.path("b.tri")))
        self.assertEqual(self.read("real/a.tri").decode(), NEAT)

    def test_a_link_out_of_the_project_is_formatted_only_by_name(self):
        ugly = "layer  Net(x: Tensor<float32, [4]>) -> Tensor<float32, [4]> { return reluu(x) }\n"
        outside = os.path.join(self.tmp, "outside.tri")
        self.write(outside, ugly)
        self.write("tri.build", "project p\n\nmodel p\n    sources = src/*.tri\n    entry = Net\n")
        os.mkdir(self.path("src"))
        os.symlink(outside, self.path("src/a.tri"))
        for words in ([], ["src"]):
            self.assertIn("`src/a.tri` leads out of the project and is left unchanged", self.trib("fmt", *words).stderr)
        self.assertIn("reluu", self.fails("check", "--fix"))
        self.assertEqual(self.read(outside).decode(), ugly)
        self.trib("fmt", "src/a.tri")
        self.assertEqual(self.read(outside).decode(), ugly.replace("  ", " "))

    def test_check_lists_what_would_change(self):
        self.write("ugly.tri", UGLY)
        self.write("neat.tri", NEAT)
        done = self.trib("fmt", "--check", "ugly.tri", "neat.tri", ok=False)
        self.assertEqual((done.returncode, done.stdout), (1, "ugly.tri\n"))
        self.assertEqual(self.read("ugly.tri").decode(), UGLY)
        self.assertEqual(self.trib("fmt", "--check", "neat.tri").stdout, "")

    def test_diff_is_a_patch(self):
        lines = [f"const A{i} = {i}\n" for i in range(40)]
        lines[3], lines[30], lines[39] = "const A3=3\n", "const   A30 = 30\n", "const A39=39"
        self.write("a.tri", "".join(lines))
        patch = self.trib("fmt", "--diff", "a.tri").stdout
        self.assertEqual(patch.count("@@ -"), 3)
        self.assertIn("-const A3=3\n+const A3 = 3\n", patch)
        self.assertIn("\\ No newline at end of file\n", patch)
        subprocess.run(["git", "apply", "-p0"], cwd=self.dir, input=patch, text=True, check=True)
        patched = self.read("a.tri")
        self.write("a.tri", "".join(lines))
        self.trib("fmt", "a.tri")
        self.assertEqual(patched, self.read("a.tri"))

    def test_standard_input(self):
        self.assertEqual(self.stdin(UGLY).stdout, NEAT)
        self.assertEqual(self.stdin("").stdout, "")
        done = self.stdin(UGLY, "--check")
        self.assertEqual((done.returncode, done.stdout), (1, "<stdin>\n"))

    def test_syntax_errors_leave_a_file_alone(self):
        self.write("bad.tri", BROKEN)
        self.write("ugly.tri", UGLY)
        done = self.trib("fmt", "bad.tri", "ugly.tri", ok=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("bad.tri:1:7", done.stderr)
        self.assertEqual(self.read("bad.tri").decode(), BROKEN)
        self.assertEqual(self.read("ugly.tri").decode(), NEAT)
        done = self.stdin(BROKEN)
        self.assertEqual((done.returncode, done.stdout), (1, ""))

    def test_folders_and_the_project(self):
        self.write("src/deep/a.tri", UGLY)
        self.write("src/b.tri", UGLY)
        self.write("src/notes.txt", UGLY)
        self.write("tri.build", "model m\n    sources = src/*.tri\n    entry = f\n")
        self.trib("fmt")
        self.assertEqual([self.read(f"src/{n}").decode() == NEAT for n in ("b.tri", "deep/a.tri", "notes.txt")], [True, False, False])
        self.trib("fmt", ".")
        self.assertEqual(self.read("src/deep/a.tri").decode(), NEAT)
        self.assertEqual(self.read("src/notes.txt").decode(), UGLY)

    def test_unreadable_files_are_reported(self):
        done = self.trib("fmt", "nowhere.tri", ok=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn("nowhere.tri", done.stderr)

    def test_new_projects_are_formatted(self):
        self.trib("new", "hello")
        self.trib("fmt", "--check", "hello")

    def test_windows_line_ends_and_byte_order_marks_are_removed(self):
        self.write("a.tri", b"\xef\xbb\xbf" + UGLY.replace("\n", "\r\n").encode())
        self.trib("fmt", "a.tri")
        self.assertEqual(self.read("a.tri").decode(), NEAT)


class Sources(unittest.TestCase):
    def test_examples_and_the_standard_library_are_formatted(self):
        done = subprocess.run([TRIB, "fmt", "--check", "frontend/std", "examples"], cwd=SOURCE, capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout + done.stderr, "")


if __name__ == "__main__":
    unittest.main()
