"""Limits set by the shell: trib ends with a message and an exit code, never by a signal."""
import resource
import unittest

from project import ProjectTest

NET = "layer Net() {\n    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 8]> {\n        return relu(x)\n    }\n}\n"
MANIFEST = "model net\n    sources = net.tri\n    entry = Net\n    input x = float32 [?, 8]\n"


class Limits(ProjectTest):
    def limited(self, size, *args):
        return self.trib(*args, ok=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY)))

    def test_file_size(self):
        """ulimit -f"""
        self.write("net.tri", NET)
        self.write("tri.build", MANIFEST)
        for size in (0, 512, 4096, 16384, 1 << 20):
            done = self.limited(size, "build")
            self.assertIn(done.returncode, (0, 3), f"{size}: {done.returncode} {done.stdout}{done.stderr}")
            if done.returncode:
                self.assertRegex(done.stderr, "File too large|cannot (write|be)")
            self.trib("clean")
        self.assertEqual(self.limited(1000, "build").returncode, 3)
        self.assertIn("linked", self.trib("build").stdout)

    def test_other_commands(self):
        for args in (["new", "hello"], ["cache", "stats"], ["config", "set", "cache.max_size", "1GiB"]):
            done = self.limited(0, *args)
            self.assertGreaterEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.limited(0, "new", "other").returncode, 3)


if __name__ == "__main__":
    unittest.main()
