"""trib ci init: the recipes are valid, and their shell steps do on a good, a wrong and a slower project what they promise. --annotations."""
import json
import os
import re
import shutil
import subprocess
import unittest

import yaml

from project import SOURCE, TRIB, ProjectTest

WORK = "net"  # the project's folder in the repository


class Recipes(ProjectTest):
    def setUp(self):
        super().setUp()
        self.repository = self.dir
        self.dir = os.path.join(self.repository, WORK)
        shutil.copytree(os.path.join(SOURCE, "examples", "digits"), self.dir, ignore=shutil.ignore_patterns("build", ".trib"))
        subprocess.run(["git", "init", "-q", self.repository], check=True)
        self.bin = os.path.join(self.tmp, "bin")
        os.mkdir(self.bin)
        os.symlink(TRIB, os.path.join(self.bin, "trib"))
        for tool in ("gh", "curl"):  # note how the recipe comments
            with open(os.path.join(self.bin, tool), "w") as f:
                f.write('#!/bin/sh\necho "$0 $*" >> "$NOTES"\n')
            os.chmod(f.name, 0o755)
        self.env["NOTES"] = os.path.join(self.tmp, "notes")
        self.env["PATH"] = self.bin + ":" + os.environ["PATH"]

    def recipe(self, service, file):
        out = self.trib("ci", "init", service).stdout
        self.assertIn(file, out)
        with open(os.path.join(self.repository, file)) as f:
            return yaml.safe_load(f)

    def steps(self, steps, env):
        """Runs steps of (name, script, folder) as a service does: stops at the first that fails, but for those with `always`."""
        status, texts = 0, {}
        for k, (name, script, *more) in enumerate(steps):  # a busy machine slows small parts down by two: only the planted factor counts here
            steps[k] = (name, script.replace("trib profile check", "trib profile check --threshold 4"), *more)
        for name, script, folder, always in steps:
            if status and not always:
                continue
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], cwd=os.path.join(self.repository, folder), env={**os.environ, **self.env, **env},
                                  capture_output=True, text=True, timeout=600)
            texts[name] = done.stdout + done.stderr
            status = status or done.returncode
        return status, texts

    # ---- GitHub ----

    def github(self, event):
        recipe = self.github_recipe
        values = {"github.workspace": self.repository, "github.event_name == 'push'": str(event == "push").lower(), "github.token": "secret", "github.event.pull_request.number": "17"}
        expand = lambda text: re.sub(r"\$\{\{ (.*?) \}\}", lambda m: values[m[1]], str(text))
        env = {k: expand(v) for k, v in recipe["env"].items()}
        env.update(GITHUB_WORKSPACE=self.repository, GITHUB_STEP_SUMMARY=os.path.join(self.tmp, "summary"))
        job = recipe["jobs"]["trib"]
        steps = []
        for s in job["steps"]:
            condition = s.get("if", "")
            if "run" not in s or (condition.startswith("env.") and not env["TRIB_INSTALL"]) or ("pull_request" in condition and event != "pull_request"):
                continue
            env.update({k: expand(v) for k, v in s.get("env", {}).items()})
            steps.append((s["name"], s["run"], s.get("working-directory", job["defaults"]["run"]["working-directory"]), condition.startswith("always()")))
        return self.steps(steps, env)

    def test_github(self):
        self.github_recipe = self.recipe("github", ".github/workflows/trib.yml")
        self.assertEqual(set(self.github_recipe), {"name", True, "permissions", "env", "jobs"})  # YAML reads `on` as true
        self.assertEqual([s["uses"] for s in self.github_recipe["jobs"]["trib"]["steps"] if "uses" in s], ["actions/checkout@v4", "actions/cache@v4"])
        self.life_of_a_repository(lambda is_main: self.github("push" if is_main else "pull_request"))
        with open(self.env["NOTES"]) as f:
            self.assertRegex(f.read(), r"gh pr comment 17 .*--body-file .*profile\.md")
        with open(os.path.join(self.tmp, "summary")) as f:
            self.assertIn("REGRESSION", f.read())
        self.break_source()
        status, texts = self.github("pull_request")
        self.assertNotEqual(status, 0)
        self.assertIn(f"::error file={WORK}/src/digits.tri,line=14,col=17,endLine=14,endColumn=21,title=E0201::unknown name `rely`%0A", texts["build"])
        self.assertNotIn("test", texts)

    # ---- GitLab ----

    def gitlab(self, is_main):
        job = self.gitlab_recipe["trib"]
        env = {"CI_PROJECT_DIR": self.repository, "CI_DEFAULT_BRANCH": "main", "CI_COMMIT_BRANCH": "main" if is_main else "", "CI_API_V4_URL": "api", "CI_PROJECT_ID": "5"}
        if not is_main:
            env.update(CI_MERGE_REQUEST_IID="17", TRIB_TOKEN="secret")
        for k, v in job["variables"].items():
            env[k] = v.replace("$CI_PROJECT_DIR", self.repository)
        script = "\n".join(job["before_script"] + job["script"])
        return self.steps([("script", script, ".", False), ("after", "\n".join(job["after_script"]), ".", True)], env)

    def test_gitlab(self):
        self.gitlab_recipe = self.recipe("gitlab", ".gitlab-ci.yml")
        self.assertEqual(list(self.gitlab_recipe), ["trib"])
        self.life_of_a_repository(self.gitlab)
        with open(self.env["NOTES"]) as f:
            self.assertRegex(f.read(), r"curl .*--data-urlencode body@.*profile\.md .*api/projects/5/merge_requests/17/notes")
        self.break_source()
        status, _ = self.gitlab(False)
        self.assertNotEqual(status, 0)
        with open(os.path.join(self.repository, self.gitlab_recipe["trib"]["artifacts"]["reports"]["codequality"])) as f:
            (problem,) = json.load(f)
        self.assertEqual(problem["location"], {"path": f"{WORK}/src/digits.tri", "lines": {"begin": 14}})
        self.assertEqual((problem["check_name"], problem["severity"]), ("E0201", "major"))

    # ---- both ----

    def break_source(self):
        self.edit("src/digits.tri", "relu(fc1", "rely(fc1")

    def life_of_a_repository(self, push):
        """A branch before there is a baseline, the default branch, an equal branch, and a branch whose build is much slower."""
        baseline = os.path.join(self.repository, ".trib-ci", "baseline.json")
        status, texts = push(False)
        self.assertEqual(status, 0, texts)
        self.assertFalse(os.path.exists(baseline))
        status, texts = push(True)
        self.assertEqual(status, 0, texts)
        self.assertTrue(os.path.exists(baseline))
        status, texts = push(False)
        self.assertEqual(status, 0, texts)
        with open(baseline) as f:
            p = json.load(f)
        for values in [p["total"], *p["items"]]:  # as if the build had been faster
            for k in ("wall_ns", "cpu_ns"):
                if k in values:
                    values[k] = [v / 20 for v in values[k]]
        with open(baseline, "w") as f:
            json.dump(p, f)
        status, texts = push(False)
        self.assertEqual(status, 1, texts)
        self.assertIn("REGRESSION", "".join(texts.values()).upper())
        p["machine"]["id"] = "f" * 16  # a runner of another kind stops nothing, and the default branch writes its own baseline
        for is_main in (False, True):
            with open(baseline, "w") as f:
                json.dump(p, f)
            status, texts = push(is_main)
            self.assertEqual(status, 0, texts)
        with open(baseline) as f:
            self.assertNotEqual(json.load(f)["machine"]["id"], "f" * 16)

    def test_an_existing_recipe_stays(self):
        self.recipe("gitlab", ".gitlab-ci.yml")
        self.assertIn("--force", self.fails("ci", "init", "gitlab", code=2))
        self.trib("ci", "init", "gitlab", "--force")
        with open(os.path.join(self.repository, ".gitlab-ci.yml")) as f:
            self.assertEqual(self.trib("ci", "init", "gitlab", "-o", "-").stdout, f.read())
        self.trib("ci", "init", "github", "-o", "mine.yml")
        self.assertTrue(os.path.exists(self.path("mine.yml")))
        self.assertIn("ci init github", self.fails("ci", "init", "travis", code=2))
        self.fails("ci", "init", code=2)

    def test_annotations(self):
        self.write("src/a,b.tri", 'fn f(x: Tensor<float32, [4]>) -> Tensor<float32, [4]> {\n    return nothing(x)\n}\nfn g(x: Tensor<float32, [4]>) -> Tensor<float32, [4]> {\n    return nothing(x)\n}\n')
        done = self.trib("check", "src/a,b.tri", "--annotations=github", ok=False)
        self.assertEqual(done.returncode, 1)
        lines = [line for line in done.stdout.splitlines() if line.startswith("::error ")]
        self.assertEqual([re.search(r"line=(\d+)", line)[1] for line in lines], ["2", "5"])
        self.assertTrue(all("file=src/a%2Cb.tri," in line for line in lines))
        self.assertIn("error[", done.stderr)
        self.trib("check", "src/a,b.tri", "--annotations=gitlab", ok=False)
        problems = json.loads(self.read("gl-code-quality-report.json"))
        self.assertEqual(len({p["fingerprint"] for p in problems}), 2)
        before = [p["fingerprint"] for p in problems]
        self.write("src/a,b.tri", b"\n" + self.read("src/a,b.tri"))
        self.trib("check", "src/a,b.tri", "--annotations=gitlab", ok=False)
        self.assertEqual([p["fingerprint"] for p in json.loads(self.read("gl-code-quality-report.json"))], before)
        self.trib("build", "--annotations=gitlab", ok=False)
        self.write("src/a,b.tri", "")
        self.trib("build", "--annotations=gitlab")
        self.assertEqual(json.loads(self.read("gl-code-quality-report.json")), [])


if __name__ == "__main__":
    unittest.main()
