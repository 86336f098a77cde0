"""Dependencies from other machines: https with certificates and passwords, ssh. The servers run on this machine."""
import os
import shutil
import socket
import stat
import subprocess
import unittest

from project import SLOWER, TRIB, sleeps, wait_until
from repository import RepositoryTest, fn, model
from server import Server, certificate

# In ssh's place: notes how it was called, and runs what it was asked to.
SSH = """#!/bin/sh
printf '%s\\n' "$@" > "$SSH_NOTES"
test -t 0 && echo "a terminal" >> "$SSH_NOTES"
test -n "$SSH_SAYS" && echo "$SSH_SAYS" >&2 && exit 255
for word; do :; done
exec sh -c "$word"
"""


class Remote(RepositoryTest):
    def setUp(self):
        super().setUp()
        self.blocks = os.path.join(self.tmp, "blocks")
        os.mkdir(self.blocks)
        self.git("init", "-q", "-b", "main", ".", at=self.blocks)
        self.write("../blocks/blocks.tri", fn("gain", "x * 2.0"))
        self.first = self.commit(at=self.blocks)
        self.write("src/a.tri", "import blocks\n" + fn("A", "blocks.gain(x)"))
        self.config = os.path.join(self.tmp, "gitconfig")
        self.env.update(GIT_CONFIG_GLOBAL=self.config, GIT_CONFIG_NOSYSTEM="1", GIT_TERMINAL_PROMPT="0")
        for name in "GIT_ASKPASS", "SSH_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "SSL_CERT_FILE", "GIT_SSL_NO_VERIFY":
            os.environ.pop(name, None)

    def ask_for(self, address):
        self.write("tri.build", model("a", "A") + f"\ndependency blocks\n    git = {address}\n")

    def configure(self, *settings):
        for key, value in settings:
            subprocess.run(["git", "config", "-f", self.config, "--add", key, value], check=True)

    def fetched(self):
        """Builds from nothing: was it fetched?"""
        shutil.rmtree(os.path.join(self.tmp, "cache"), True)
        self.build()
        self.assertIn(f"commit = {self.first}", self.read("tri.lock").decode())
        os.unlink(self.path("tri.lock"))

    def refused(self):
        shutil.rmtree(os.path.join(self.tmp, "cache"), True)
        said = self.fails("build", code=3)
        self.assertIn("E0813", said)
        self.assertIn("tri.build:6", said)
        return said

    def script(self, name, text):
        path = os.path.join(self.tmp, name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, stat.S_IRWXU)
        return path


class Https(Remote):
    def serve(self, password=None):
        self.pem = certificate(self.tmp)
        self.server = Server(self.tmp, self.pem, password)
        self.addCleanup(self.server.close)
        self.ask_for(self.server.url + "/blocks/.git")

    def test_certificates(self):
        self.serve()
        said = self.refused()
        self.assertIn("certificate", said)
        self.assertIn("GIT_SSL_CAINFO", said)
        self.assertFalse(os.path.exists(self.path("tri.lock")))
        for name in "GIT_SSL_CAINFO", "SSL_CERT_FILE":
            self.env[name] = self.pem
            self.fetched()
            del self.env[name]
        self.env["GIT_SSL_NO_VERIFY"] = "1"
        self.fetched()
        del self.env["GIT_SSL_NO_VERIFY"]
        self.env["GIT_SSL_CAINFO"] = self.path("nowhere.pem")
        self.assertIn("ca-certificates", self.refused())

    def test_settings(self):
        self.serve()
        self.configure((f"http.{self.server.url}.sslCAInfo", self.pem), ("http.sslCAInfo", "/nowhere"), ("http.https://elsewhere.sslVerify", "false"))
        self.fetched()
        self.configure((f"http.{self.server.url}/blocks.extraHeader", "X-Wanted: yes"), ("http.https://localhost:1.extraHeader", "X-Other: yes"))
        self.fetched()
        seen = self.server.http.headers_seen[-1]
        self.assertEqual(seen.get("X-Wanted"), "yes")
        self.assertNotIn("X-Other", seen)

    def test_another_name(self):
        """url.BASE.insteadOf: the lock file keeps the address of the manifest."""
        self.serve()
        self.env["GIT_SSL_CAINFO"] = self.pem
        self.configure((f"url.{self.server.url}/.insteadOf", "https://blocks.example/"))
        self.ask_for("https://blocks.example/blocks/.git")
        self.build()
        self.assertIn("git = https://blocks.example/blocks/.git\n", self.read("tri.lock").decode())

    def test_password(self):
        self.serve("me:secret word")
        self.env["GIT_SSL_CAINFO"] = self.pem
        said = self.refused()
        self.assertIn("requires a name and a password", said)
        self.assertIn("credential.helper", said)
        notes = os.path.join(self.tmp, "helped")
        helper = self.script("helper", f'#!/bin/sh\necho "$1" >> {notes}\ntest "$1" = get && printf "username=me\\npassword=$SECRET\\n"\nexit 0\n')
        self.configure(("credential.helper", helper))
        self.env["SECRET"] = "secret word"
        self.fetched()
        with open(notes) as f:
            self.assertEqual(f.read().split(), ["get", "store"])
        os.unlink(notes)
        self.env["SECRET"] = "wrong"
        self.assertIn("rejected", self.refused())
        with open(notes) as f:
            self.assertEqual(f.read().split(), ["get", "erase"])

    def test_askpass(self):
        self.serve("me:secret word")
        self.env["GIT_SSL_CAINFO"] = self.pem
        self.env["GIT_ASKPASS"] = self.script("askpass", '#!/bin/sh\ncase "$1" in Username*) echo me;; *) echo "secret word";; esac\n')
        self.fetched()

    def test_password_in_the_address(self):
        self.serve("me:secret")
        self.env["GIT_SSL_CAINFO"] = self.pem
        self.ask_for(self.server.url.replace("://", "://me:secret@") + "/blocks/.git")
        self.fetched()

    def test_no_such_repository(self):
        self.serve()
        self.env["GIT_SSL_CAINFO"] = self.pem
        self.ask_for(self.server.url + "/bloks")
        self.assertIn("git ls-remote", self.refused())

    def test_a_submodule_beside(self):
        self.serve()
        self.env["GIT_SSL_CAINFO"] = self.pem
        inner = os.path.join(self.tmp, "inner")
        os.mkdir(inner)
        self.git("init", "-q", "-b", "main", ".", at=inner)
        self.write("../inner/inner.tri", fn("inner", "x * 3.0"))
        self.commit(at=inner)
        self.git("submodule", "-q", "add", inner, "parts/inner", at=self.blocks)
        self.git("config", "-f", ".gitmodules", "submodule.parts/inner.url", "../../inner/.git", at=self.blocks)
        self.write("../blocks/blocks.tri", 'import "parts/inner/inner.tri" as inner\n' + fn("gain", "inner.inner(x)"))
        self.first = self.commit(at=self.blocks)
        self.fetched()

    def test_no_server(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.ask_for(f"https://localhost:{s.getsockname()[1]}/blocks")
            self.assertIn("failed to connect", self.refused().lower())

    def test_a_server_that_says_nothing(self):
        """Ctrl-C ends it."""
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            self.ask_for(f"https://localhost:{s.getsockname()[1]}/blocks")
            at = subprocess.Popen([TRIB, "build"], cwd=self.dir, env={**os.environ, **self.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            connection, _ = s.accept()
            self.assertTrue(connection.recv(1))  # it has greeted
            wait_until(lambda: sleeps(at.pid), "it does not wait for the answer")
            at.send_signal(2)
            out, err = at.communicate(timeout=20 * SLOWER)
            connection.close()
        self.assertEqual(at.returncode, 130, err)
        self.assertNotIn("E0813", err)

    def test_two_builds_at_once(self):
        self.serve()
        self.env["GIT_SSL_CAINFO"] = self.pem
        other = os.path.join(self.tmp, "other")
        shutil.copytree(self.dir, other, ignore=shutil.ignore_patterns(".git"))
        ends = [subprocess.Popen([TRIB, "build"], cwd=d, env={**os.environ, **self.env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                for d in (self.dir, other) for _ in range(2)]
        for end in ends:
            said = end.communicate(timeout=120 * SLOWER)[0]
            self.assertEqual(end.returncode, 0, said)
        with open(os.path.join(other, "tri.lock")) as f:
            self.assertEqual(f.read(), self.read("tri.lock").decode())


class Ssh(Remote):
    def setUp(self):
        super().setUp()
        self.notes = os.path.join(self.tmp, "notes")
        self.env["SSH_NOTES"] = self.notes
        self.ssh = self.script("ssh", SSH)
        self.env["PATH"] = self.tmp + ":" + os.environ["PATH"]

    def words(self):
        with open(self.notes) as f:
            return f.read().splitlines()

    def test_addresses(self):
        wish = f"git-upload-pack '{self.blocks}'"
        for address, words in ((f"ssh://me@host.example{self.blocks}", ["me@host.example", wish]), (f"me@host.example:{self.blocks}", ["me@host.example", wish]),
                               (f"ssh://host.example:2222{self.blocks}", ["-p", "2222", "host.example", wish]), (f"git+ssh://me@[::1]:22{self.blocks}", ["-p", "22", "me@::1", wish])):
            self.ask_for(address)
            self.fetched()
            self.assertEqual(self.words(), words)

    def test_no_files_of_this_machine(self):
        """A repository elsewhere names none here: neither as a submodule nor as a dependency."""
        inner = os.path.join(self.tmp, "inner")
        os.mkdir(inner)
        self.git("init", "-q", "-b", "main", ".", at=inner)
        self.write("../inner/inner.tri", fn("inner", "x * 3.0"))
        self.commit(at=inner)
        self.git("submodule", "-q", "add", inner, "parts/inner", at=self.blocks)
        self.ask_for(f"ssh://host.example{self.blocks}")
        for url in (inner, "file://" + inner, "FILE://" + inner):
            self.git("config", "-f", ".gitmodules", "submodule.parts/inner.url", url, at=self.blocks)
            self.commit(at=self.blocks)
            said = self.refused()
            self.assertIn("submodule `parts/inner`", said)
            self.assertIn("is on this machine", said)
        self.git("rm", "-qf", "parts/inner", at=self.blocks)
        self.write("../blocks/tri.build", f"project blocks\n\ndependency inner\n    git = {inner}\n")
        self.first = self.commit(at=self.blocks)
        said = self.fails("build", code=1)
        self.assertIn("dependency `inner` has a local address", said)
        self.write("tri.build", self.read("tri.build").decode() + f"\ndependency inner\n    git = {inner}\n")
        self.fetched()

    def test_a_quote_in_the_path(self):
        odd = os.path.join(self.tmp, "it's")
        os.rename(self.blocks, odd)
        self.ask_for(f"me@host.example:{odd}")
        self.fetched()

    def test_no_option(self):
        for address in "ssh://-oProxyCommand=x/blocks", "-oProxyCommand=x:blocks", "ssh://host:-p/x", "host:-x":
            self.ask_for(address)
            said = self.refused()
            self.assertFalse(os.path.exists(self.notes), said)

    def test_other_commands(self):
        other = self.script("other", SSH)
        self.ask_for(f"me@host.example:{self.blocks}")
        os.unlink(self.ssh)
        self.script("ssh", "#!/bin/sh\nexit 1\n")
        self.env["GIT_SSH"] = other
        self.fetched()
        del self.env["GIT_SSH"]
        self.env["GIT_SSH_COMMAND"] = f"{other} -i 'my key'"
        self.fetched()
        self.assertEqual(self.words()[:2], ["-i", "my key"])
        del self.env["GIT_SSH_COMMAND"]
        self.configure(("core.sshCommand", f"{other} -4"))
        self.fetched()
        self.assertEqual(self.words()[0], "-4")

    def test_failures(self):
        self.ask_for(f"me@host.example:{self.blocks}")
        self.env["SSH_SAYS"] = "me@host.example: Permission denied (publickey)."
        said = self.refused()
        self.assertIn("Permission denied (publickey)", said)
        self.assertIn("ssh-add", said)
        del self.env["SSH_SAYS"]
        self.ask_for("me@host.example:/nowhere/at/all")
        self.assertIn("/nowhere/at/all", self.refused())
        self.env["GIT_SSH"] = "/nowhere/ssh"
        self.assertIn("cannot start `/nowhere/ssh`", self.refused())


if __name__ == "__main__":
    unittest.main()
