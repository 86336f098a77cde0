"""trib profile html in a browser: each view shows the figures of the profile, zooms, searches, and answers to keys."""
import json
import os
import random
import unittest

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import PageTest

MACHINE = {"id": "0123456789abcdef", "cpu": "a CPU", "system": "Linux", "device": "cpu", "cores": 4, "memory_bytes": 1 << 34}


def document(items, kind="build", **more):
    """A profile of one sample. items: (kind, name, parent or None, wall)."""
    return {"type": "profile", "version": 1, "kind": kind, "trib": {"version": "0", "build": ""}, "machine": MACHINE, "settings": {"models": "net", "jobs": "4", "opt": "1"}, "facts": {},
            "samples": 1, "total": {"wall_ns": [sum(w for _, _, p, w in items if p is None)], "peak_bytes": [1 << 20]},
            "items": [{"kind": k, "name": n, **({} if p is None else {"parent": p}), "wall_ns": [w], "calls": [1]} for k, n, p, w in items], **more}


class Page(PageTest):
    example = "digits"

    def page(self, *profiles, **more):
        """Writes profiles as a.json, b.json …, and opens their page."""
        names = []
        for name, p in zip("abcdef", profiles):
            self.write(name + ".json", json.dumps(p))
            names.append(name + ".json")
        self.trib("profile", "html", *names, "-o", "page.html", **more)
        self.open("page.html")

    def test_real_builds_and_their_comparison(self):
        for name, level in (("one.json", "-O1"), ("two.json", "-O0")):
            self.trib("build", level, "--no-cache", "--profile-out", name)
            self.trib("clean")
        self.trib("profile", "html", "one.json", "two.json", "-o", "page.html")
        self.open("page.html")
        one = json.loads(self.read("one.json"))
        self.assertEqual(self.tabs()[:3], ["Overview", "Flame graph", "Timeline"])
        self.assertIn("Comparison", self.tabs())
        self.assertIn("units compiled\n" + str(one["facts"]["units.compiled"]), self.shown().text)
        for phase in ("setup", "codegen"):  # with their stages the costliest parts
            self.assertIn(phase + "/", self.shown().text)
        self.tab("Flame graph")
        self.point("codegen", click=True)
        self.assertIn("build\n›\ncodegen", self.find(".crumbs").text)
        self.assertGreater(self.box("codegen")[2], 900)
        self.key(Keys.ESCAPE)
        self.assertEqual(self.find(".crumbs button").text, "build")
        self.tab("Timeline")
        self.assertTrue(self.js("return [...document.querySelectorAll('#view-timeline canvas')][0].boxes().length > 5"))
        self.tab("Comparison")
        self.assertIn("different conditions", self.shown().text)
        self.assertIn("one.json against two.json", self.shown().text)
        self.assertEqual(len([c for c in self.shown().find_elements(By.TAG_NAME, "canvas")]), 2)
        self.assert_quiet()

    def test_a_run(self):
        self.trib("bench", "--max-time", "100ms", "--profile-out", "run.json")
        self.trib("profile", "html", "run.json", "-o", "page.html")
        self.open("page.html")
        run = json.loads(self.read("run.json"))
        kernel = max((i for i in run["items"] if i["kind"] == "kernel"), key=lambda i: i["wall_ns"][0])
        self.assertIn(kernel["name"], self.shown().text)
        self.assertIn(kernel["at"], self.shown().text)
        self.assertIn("OP/s", self.shown().text)
        self.tab("Flame graph")
        self.point(kernel["name"])
        self.assertIn(kernel["at"], self.tip())
        self.assert_quiet()

    def test_search_counts_each_time_once(self):
        self.page(document([("phase", "parse", None, 100), ("stage", "parse text", 0, 60), ("phase", "link", None, 300)]))
        self.tab("Flame graph")
        self.find("input[type=search]").send_keys("parse")
        self.wait(lambda: "2 matches" in self.shown().text, "the search")
        self.assertIn("2 matches, 25 % of the whole", self.shown().text)
        self.tab("Overview")
        self.key("/")
        self.key("link")
        self.wait(lambda: len(self.shown().find_elements(By.CSS_SELECTOR, "table[aria-label='costliest parts'] tbody tr")) == 1, "the table shows the part that matches")

    def test_keys_and_themes(self):
        self.page(document([("phase", "parse", None, 100), ("phase", "link", None, 300)]))
        self.js("setTheme('light')")
        light = self.js("return getComputedStyle(document.body).backgroundColor")
        self.key("d")
        self.assertNotEqual(self.js("return getComputedStyle(document.body).backgroundColor"), light)
        self.key("2")
        self.assertEqual(self.js("return open.id"), "flame")
        self.find("canvas").click()
        self.key(Keys.ESCAPE)
        self.key(Keys.ARROW_DOWN)
        self.assertIn("link", self.tip())  # the widest
        self.key(Keys.ARROW_RIGHT, Keys.ENTER)
        self.assertIn("build\n›\nparse", self.find(".crumbs").text)
        self.key("?")
        self.assertTrue(self.browser.find_element(By.TAG_NAME, "dialog").is_displayed())
        self.key(Keys.ESCAPE)
        self.assert_quiet()

    def test_the_timeline_zooms_and_shows_the_critical_path(self):
        spans = [[0, 0, 0, 1000, 1], [1, 1, 1000, 3000, 1], [2, 2, 1000, 500, 0]]
        self.page(document([("phase", "parse", None, 1000), ("task", "pack a", None, 3000), ("task", "pack b", None, 500)], spans=spans,
                           counters=[{"name": "memory", "unit": "bytes", "points": [[0, 5], [2000, 1 << 20]]}]))
        self.tab("Timeline")
        self.point("pack a")
        self.assertRegex(self.tip(), r"pack a\nfrom\n?\s*1.00 µs\ntook\n?\s*3.00 µs\nof all\n?\s*75 %\ncritical path\n?\s*yes")
        before = self.box("pack b")[2]
        self.find("canvas").click()
        self.key("+")
        self.wait(lambda: self.box("pack b") is None or self.box("pack b")[2] > 1.4 * before, "zoomed")
        self.key("0")
        self.wait(lambda: abs(self.box("pack b")[2] - before) < 1, "everything is shown")
        self.assert_quiet()

    def test_changes_and_gates(self):
        def recorded(factor):
            walls = [[1e8 * (1 + k / 500), 2e8 * factor * (1 + k / 500)] for k in range(12)]
            p = document([("phase", "parse", None, 1), ("phase", "codegen", None, 1)])
            p.update(samples=12, total={"wall_ns": [a + b for a, b in walls]})
            for k, item in enumerate(p["items"]):
                item.update(wall_ns=[w[k] for w in walls], calls=[1] * 12)
            return p
        self.write("old.json", json.dumps(recorded(1)))
        self.write("new.json", json.dumps(recorded(1.5)))
        gate = self.trib("profile", "check", "--baseline", "old.json", "new.json", "--metric", "wall", "--format", "json", ok=False)
        self.assertEqual(gate.returncode, 1, gate.stderr)
        self.write("gate.json", gate.stdout)
        self.trib("profile", "html", "old.json", "new.json", "gate.json", "-o", "page.html")
        self.open("page.html")
        self.assertRegex(self.find(".alert.bad").text, "codegen|whole process")
        self.tab("Comparison")
        rows = [r.text for r in self.shown().find_elements(By.CSS_SELECTOR, "tbody tr")]
        self.assertTrue(rows and all(r.startswith("regression") for r in rows), rows)
        self.assertTrue(any("codegen" in r and "x 1.50" in r for r in rows), rows)
        self.assert_quiet()

    def test_100_000_units(self):
        rng = random.Random(3)
        items, spans, ends = [("phase", "codegen", None, 10 ** 9)], [], [0] * 4
        for k in range(100_000):
            ns, lane = rng.randrange(1000, 10 ** 6), min(range(4), key=ends.__getitem__)
            items.append(("unit", f"Block_{k} [N, {k % 512}]", None, ns))
            spans.append([k + 1, lane + 1, ends[lane], ns, 0])
            ends[lane] += ns
        edges = [[k, k - rng.randrange(1, min(k, 50))] for k in range(2, 100_001)]
        self.page(document(items, spans=spans, edges=edges))
        for title in self.tabs():
            self.tab(title)
        self.assertIn("100,001 parts", self.js("show('overview'); return document.getElementById('view-overview').textContent"))
        self.assert_quiet()

    def test_texts_of_profiles_cannot_leave_the_data(self):
        evil = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">\u2028&amp;"
        p = document([("phase", evil, None, 10), ("unit", evil, None, 20)], settings={"models": evil})
        p["items"][0]["at"] = evil
        self.page(p, p)
        for title in self.tabs():
            self.tab(title)
        self.assertNotEqual(self.browser.title, "broken")
        self.assertIn("<script>", self.browser.title)
        self.assertIn("<img src=x", self.js("return document.body.innerText + document.getElementById('view-overview').textContent"))
        self.assert_quiet()

    def test_narrow_screens(self):
        self.browser.set_window_size(500, 800)
        self.page(document([("phase", "parse", None, 100), ("unit", "Block(64, 64, a_long_name=1) [N, 64, 56, 56]" * 3, None, 300)], spans=[[0, 0, 0, 9, 1]]))
        for title in self.tabs():
            self.tab(title)
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), self.js("return innerWidth"), title)
        self.assert_quiet()

    def test_what_is_not_a_profile(self):
        good = json.dumps(document([("phase", "parse", None, 100)]))
        for name, text in (("empty", ""), ("cut", good[:200]), ("foreign", '{"type":"report"}'), ("future", good.replace('"version": 1', '"version": 99')), ("check", '{"type":"check"')):
            self.write("x.json", text)
            message = self.fails("profile", "html", "x.json", code=3)
            self.assertIn("x.json", message, name)
        self.assertIn("missing.json", self.fails("profile", "html", "missing.json", code=3))
        self.write("gate.json", '{"type":"check","verdict":"passed","findings":[]}')
        self.assertIn("at least one profile", self.fails("profile", "html", "gate.json", code=2))
        self.assertFalse(os.path.exists(self.path("profile.html")))
        self.write("good.json", good)
        self.assertIn("no/page.html", self.fails("profile", "html", "good.json", "-o", "no/page.html", code=3))
        self.assertTrue(self.trib("profile", "html", "good.json", "-o", "-").stdout.startswith("<!DOCTYPE html>"))


if __name__ == "__main__":
    unittest.main()
