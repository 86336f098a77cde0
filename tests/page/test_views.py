"""The views of kernels, of the cache and of suggestions."""
import json
import unittest

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import PageTest

MACHINE = {"id": "m", "cpu": "a CPU", "system": "s", "device": "cpu", "cores": 2, "memory_bytes": 1 << 30}
CEILINGS = {"ceiling.read_bytes": 10e9, "ceiling.copy_bytes": 10e9, "ceiling.float_ops": 100e9, "ceiling.int8_ops": 400e9}


def kernel(name, ms, data, operations, note="tri_matmul_f32"):
    return {"kind": "kernel", "name": name, "at": "net.tri:3", "note": note, "wall_ns": [ms * 1e6], "calls": [1], "bytes": [data], "operations": [operations]}


def run(facts, **more):
    """5 ms at the memory's rate, 10 ms at half of the ceiling for float32, 20 ms far below that for int8."""
    items = [kernel("add", 5, 50e6, 5e6), kernel("matmul", 10, 10e6, 500e6), kernel("trits", 20, 40e6, 400e6, "tri_matmul_trits_x"), kernel("copy", 5, 25e6, 0)]
    return {"type": "profile", "version": 1, "kind": "run", "trib": {"version": "0", "build": "0"}, "machine": MACHINE, "settings": {"models": "net"}, "facts": facts, "samples": 1,
            "total": {"wall_ns": [40e6]}, "items": items, **more}


class Views(PageTest):
    def page(self, *profiles):
        for i, p in enumerate(profiles):
            self.write(f"{i}.json", json.dumps(p).encode())
        self.trib("profile", "html", *(f"{i}.json" for i in range(len(profiles))), "-o", "page.html")
        self.open("page.html")

    def rows(self, caption):
        return self.js("""return [...document.querySelectorAll(`main > section:not([hidden]) table[aria-label='${arguments[0]}'] tbody tr`)].map(
            r => [...r.children].map(c => c.innerText.trim()))""", caption)

    def test_roofline(self):
        self.page(run(CEILINGS))
        self.tab("Roofline")
        rows = {r[0]: r[4:] for r in self.rows("kernels")}
        self.assertEqual(rows["add"], ["1.00 GOP/s", "10.0 GB/s", "0.100", "memory", "100 %", "at the memory's rate"])
        self.assertEqual(rows["matmul"][2:], ["50.0", "compute", "50 %", "2.0 times the least time"])
        self.assertEqual(rows["trits"][2:], ["10.0", "mixed", "20 %", "5.0 times the least time"])  # of 100 GOP/s: memory is the limit
        self.assertEqual((rows["copy"][0], *rows["copy"][4:]), ("", "50 %", "2.0 times the least time"))  # beside a copy
        circles = self.shown().find_elements(By.TAG_NAME, "circle")
        self.assertEqual([c.get_attribute("aria-label").split(":")[0] for c in circles], ["trits", "matmul", "add"])
        self.js("arguments[0].focus()", circles[0])
        self.assertIn("5.0 times the least time", self.tip())
        self.key(Keys.ARROW_RIGHT)
        self.assertIn("2.0 times the least time", self.tip())
        labels = [t.text for t in self.shown().find_elements(By.CSS_SELECTOR, "svg .roofname")]
        self.assertEqual(labels, ["float32: 100 GOP/s", "int8: 400 GOP/s", "memory: 10.0 GB/s"])
        self.find("input[type=search]").send_keys("trits")
        self.wait(lambda: len(self.rows("kernels")) == 1, "nothing was found")
        self.assert_quiet()

    def test_device(self):
        p = run({**CEILINGS, "device.run_ns": 1e6, "device.kernels_ns": 8e5, "utilisation": 0.8, "transfer.share": 0.1, "transfer.to_device_ns": 9e4, "transfer.to_device_bytes": 1e6,
                 "transfer.from_device_ns": 1e4, "transfer.from_device_bytes": 1e5})
        for item in p["items"]:
            if item["kind"] == "kernel":
                item.update(work_items=[640], work_group=[64], most_work_group=[256], occupancy=[0.25])
        self.page(p)
        self.assertIn("device busy\n80 %", self.shown().text)
        self.assertRegex(self.shown().text, r"transfers\n10 %\n1.05 MiB per run, 11.0 GB/s")
        self.tab("Roofline")
        self.assertTrue(all(r[-3:-1] == ["64", "25 %"] for r in self.rows("kernels") if "matmul" in r[0]), self.rows("kernels"))
        self.js("arguments[0].focus()", next(c for c in self.shown().find_elements(By.TAG_NAME, "circle") if "matmul" in c.get_attribute("aria-label")))
        self.assertIn("at most 25 %", self.tip())
        self.assert_quiet()

    def test_roofline_without_ceilings(self):
        self.page(run({}))
        self.tab("Roofline")
        self.assertIn("trib bench --profile-out", self.shown().text)
        self.assertEqual(len(self.shown().find_elements(By.TAG_NAME, "circle")), 3)
        self.assert_quiet()

    def test_cache(self):
        units = [{"kind": "unit", "name": n, "at": "net.tri:1", "note": why, "wall_ns": [ns]} for n, why, ns in
                 (("a [N]", "new", 5e6), ("b [N]", "its body changed (net.tri:1)", 9e6), ("c [N]", "its body changed (net.tri:9)", 1e6))]
        facts = {"cache.hits": 7, "cache.misses": 3, "cache.hit_rate": 0.7, "units": 10, "units.compiled": 3, "units.reused": 7, "compiled.new": 1, "compiled.new_ns": 5e6,
                 "compiled.its body changed": 2, "compiled.its body changed_ns": 10e6}
        self.page({**run(facts, items=units), "kind": "build"})
        self.tab("Cache")
        self.assertIn("70 %\n7 of 10 look-ups", self.shown().text)
        self.assertEqual([(r[0], r[1], r[3]) for r in self.rows("reasons")], [("its body changed", "2", "10.0 ms"), ("new", "1", "5.00 ms")])
        self.assertEqual([r[0] for r in self.rows("compiled units")], ["b [N]", "a [N]", "c [N]"])
        self.assertEqual(self.find("canvas").get_attribute("aria-label"), "hits: 7, its body changed: 2, new: 1")
        self.find("input[type=search]").send_keys("body")
        self.wait(lambda: len(self.rows("compiled units")) == 2, "nothing was found")
        self.assert_quiet()

    def cards(self):
        return {s.get_attribute("aria-label"): [c.text for c in s.find_elements(By.TAG_NAME, "article")] for s in self.shown().find_elements(By.CSS_SELECTOR, ".roadmap section")}

    def test_suggestions(self):
        base = {"rule": "r", "type": "algorithm", "priority": "high", "effort": "small", "item": "net/fc", "at": "net.tri:3", "evidence": "it is slow", "action": "make it fast",
                "edit": "fast()", "saving_kind": "estimated", "saving": 0.1}
        found = {"type": "suggestions", "kind": "run", "suggestions": [base, {**base, "item": "net/large", "saving": 0.4, "saving_kind": "measured", "low": 0.35, "high": 0.45},
                 {**base, "effort": "large", "type": "memory", "at": None, "edit": None, "saving": None, "saving_kind": "unknown"}]}
        self.page(run(CEILINGS), found)
        self.tab("Suggestions")
        cards = self.cards()
        self.assertEqual([len(cards[c]) for c in ("small effort", "medium effort", "large effort")], [2, 0, 1])
        self.assertIn("saves 40 %, measured (35 % to 45 %)", cards["small effort"][0])
        self.assertIn("saves about 10 %, estimated", cards["small effort"][1])
        self.assertIn("make it fast: fast()", cards["small effort"][1])
        self.assertIn("saving unknown", cards["large effort"][0])
        self.shown().find_element(By.CSS_SELECTOR, "select option[value=memory]").click()
        self.assertEqual([len(c) for c in self.cards().values()], [0, 0, 1])
        self.assert_quiet()

    def test_suggestions_of_the_rules(self):
        self.page(run(CEILINGS, settings={"models": "net", "threads": "2"}, total={"wall_ns": [40e6], "peak_bytes": [900e6]}))
        self.tab("Suggestions")
        self.assertIn("memory", str(self.cards()))
        self.assertIn("--try", self.shown().text)


if __name__ == "__main__":
    unittest.main()
