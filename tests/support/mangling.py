"""Slips in a text: words left out, repeated, exchanged, or replaced by what no author means."""

import random
import re

TOKEN = re.compile(r"\s+|[A-Za-z_][A-Za-z_0-9]*|[0-9.]+(?:e[+-]?\d+)?|.", re.DOTALL)
STRANGE = (
    *(
        "1e400",
        "-1e-400",
        "nan",
        "inf",
        "9" * 400,
        "0",
        "-1",
        "1/0",
        "10^10^10",
        "(1/3)^(10^6)",
        "sqrt(-1)",
        "1e200*1e200",
    ),
    *("Ω", "µ", "²", "\u202e", "\ufeff", "\U0001f600", "\x00", "\x07", "\t", "\r", "x" * 5000),
    *(
        "&a [*a]",
        "*a",
        "!!python/object/apply:os.system ['true']",
        "---",
        "|",
        "?",
        "{",
        "}",
        "[",
        "]",
        "'",
        '"',
        "#",
        ":",
    ),
    *("(" * 3000 + ")" * 3000, "[" * 3000 + "]" * 3000, "-" * 3000, "1+" * 3000 + "1", "{repeat: 1000000000}"),
)
"""Numbers without a value, letters that few expect, signs that YAML obeys, and depths without end."""


def mangled(text: str, chance: random.Random) -> str:
    """The text with one or two slips in it."""
    for _ in range(chance.choice((1, 1, 2))):
        tokens = TOKEN.findall(text)
        solid = [k for k, token in enumerate(tokens) if token.strip()]
        i, j = chance.choice(solid), chance.choice(solid)
        slip = chance.randrange(6)
        if slip == 0:
            del tokens[i : i + chance.randrange(1, 4)]
        elif slip == 1:
            tokens.insert(i, tokens[j])
        elif slip == 2:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif slip == 3:
            tokens = tokens[: i + 1]
        else:
            tokens[i] = chance.choice(STRANGE)
        text = "".join(tokens)
    return text
