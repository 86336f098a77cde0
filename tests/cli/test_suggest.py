"""trib profile suggest: rules on real profiles, in every format, and variants that are really measured."""
import json
import unittest

from project import ProjectTest


class Suggest(ProjectTest):
    example = "digits"

    def suggestions(self, *args):
        r = json.loads(self.trib("profile", "suggest", *args, "--format=json").stdout)
        self.assertEqual(r["type"], "suggestions")
        return r["suggestions"]

    def run_profile(self):
        self.trib("bench", "--max-time", "200ms", "--threads", "1", "--profile-out", "run.json")

    def test_rows_of_a_batch(self):
        self.run_profile()
        batch = next(s for s in self.suggestions("run.json") if s["rule"] == "batch-calls")
        self.assertEqual((batch["type"], batch["edit"], batch["saving_kind"]), ("batching", "--batch 8", "estimated"))
        text = self.trib("profile", "suggest", "run.json").stdout
        self.assertIn("--batch 8", text)
        self.assertIn("(estimated)", text)
        self.assertIn("**", self.trib("profile", "suggest", "run.json", "--format=markdown").stdout)
        self.assertEqual(self.trib("profile", "suggest", "-", "--format=json", input=self.read("run.json").decode()).stdout, self.trib("profile", "suggest", "run.json", "--format=json").stdout)

    def test_variants_are_measured(self):
        self.run_profile()
        before = sorted(self.suggestions("run.json"), key=lambda s: s["rule"])
        measured = self.suggestions("run.json", "--try", "-n", "6")
        self.assertEqual(sorted(s["rule"] for s in measured), [s["rule"] for s in before])
        batch = next(s for s in measured if s["rule"] == "batch-calls")
        self.assertEqual(batch["saving_kind"], "measured")
        self.assertLessEqual(batch["low"], batch["saving"])
        self.assertLessEqual(batch["saving"], batch["high"])
        self.assertFalse([s for s in measured if s["rule"] not in ("batch-calls",) and s["edit"] is None and s["saving_kind"] == "measured"])

    def test_builds(self):
        self.trib("build", "-O2", "-j1", "--no-cache", "--profile-out", "build.json")
        p = json.loads(self.read("build.json"))
        p["total"]["peak_bytes"] = [2e8]
        self.write("build.json", json.dumps(p))
        memory = next(s for s in self.suggestions("build.json") if s["rule"] == "memory-of-builds")
        self.assertEqual((memory["type"], memory["edit"]), ("memory", "--low-memory"))
        self.assertEqual([s for s in self.suggestions("build.json", "--critical") if s["priority"] != "critical"], [])
        measured = next(s for s in self.suggestions("build.json", "--try", "-n", "6") if s["rule"] == "memory-of-builds")
        self.assertEqual(measured["saving_kind"], "measured")

    def test_bad_input(self):
        self.assertIn("missing.json", self.fails("profile", "suggest", "missing.json", code=3))
        self.write("x.json", '{"type":"suggestions"}')
        self.assertIn("x.json", self.fails("profile", "suggest", "x.json", code=3))
        self.run_profile()
        self.write("tri.build", "")
        self.assertIn("no model", self.fails("profile", "suggest", "run.json", "--try", "-n", "6", code=3))


if __name__ == "__main__":
    unittest.main()
