"""A small text to train on: sums, opposites, colours and plurals, one sentence a line."""

import random

OPPOSITES = "hot cold|big small|old young|wet dry|day night|up down|left right|loud quiet|fast slow|open shut".split(
    "|"
)
COLOURS = "sky blue|grass green|snow white|coal black|sun yellow|blood red|sea blue|leaf green|cloud white".split("|")
NUMBERS = "two three four five six seven eight nine".split()
PLURALS = "cat dog owl hen bird tree star boat lamp road".split()


def facts():
    """All sentences, those of a kind together."""
    sums = [(a, b) for a in range(10) for b in range(10 - a)]
    opposites = [tuple(pair.split()) for pair in OPPOSITES]
    return [
        [f"{a} + {b} = {a + b}" for a, b in sums],
        [f"{a + b} - {a} = {b}" for a, b in sums],
        [f"the opposite of {x} is {y}." for a, b in opposites for x, y in ((a, b), (b, a))],
        ["the {} is {}.".format(*pair.split()) for pair in COLOURS],
        [f"one {noun}, {number} {noun}s." for noun in PLURALS for number in NUMBERS],
    ]


def text(lines, seed=0):
    """That many lines, drawn from all kinds equally often."""
    kinds, draw = facts(), random.Random(seed)
    return "".join(f"{draw.choice(draw.choice(kinds))}\n" for _ in range(lines))


#: The characters of all sentences, in order: a token is an index. The first one ends a line.
CHARACTERS = "".join(sorted(set(text(3000))))


def encode(string):
    """Tokens of a text. Raises ValueError for a character that no sentence has."""
    return [CHARACTERS.index(c) for c in string]
