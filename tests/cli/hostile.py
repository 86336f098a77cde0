"""Hostile texts, and what no output may have of them. Independent of trib's own code: the characters are those that Unicode and ECMA-48 call controls or
that change the direction of text, and markdown is rendered by GitHub's program."""
import html.parser
import json
import re
import subprocess
import unicodedata

# Control characters of one and two bytes, of direction, of lines; invisible tags; bytes that are no UTF-8 are added as surrogates.
CONTROLS = "\x1b[2J\x1b]0;owned\x07\x9b31m\x7f\u061c\u200e\u200f\u202a\u202e\u2028\u2029\u2060\u2066\u2069\u206f\ufeff\ufff9\U000e0001\U000e0041"
MARKUP = "<img src=x onerror=alert(1)>&lt;b&gt;![i](i.png)[l](l.html)@evil a@evil.example #1 !2 GH-3 `c` |\\|| _u_ **b** ~~s~~ www.evil.example ##[error]##vso[error] \"q\" 'a'"
NAME = CONTROLS + MARKUP  # what a file may be called
TEXT = NAME + " http://evil.example/x </script> ```\n::error::forged\n##[error]\r\n/close\n# title\n@all"  # what a text may hold
PIECES = ["\x1b", "\x9b", "\u202e", "\U000e0041", "`", "``", "|", "\\", "[", "]", "(", ")", "##", "vso", "#", "@u", "<", ">", "&", '"', "'", "\n", "\t", "\r", "_", "*", "a", "www.", "http://",
          "GH-1", ":", "%", "漢", "/", "-", "!", "$", "<b>", "~~", " ", "1"]  # of random texts
BYTES = NAME.encode() + b"\xff\xc3"

ALLOWED = {"\n", "\t"}
STYLE = re.compile(rb"\x1b\[[0-9;]*[mK]|\r")  # colours, and a line that is drawn again: ours on a terminal


def is_unsafe(c):
    return c not in ALLOWED and (unicodedata.category(c) in ("Cc", "Cs") or c in "\u061c\u200e\u200f\u2028\u2029\ufeff" or unicodedata.bidirectional(c) in
                                 ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI") or 0x2060 <= ord(c) <= 0x206f or 0xfff9 <= ord(c) <= 0xfffb or 0xe0000 <= ord(c) <= 0xe007f)


def faults(data, terminal=False):
    """The unsafe characters of an output, each with what is around it."""
    text = (STYLE.sub(b"", data) if terminal else data).decode("utf-8", "surrogateescape")
    return [f"U+{ord(c):04X} in {text[max(0, i - 60):i + 20]!r}" for i, c in enumerate(text) if is_unsafe(c)][:3]


def strings(value):
    """All texts of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for v in value:
            yield from strings(v)
    elif isinstance(value, dict):
        for k, v in value.items():
            yield k
            yield from strings(v)


class Elements(html.parser.HTMLParser):
    """The elements, attributes and links of a page, and its text outside of code."""

    def __init__(self):
        super().__init__()
        self.elements, self.attributes, self.text, self.depth = set(), set(), "", 0

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes |= {a for a, _ in attrs}
        self.depth += tag in ("code", "pre", "script", "style")

    def handle_endtag(self, tag):
        self.depth -= tag in ("code", "pre", "script", "style")

    def handle_data(self, data):
        self.text += "□" if self.depth else data

    def handle_comment(self, data):
        self.elements.add("comment")


def read_page(text):
    page = Elements()
    page.feed(text)
    page.close()
    return page


def render(markdown):
    """The elements of markdown as GitHub's own program makes them."""
    done = subprocess.run(["cmark-gfm", "--unsafe", "-e", "footnotes", "-e", "table", "-e", "autolink", "-e", "strikethrough"],
                          input=markdown, capture_output=True, text=True, check=True)
    return read_page(done.stdout)


REPORT_ELEMENTS = {"p", "h3", "table", "thead", "tbody", "tr", "th", "td", "ul", "ol", "li", "strong", "code", "br"}
# What GitHub and GitLab find in the text of a page: mentions, references to issues, addresses, emoji.
REFERENCE = re.compile(r"@[A-Za-z0-9]|[#!&$%~][A-Za-z0-9\"]|\bGH-\d|https?://|www\.[a-z]|:[a-z]+:", re.I)


def markdown_faults(markdown):
    page = render(markdown)
    found = [f"element {e}" for e in sorted(page.elements - REPORT_ELEMENTS)] + [f"attribute {a}" for a in sorted(page.attributes - {"align", "start"})]
    found += [f"reference {m.group()!r} in {page.text[max(0, m.start() - 40):m.end() + 20]!r}" for m in REFERENCE.finditer(page.text)]
    return found + [f"quick action {line!r}" for line in markdown.splitlines() if re.match(r"\s*/[a-z]", line)]


def json_values(text):
    """The values of an output: one, or one in each line."""
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
