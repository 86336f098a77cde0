"""Programs that contain the compiler: installed, linked through pkg-config, with many threads, under the sanitizer of the build."""
import os
import shutil
import subprocess
import unittest

from project import SLOWER, SOURCE, TRIB, ProjectTest, run

BUILD_FOLDER = os.path.dirname(TRIB)
SANITIZE = os.environ.get("TRIB_SANITIZE", "")
NET = """\
import nn

layer Gate(width: int) {
    let fc = nn.Linear(width, width, bias=false)
    fn forward(x: Tensor<float32, [N, width]>) { return tanh(fc(x)) * sigmoid(x) }
}

layer Net() {
    let first = Gate(8)
    let second = Gate(8)
    let third = Gate(8)
    fn forward(x: Tensor<float32, [N, 8]>) { return third(second(first(x))) + softmax(x) }
}
"""
MANIFEST = "model net\n    sources = net.tri\n    entry = Net\n    input x = float32 [?, 8]\n    emit = library header live\n"


class HostTest(ProjectTest):
    def setUp(self):
        super().setUp()
        self.write("net.tri", NET)
        self.write("tri.build", MANIFEST)

    def compile(self, *flags):
        sanitize = ["-fsanitize=" + SANITIZE] if SANITIZE else []
        run(["cc", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", *sanitize, "-o", "host", os.path.join(SOURCE, "tests/lazy/host.c"), *flags, "-lpthread"],
            self.dir)

    def host(self, *args, **env):
        return run([self.path("host"), *args], self.dir, env={**self.env, **env}).stdout.split()


class Threads(HostTest):
    def test_first_calls_of_many_threads(self):
        lib = os.path.join(BUILD_FOLDER, "lib/trib")
        self.compile("-I" + os.path.join(SOURCE, "builder/lib"), "-I" + os.path.join(SOURCE, "backend/runtime/abi"), "-L" + lib, "-Wl,-rpath," + lib, "-ltrib")
        want, differ = self.host(self.dir, "1")
        self.assertEqual(differ, "0")
        shutil.rmtree(os.path.join(self.tmp, "cache"))
        shutil.rmtree(self.path(".trib"))
        rounds = "2" if SLOWER > 1 else "10"
        self.assertEqual(self.host(self.dir, "8", rounds), [want, "0"])
        self.assertEqual(self.host(self.dir, "8", rounds), [want, "0"])  # now from the cache
        self.assertEqual(self.host(self.dir, "8", "1", TRIB_CACHE="false"), [want, "0"])


@unittest.skipIf(SANITIZE or os.geteuid() != 0, "a setuid program needs root, and no sanitizer")
class Raised(HostTest):
    """A setuid program that another user starts: the environment decides nothing."""

    def setUp(self):
        super().setUp()
        lib = os.path.join(BUILD_FOLDER, "lib/trib")
        self.trib("build", "--lazy")
        self.marker = os.path.join(self.tmp, "open", "marker")
        os.mkdir(os.path.dirname(self.marker))
        self.write("evil.c", f'#include <stdio.h>\n__attribute__((constructor)) static void plant(void) {{ FILE *f = fopen("{self.marker}", "w"); if (f) fclose(f); }}\n')
        run(["cc", "-shared", "-fPIC", "-o", "evil.so", "evil.c"], self.dir)
        shutil.copy(self.path("evil.so"), self.path("build/libtrib.so"))
        run(["cc", "-std=c11", "-D_GNU_SOURCE", "-o", "host", os.path.join(SOURCE, "tests/lazy/raised.c"), "-I" + os.path.join(SOURCE, "builder/lib"),
             "-I" + os.path.join(SOURCE, "backend/runtime/abi"), "-L" + lib, "-Wl,-rpath," + lib, "-ltrib"], self.dir)
        for folder, _, names in os.walk(self.tmp):
            os.chmod(folder, 0o777)
        os.chmod(self.path("host"), 0o4755)

    def ask(self, *more, **env):
        env = {"PATH": os.environ["PATH"], **env}
        done = subprocess.run([self.path("host"), self.path("build/libnet.so"), "net_desc", *more], cwd=self.dir, env=env, user="nobody", group="nogroup", capture_output=True, text=True)
        if "secure" not in done.stdout:
            self.skipTest("setuid has no effect here: " + done.stdout + done.stderr)
        return done.stdout

    def test_a_planted_library(self):
        evil = self.path("evil.so")
        plain = run([self.path("host"), self.path("build/libnet.so"), "net_desc"], self.dir, env={"TRIB_LIBRARY": evil, "TRIB_CACHE": "false"}).stdout
        self.assertIn("plain", plain)
        self.assertTrue(os.path.exists(self.marker), "the library that the user names is opened in an ordinary process")
        os.unlink(self.marker)
        self.ask(TRIB_LIBRARY=evil)
        self.ask(LD_LIBRARY_PATH=self.path("build"))
        self.assertFalse(os.path.exists(self.marker))

    def test_no_cache_where_the_environment_says(self):
        for variable in ("TRIB_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
            place = os.path.join(self.tmp, "open", variable)
            self.ask(**{variable: place})
            self.assertFalse(os.path.exists(place), variable)

    def test_no_project_is_built(self):
        self.assertIn("raised privileges", self.ask(self.dir))

    def test_trib_itself(self):
        """Settings and folders of the environment are not read."""
        mine = self.path("trib")
        shutil.copy(TRIB, mine)
        os.chmod(mine, 0o4755)
        env = {"PATH": os.environ["PATH"], "TRIB_CACHE_SIZE": "1GiB", "TRIB_CACHE_DIR": "/planted", "HOME": "/planted", "XDG_CACHE_HOME": "/planted", "XDG_CONFIG_HOME": "/planted"}
        said = subprocess.run([mine, "config"], cwd="/", env=env, user="nobody", group="nogroup", capture_output=True, text=True).stdout
        self.assertIn("cache.dir", said)
        self.assertNotIn("/planted", said)
        self.assertIn("5GiB", said)


@unittest.skipIf(SANITIZE, "what is installed is built without sanitizers")
class Installed(HostTest):
    def setUp(self):
        super().setUp()
        there = os.path.join(self.tmp, "there")
        run(["cmake", "--install", BUILD_FOLDER, "--prefix", "/usr/local", "--strip"], self.tmp, env={"DESTDIR": there})
        self.prefix = os.path.join(self.tmp, "moved here")
        os.rename(os.path.join(there, "usr/local"), self.prefix)
        shutil.rmtree(there)
        self.exe = os.path.join(self.prefix, "bin/trib")

    def flags(self):
        pkg = {"PKG_CONFIG_PATH": os.path.join(self.prefix, "lib/pkgconfig")}
        return run(["sh", "-c", 'eval "printf \'%s\\n\' $(pkg-config --cflags --libs trib)"'], self.tmp, env=pkg).stdout.splitlines()

    def installed(self, *args):
        return run([self.exe, *args], self.dir, env=self.env).stdout

    def test_a_tree_that_was_moved(self):
        self.assertIn("linked", self.installed("build"))
        self.assertIn("nothing to do", self.installed("build"))
        self.assertTrue(self.installed("version").startswith("trib "))
        run(["git", "init", "-q", "."], self.dir)
        run(["git", "add", "-A"], self.dir)
        run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "x"], self.dir)
        self.edit("net.tri", "softmax(x)", "relu(x)")
        self.assertIn("1 of 1 models affected", self.installed("affected", "--since", "HEAD"))

    def test_a_program_that_finds_it_by_pkg_config(self):
        self.compile(*self.flags())
        where = {"LD_LIBRARY_PATH": os.path.join(self.prefix, "lib")}
        want = self.host(self.dir, "1", **where)
        self.assertEqual(self.host(self.dir, "4", "2", **where), want)
        self.assertEqual(self.installed("build", "--lazy").count("linked"), 1)

    def test_a_program_that_builds(self):
        run(["cc", "-o", "embed", os.path.join(SOURCE, "examples/embed/embed.c"), *self.flags(), "-lpthread"], self.tmp)
        done = run([os.path.join(self.tmp, "embed"), self.dir], self.tmp, env={**self.env, "LD_LIBRARY_PATH": os.path.join(self.prefix, "lib")})
        self.assertIn("build/libnet.so", done.stdout)

    def test_a_trib_that_is_replaced_while_a_program_builds(self):
        run(["cc", "-D_GNU_SOURCE", "-o", "checks", os.path.join(SOURCE, "tests/embed/checks.c"), *self.flags(), "-lpthread"], self.tmp)
        replace = f"cp '{self.exe}' '{self.exe}.new' && printf x >> '{self.exe}.new' && mv '{self.exe}.new' '{self.exe}' && sed -i s/softmax/sigmoid/ {self.path('net.tri')}"
        done = run([os.path.join(self.tmp, "checks"), "after_command", self.dir, replace], self.tmp, env={**self.env, "LD_LIBRARY_PATH": os.path.join(self.prefix, "lib")})
        self.assertEqual(done.stdout + done.stderr, "")

    def test_manual_and_completion(self):
        with open(os.path.join(self.prefix, "share/man/man1/trib.1"), encoding="utf-8") as f:
            text = f.read().replace("\\-", "-")
        for line in self.installed("--help").splitlines() + self.installed("build", "--help").splitlines():
            for word in line.split():
                if word.startswith("--") and not word.startswith("--dump") and word.strip("-"):
                    self.assertIn(word.rstrip(".,:)`"), text)
        done = run(["bash", "-c", f'. "{self.prefix}/share/bash-completion/completions/trib"; COMP_WORDS=(trib aff); COMP_CWORD=1; _trib; echo "${{COMPREPLY[*]}}"'], self.tmp)
        self.assertEqual(done.stdout, "affected\n")

    def test_no_path_of_the_build_is_in_it(self):
        for folder, _, names in os.walk(self.prefix):
            for name in names:
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    with open(path, "rb") as f:
                        self.assertNotIn(BUILD_FOLDER.encode(), f.read(), path)


if __name__ == "__main__":
    unittest.main()
