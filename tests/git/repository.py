"""A project in a repository of its own."""
import json
import os

from project import ProjectTest, run

FN = "fn {name}(x: Tensor<float32, [4]>) -> Tensor<float32, [4]> {{\n    return {body}\n}}\n"


def fn(name, body):
    return FN.format(name=name, body=body)


def model(name, entry, more=""):
    return f"model {name}\n    sources = src/{name}.tri\n    entry = {entry}\n    input x = float32 [4]\n{more}"


class RepositoryTest(ProjectTest):
    folder = ""  # of the project in the repository

    def setUp(self):
        super().setUp()
        self.env.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null", HOME=self.tmp)
        self.top = self.dir
        self.git("init", "-q", "-b", "main", ".")
        self.dir = os.path.join(self.top, self.folder)
        os.makedirs(self.dir, exist_ok=True)

    def git(self, *args, at=None):
        settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
        return run(["git", *settings, *args], at or self.top, env=self.env).stdout.strip()

    def commit(self, at=None):
        self.git("add", "-A", at=at)
        self.git("commit", "-q", "--allow-empty", "-m", "x", at=at)
        return self.git("rev-parse", "HEAD", at=at)

    def affected(self, *args, since="HEAD", **more):
        return json.loads(self.trib("affected", "--since", since, "--format", "json", *args, **more).stdout)

    def definitions(self, *args, since="HEAD"):
        """{name: change} of all reported definitions."""
        return {d["name"]: d["change"] for d in self.affected(*args, since=since)["definitions"]}

    def models(self, *args, since="HEAD"):
        return {m["name"] for m in self.affected(*args, since=since)["models"] if m["affected"]}

    def reasons(self, name, since="HEAD"):
        record = self.affected(since=since)
        return [(r["reason"], r["of"]) for m in record["models"] if m["name"] == name for r in m["reasons"]]
