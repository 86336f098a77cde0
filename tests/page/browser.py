"""A headless Chromium that shows pages of trib. A test fails if a page logs an error or asks for anything outside itself."""
import json
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from project import ProjectTest, wait_until


class PageTest(ProjectTest):
    def setUp(self):
        super().setUp()
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        self.browser_dir = tempfile.TemporaryDirectory(prefix="trib-browser-")
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,900", f"--user-data-dir={self.browser_dir.name}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.addCleanup(self.browser_dir.cleanup)
        self.addCleanup(self.browser.quit)

    def open(self, name):
        self.browser.get("file://" + self.path(name))

    def js(self, code, *args):
        return self.browser.execute_script(code, *args)

    def tabs(self):
        return [e.text for e in self.browser.find_elements(By.CSS_SELECTOR, "nav button")]

    def tab(self, title):
        """Opens a view with a click, and waits for two frames."""
        next(e for e in self.browser.find_elements(By.CSS_SELECTOR, "nav button") if e.text == title).click()
        self.frames()

    def frames(self):
        self.browser.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))")

    def shown(self):
        """The element of the open view."""
        return next(e for e in self.browser.find_elements(By.CSS_SELECTOR, "main > section") if e.is_displayed())

    def find(self, selector):
        return self.shown().find_element(By.CSS_SELECTOR, selector)

    wait = staticmethod(wait_until)

    def box(self, name, canvas=0):
        """The rectangle of a part on a canvas: x, y, width."""
        return self.js("const c = [...document.querySelectorAll('main > section:not([hidden]) canvas')].filter(c => c.boxes)[arguments[1]];"
                       "const b = c.boxes().find(b => (b.n ? b.n.name : b.s.item.path) === arguments[0]);"
                       "return b && [b.x, b.y, b.width ?? b.w]", name, canvas)

    def point(self, name, click=False):
        """Moves the pointer to a part on a canvas, and clicks there."""
        canvas = next(c for c in self.shown().find_elements(By.TAG_NAME, "canvas") if self.js("return !!arguments[0].boxes", c))
        x, y, width = self.box(name)
        size = canvas.size
        move = ActionChains(self.browser).move_to_element_with_offset(canvas, int(x + min(width, size["width"] - x) / 2 - size["width"] / 2), int(y + 8 - size["height"] / 2))
        (move.click() if click else move).perform()
        self.frames()

    def tip(self):
        return self.browser.find_element(By.ID, "tip").text

    def key(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()
        self.frames()

    def assert_quiet(self):
        """No error in the console, and no request but for the page itself."""
        self.assertEqual([e for e in self.browser.get_log("browser") if e["level"] == "SEVERE"], [])
        sent = [json.loads(e["message"])["message"] for e in self.browser.get_log("performance")]
        asked = [m["params"] for m in sent if m["method"] == "Network.requestWillBeSent" and m["params"]["documentURL"].startswith("file://")]
        self.assertTrue(asked)
        self.assertEqual([a["request"]["url"] for a in asked if not a["request"]["url"].startswith(("file://", "data:"))], [])
