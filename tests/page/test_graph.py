"""The graph view: compiled units of a profile, and units, definitions and data flow of trib graph."""
import json
import unittest

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import PageTest

SOURCE = """import nn

@noinline
fn scale(x: Tensor<float32, [N, 16]>) -> Tensor<float32, [N, 16]> {
    return exp(x) * 2.0
}

layer Net() {
    let fc = nn.Linear(8, 16)
    fn forward(x: Tensor<float32, [N, 8]>) -> Tensor<float32, [N, 16]> {
        let y = fc(x)
        return scale(relu(y)) + y
    }
}
"""
MACHINE = {"id": "m", "cpu": "a CPU", "system": "s", "device": "cpu", "cores": 2, "memory_bytes": 1 << 30}


def build_of(n_units):
    """A build of a chain of callers: each calls the next ten units."""
    units = [{"kind": "unit", "name": f"unit{i} [N, 8]", "at": f"src/part{i // 100}.tri:{i % 100 + 1}", "wall_ns": [1_000_000 + 50_000_000 // (i + 1)], "calls": [1]} for i in range(n_units)]
    edges = [[i, k] for i in range(n_units) for k in range(10 * i + 1, min(10 * i + 11, n_units))]
    return {"type": "profile", "version": 1, "kind": "build", "trib": {"version": "0", "build": "0"}, "machine": MACHINE, "settings": {"models": "chain"}, "facts": {}, "samples": 1,
            "total": {"wall_ns": [n_units * 1_000_000]}, "items": units, "edges": edges}


class GraphPage(PageTest):
    def graph_of_project(self):
        self.write("src/net.tri", SOURCE)
        self.write("tri.build", "project p\n    version = 1.0\n\nmodel net\n    sources = src/*.tri\n    entry   = Net\n")
        self.trib("build", "--profile-out", "build.json")
        self.trib("graph", "-o", "graph.html")
        self.open("graph.html")
        self.wait(lambda: self.nodes(), "no graph")

    def nodes(self):
        return {n: (x, y, w) for n, x, y, w in self.js("const c = document.querySelector('.graph canvas'); return c ? c.boxes().map(b => [b.n.name, b.x, b.y, b.width]) : []")}

    def choose(self, label, text):
        box = next(e for e in self.shown().find_elements(By.TAG_NAME, "label") if e.text.startswith(label))
        next(o for o in box.find_elements(By.TAG_NAME, "option") if o.text == text).click()
        self.frames()

    def panel(self):
        return self.shown().find_element(By.TAG_NAME, "aside").text

    def test_data_flow(self):
        self.graph_of_project()
        self.assertEqual(self.tabs(), ["Graph"])
        nodes = self.nodes()
        self.assertEqual(set(nodes), {"x", "fc: Linear", "relu", "scale", "add", "out"})
        size = self.find(".graph canvas").size
        for x, y, w in nodes.values():  # all of it fits
            self.assertTrue(0 <= x and x + w <= size["width"] and 0 <= y <= size["height"])
        self.point("relu", click=True)
        self.assertIn("relu", self.tip())
        self.assertIn("gets (1)\nfc: Linear float32[N, 16]", self.panel())
        self.assertIn("flows to (1)\nscale float32[N, 16]", self.panel())
        next(e for e in self.shown().find_elements(By.TAG_NAME, "label") if e.text == "parameters").click()
        self.assertIn("fc.weight", self.nodes())
        self.point("scale", click=True)
        self.key(Keys.ENTER)
        self.assertEqual(set(self.nodes()), {"x", "exp", "mul", "out"})
        self.key(Keys.ESCAPE)
        self.assertIn("fc: Linear", self.nodes())
        self.choose("show", "definitions")
        self.assertTrue({"Net", "scale", "Linear"} <= set(self.nodes()))
        self.choose("show", "units and calls")
        self.assertIn("scale [N, 16]", self.nodes())
        self.assert_quiet()

    def test_keys_zoom_and_search(self):
        self.graph_of_project()
        self.choose("show", "units and calls")
        canvas = self.find(".graph canvas")
        self.js("arguments[0].focus()", canvas)
        self.key(Keys.ARROW_RIGHT)
        self.assertIn("Net() [N, 8]", self.panel())
        self.key(Keys.ARROW_RIGHT)
        self.assertIn("used by (1)\nNet() [N, 8]", self.panel())
        before = self.nodes()["Net() [N, 8]"][2]
        self.key("+")
        self.assertGreater(self.nodes()["Net() [N, 8]"][2], before)
        self.key("0")
        self.assertAlmostEqual(self.nodes()["Net() [N, 8]"][2], before)
        self.find("input[type=search]").send_keys("scale")
        self.wait(lambda: "1 match" in self.shown().text, "nothing was found")
        self.assertIn("scale [N, 16]", self.panel())

    def test_profile_and_graph_in_one_page(self):
        self.graph_of_project()
        self.trib("graph", "--format=json", "-o", "graph.json")
        self.trib("profile", "html", "build.json", "graph.json", "-o", "page.html")
        self.open("page.html")
        self.tab("Graph")
        self.assertEqual({n.split()[0] for n in self.nodes()}, {"Net()", "scale"})  # of the profile
        self.choose("show", "data flow of net, forward")
        self.assertIn("fc: Linear", self.nodes())
        self.assert_quiet()

    def test_damaged_graphs(self):
        self.graph_of_project()
        self.trib("graph", "--format=json", "-o", "graph.json")
        good = json.loads(self.read("graph.json"))
        unit = good["units"][-1]
        for name, damage in (("no units", lambda g: g.pop("units")), ("a unit without a name", lambda g: g["units"][0].pop("name")),
                             ("an absent unit", lambda g: g["units"][-1]["uses"].append(99)), ("an absent step", lambda g: g["units"][-1]["values"][0].update({"from": len(unit["steps"])})),
                             ("a negative entry", lambda g: g["models"][0]["entries"][0].update(unit=-1)), ("a number as a type", lambda g: g["units"][-1]["values"][0].update(type=3)),
                             ("an unknown definition", lambda g: g["definitions"][0]["uses"].append(10_000)), ("another callee", lambda g: g["units"][-1]["steps"][-2].update(unit="x"))):
            bad = json.loads(json.dumps(good))
            damage(bad)
            self.write("bad.json", json.dumps(bad).encode())
            self.assertIn("`bad.json` is damaged", self.fails("profile", "html", "build.json", "bad.json", code=3), name)
        self.write("cut.json", json.dumps(good)[:-20].encode())
        self.assertIn("cut.json", self.fails("profile", "html", "build.json", "cut.json", code=3))
        self.trib("profile", "html", "build.json", "graph.json")

    def test_many_units(self):
        self.write("big.json", json.dumps(build_of(100_000)).encode())
        self.trib("profile", "html", "big.json", "-o", "big.html")
        self.open("big.html")
        self.tab("Graph")
        self.wait(lambda: self.nodes(), "no graph")
        self.assertEqual(len(self.nodes()), 1000)  # a group for each file
        self.choose("group by", "nothing")
        self.assertEqual(len(self.nodes()), 100_000)
        self.find("input[type=search]").send_keys("unit77777 ")
        self.wait(lambda: "1 match" in self.shown().text, "nothing was found")
        self.assertIn("src/part777.tri:78", self.panel())
        self.assert_quiet()


if __name__ == "__main__":
    unittest.main()
