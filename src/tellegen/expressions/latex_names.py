r"""Names in LaTeX, as papers set them: one way for equations and figures.

`omega_m` is \omega_{m}, `V_R_a` the voltage at R_a, V_{R_{a}}; words of several letters are upright, those of a path stand behind:
`drive.motor.L_a` is L_{\text{a,drive,motor}}.
"""

import re
from functools import lru_cache

GREEK = frozenset(
    (
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"),
        *("xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
        *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
        *("varepsilon", "vartheta", "varphi", "varrho"),
    )
)
_WORDS = re.compile(r"(?P<own>[A-Za-z]\w*)(?:\[(?P<index>[\d,]+)\])?")
_RATES = {"dPhi": r"\dot{\Phi}", "dS": r"\dot{S}"}
"""Power variables that are named as rates."""


@lru_cache(maxsize=10_000)
def latex_name(name: str) -> str:
    r"""A name or path in LaTeX: `omega_m` is \omega_{m}, `drive.motor.L_a[3]` is L_{\text{a,3,drive,motor}}."""
    *owners, last = name.split(".")
    found = _WORDS.fullmatch(last)
    if found is None:
        return _upright(name)
    head, *words = [word for word in found["own"].split("_") if word]
    letters = head.rstrip("0123456789") or head
    owned = [part for owner in owners for part in owner.replace("[", "_").rstrip("]").split("_") if part]
    index = [found["index"]] if found["index"] else []
    subscripts = [*_digits(head[len(letters) :]), *_nested(words), *index, *map(_subscript, owned)]
    return f"{_letter(letters)}_{{{_joined(subscripts)}}}" if subscripts else _letter(letters)


def _letter(letters: str) -> str:
    if letters in GREEK:
        return rf"\{letters}"
    return _RATES.get(letters) or (letters if len(letters) == 1 else _upright(letters))


def _upright(word: str) -> str:
    escaped = word.replace("_", r"\_")
    return rf"\mathrm{{{escaped}}}"


def _digits(text: str) -> list[str]:
    return [text] if text else []


def _subscript(word: str) -> str:
    """Greek letters, single letters, letters with a number and numbers as they are, other words upright."""
    if word in GREEK:
        return rf"\{word}"
    return word if word[1:].isdigit() or len(word) == 1 or word[:1].isdigit() else rf"\text{{{word}}}"


def _joined(subscripts: list[str]) -> str:
    """Subscripts with commas; with a word among plain ones, all are one upright text."""
    plain = [text.removeprefix(r"\text{").removesuffix("}") for text in subscripts]
    if plain != subscripts and all(text.isalnum() for text in plain):
        return rf"\text{{{','.join(plain)}}}"
    return ",".join(subscripts)


def _nested(words: list[str]) -> list[str]:
    """Subscripts that name an element with a subscript of its own stand one under the other."""
    first, *rest = [_subscript(word) for word in words] or [""]
    is_letter = bool(first) and not first.startswith(r"\text") and not first.isdigit()
    if rest and is_letter and (_is_index(rest[0]) or first[0].isupper() or first[0] == "\\"):
        return [f"{first}_{{{rest[0]}}}", *rest[1:]]
    return [first, *rest] if first else []


def _is_index(text: str) -> bool:
    return text.isdigit() or len(text.lstrip("\\")) == 1
