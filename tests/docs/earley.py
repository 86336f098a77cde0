"""Tests whether a tree-sitter grammar accepts a text, by Earley's algorithm (1970), without a generated parser. White space and comments are skipped. An
f-string is one token, as are strings and numbers."""
import re

TOKEN = re.compile(r"""(?P<skip>\s+|\#[^\n]*|/\*.*?\*/)|(?P<fstring>f"(?:[^"\\\n]|\\.)*"|f'(?:[^'\\\n]|\\.)*')|(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<float>\d[\d_]*(?:\.\d[\d_]*(?:[eE][+-]?\d+)?|[eE][+-]?\d+)|\.\d[\d_]*)|(?P<integer>0[xXbBoO]\w+|\d[\d_]*)|(?P<identifier>[A-Za-z_]\w*)
    |(?P<sign>\.\.\.|\.\.=|\.\.|->|\*\*|//|&&|\|\||[-+*/@<>=!]=|[-+*/%@<>=!?()\[\]{},;:.])|(?P<bad>.)""", re.X | re.S)
CLASSES = ("fstring", "string", "float", "integer", "identifier")


def tokens(text):
    return [(m.lastgroup, m.group()) for m in TOKEN.finditer(text) if m.lastgroup != "skip"]


class Grammar:
    """Context-free rules from a tree-sitter grammar in JSON; terminals are ("text", t) and ("class", name)."""

    def __init__(self, rules):
        self.rules = {}
        self.words = set()
        for name, rule in rules.items():
            if name not in CLASSES:
                self.rules[name] = self.expand(rule)
        self.nullable = set()
        while True:
            more = {n for n, alternatives in self.rules.items() if any(all(s in self.nullable for s in a) for a in alternatives)}
            if more == self.nullable:
                break
            self.nullable = more

    def expand(self, rule):
        """The alternatives of a rule, each a tuple of symbols."""
        kind = rule["type"]
        if kind == "BLANK":
            return [()]
        if kind == "STRING":
            self.words.add(rule["value"])
            return [(("text", rule["value"]),)]
        if kind == "SYMBOL":
            return [(("class", rule["name"]) if rule["name"] in CLASSES else rule["name"],)]
        if kind == "CHOICE":
            return [a for m in rule["members"] for a in self.expand(m)]
        if kind == "SEQ":
            return [tuple(self.symbol(m) for m in rule["members"])]
        if kind in ("REPEAT", "REPEAT1"):
            name = f"repeat {len(self.rules)} {id(rule)}"
            self.rules[name] = []
            inner = self.symbol(rule["content"])
            self.rules[name] = [(name, inner), (inner,) if kind == "REPEAT1" else ()]
            return [(name,)]
        return [(("class", "none"),)]  # a TOKEN: only within what CLASSES covers, and comments

    def symbol(self, rule):
        alternatives = self.expand(rule)
        if len(alternatives) == 1 and len(alternatives[0]) == 1:
            return alternatives[0][0]
        name = f"part {len(self.rules)} {id(rule)}"
        self.rules[name] = alternatives
        return name

    def matches(self, terminal, token):
        kind, value = terminal
        return token[1] == value if kind == "text" else token[0] == value and not (value == "identifier" and token[1] in self.words)

    def furthest(self, start, row):
        """How many tokens were read; all of them and one more where the row is a `start`."""
        done = [{} for _ in range(len(row) + 1)]  # per place: (rule, alternative, dot, origin), in order
        for a in self.rules[start]:
            done[0][(start, a, 0, 0)] = None
        for i in range(len(row) + 1):
            queue, waiting = list(done[i]), {}
            if not queue:
                return i - 1
            while queue:
                name, a, dot, origin = queue.pop()
                if dot < len(a) and isinstance(a[dot], tuple):
                    if i < len(row) and self.matches(a[dot], row[i]):
                        done[i + 1][(name, a, dot + 1, origin)] = None
                    continue
                found = []
                if dot < len(a):
                    waiting.setdefault(a[dot], []).append((name, a, dot, origin))
                    found = [(a[dot], b, 0, i) for b in self.rules[a[dot]]]
                    if a[dot] in self.nullable:
                        found.append((name, a, dot + 1, origin))
                else:
                    before = waiting.get(name, []) if origin == i else [x for x in done[origin] if x[2] < len(x[1]) and x[1][x[2]] == name]
                    found = [(n, b, d + 1, o) for n, b, d, o in before]
                for item in found:
                    if item not in done[i]:
                        done[i][item] = None
                        queue.append(item)
        complete = any(n == start and d == len(a) and o == 0 for n, a, d, o in done[len(row)])
        return len(row) + 1 if complete else len(row)
