"""Every relative link in the documents, and every path and file name in backticks, names an existing file or folder of the repository."""
import glob
import os
import re
import tempfile
import unittest

SOURCE = os.environ.get("TRIB_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOMS = ("base", "scheduler", "frontend", "backend", "gpu", "builder", "tests", "examples", "scripts")
CODE = r"\.(?:c|cc|h|def|py|cmake|cl|pml)"
LINK = re.compile(r"\]\(([^)\s]+)\)")
BACKTICKS = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PATH = re.compile(r"[\w.{},*-]+(?:/[\w.{},*-]+)*/?")


def documents(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in ("out", "node_modules"))
        for name in sorted(files):
            if name.endswith(".md") and name != "LANGUAGE.md":  # whose backticks hold programs
                yield os.path.relpath(os.path.join(folder, name), root)


def without_fences(text):
    """Fenced code as empty lines, so that line numbers stay."""
    return re.sub(r"^```.*?^```$", lambda m: "\n" * m.group().count("\n"), text, flags=re.M | re.S)


def spread(text):
    """a_{b,c}.h -> a_b.h, a_c.h"""
    m = re.search(r"\{([^{}]*)\}", text)
    return [t for part in m[1].split(",") for t in spread(text[:m.start()] + part + text[m.end():])] if m else [text]


def headings(text):
    """The anchors that GitHub makes of the headings."""
    return {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", without_fences(text), re.M)}


def bases(page):
    """The folders that a path in a page may start from: the page's own, and those around it."""
    folder = os.path.dirname(page)
    while folder:
        yield folder
        folder = os.path.dirname(folder)
    yield ""


def exists(root, page, path):
    return any(glob.glob(os.path.join(root, base, path)) for base in bases(page))


def exists_below(root, page, name):
    """A bare file name: in the page's folder, in one around it, or anywhere in its room; a page at the root or of an example may name any file."""
    room = page.split("/")[0]
    where = room if room in ROOMS and room != "examples" else ""
    return exists(root, page, name) or bool(glob.glob(os.path.join(root, where, "**", name), recursive=True))


def is_path(root, page, text):
    """Whether a word in backticks names a file or folder of the repository: it begins with a folder there is, and is no path of the user's project."""
    if not PATH.fullmatch(text) or re.search(r"[A-Z]{3}|^\.|…", os.path.basename(text.rstrip("/"))) and not text.endswith(".md"):
        return False
    first = re.split(r"[/{*]", text)[0]
    return "/" in text and first not in ("", "out", "build") and exists(root, page, first)


def faults(root, page):
    with open(os.path.join(root, page), encoding="utf-8") as f:
        text = without_fences(f.read())
    for m in LINK.finditer(text):
        target, _, anchor = m[1].partition("#")
        if ":" in target:
            continue
        file = os.path.join(root, os.path.dirname(page), target) if target else os.path.join(root, page)
        line = text.count("\n", 0, m.start()) + 1
        if not os.path.exists(file):
            yield f"{page}:{line}: the link ({m[1]}) leads nowhere"
        elif anchor and file.endswith(".md"):
            with open(file, encoding="utf-8") as f:
                if anchor not in headings(f.read()):
                    yield f"{page}:{line}: the link ({m[1]}) names no heading"
    for m in BACKTICKS.finditer(text):
        line = text.count("\n", 0, m.start()) + 1
        for part in spread(m[1]):
            if is_path(root, page, part):
                if not exists(root, page, part):
                    yield f"{page}:{line}: there is no `{part}`"
            elif re.fullmatch(r"[a-z][\w*]*" + CODE, part) and not exists_below(root, page, part):
                yield f"{page}:{line}: there is no file `{part}`"


def table_faults(root, page):
    """The first column of a table of files names files, without their endings, that lie in the page's folder."""
    with open(os.path.join(root, page), encoding="utf-8") as f:
        lines = f.read().split("\n")
    folder, inside = os.path.join(root, os.path.dirname(page)), False
    for number, line in enumerate(lines, 1):
        inside = line.startswith("|") and (inside or line.startswith("| file |"))
        for name in BACKTICKS.findall(line.split("|")[1]) if inside else ():
            if not all(any(glob.glob(os.path.join(folder, n + end)) for end in ("", ".*")) for n in spread(name)):
                yield f"{page}:{number}: there is no file `{name}`"


class Faults(unittest.TestCase):
    """What the check finds in a page of a small tree."""

    def faults_of(self, text):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "builder", "store"))
            for name in ("builder/README.md", "builder/store/key.c", "builder/store/key.h"):
                open(os.path.join(root, name), "w", encoding="utf-8").close()
            page = os.path.join("builder", "store", "README.md")
            with open(os.path.join(root, page), "w", encoding="utf-8") as f:
                f.write(text)
            return len([*faults(root, page), *table_faults(root, page)])

    def test_what_exists(self):
        for text in ("[up](../README.md)", "[here](#a-page)\n# A page", "`key.c`, `store/key.h`, `builder/store/key.{c,h}`, `store/`", "| file | |\n|---|---|\n| `key` | |",
                     "`out/release/trib` `tri.build` `build/x.h` `a / b` `cmd_NAME`", "```\n`builder/gone.c`\n```", "[elsewhere](https://example.org/a)"):
            self.assertEqual(self.faults_of(text), 0, text)

    def test_what_does_not(self):
        for text in ("[gone](gone.md)", "[no heading](#gone)", "`gone.c`", "`builder/gone/`", "`store/gone.h`", "`store/{key,gone}.c`", "| file | |\n|---|---|\n| `gone` | |"):
            self.assertEqual(self.faults_of(text), 1, text)


class Links(unittest.TestCase):
    def test_documents(self):
        found = [fault for page in documents(SOURCE) for fault in [*faults(SOURCE, page), *table_faults(SOURCE, page)]]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_each_room_has_a_page(self):
        """Every room and every folder of C in it has a README.md."""
        missing = []
        for room in ROOMS[:6]:
            for folder, _, files in os.walk(os.path.join(SOURCE, room)):
                if any(f.endswith((".c", ".def")) for f in files) and not os.path.exists(os.path.join(folder, "README.md")):
                    missing.append(os.path.relpath(folder, SOURCE))
        self.assertEqual(missing, [])


if __name__ == "__main__":
    unittest.main()
