"""Files that a slip, a bad copy or malice has mangled: each is read, or refused in words that no terminal obeys."""

import contextlib
import io
import random
import re
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import tellegen as tg
from code_blocks import ROOT
from support.all_models import ModelFile, all_models
from support.mangling import mangled
from tellegen.cli.main import run
from tellegen.core.errors import TellegenError
from tellegen.importing.imports import imported
from tellegen.notations.writing import to_yaml
from tellegen.workflow.explaining import rules

# What every reader of terminals and of XML would obey or refuse (XML 1.0, section 2.2; ECMA-48).
OBEYED = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]")
FILES = tuple(file for file in all_models() if len(file.texts[0][1]) < 4000)
FOREIGN = (
    *((path.suffix, path.read_text(encoding="utf-8")) for path in sorted((ROOT / "tests/importing").rglob("*.cir"))),
    *(
        (placed.ending, text)
        for placed in rules()
        if placed.ending not in (".yaml", ".txt")
        for text in (placed.rule.example, placed.rule.instead)
        if text
    ),
)
files = st.sampled_from(FILES)
seeds = st.integers(0, 2**32)


@given(files, seeds)
def test_mangled_texts_are_read_or_refused(file: ModelFile, number: int) -> None:
    chance = random.Random(number)
    with tempfile.TemporaryDirectory() as folder:
        path = file.put(Path(folder))
        path.write_text(mangled(file.texts[0][1], chance), encoding="utf-8", errors="surrogatepass")
        assert_answered(path)


@given(files, seeds)
def test_files_with_wrong_bytes_are_read_or_refused(file: ModelFile, number: int) -> None:
    chance = random.Random(number)
    with tempfile.TemporaryDirectory() as folder:
        path = file.put(Path(folder))
        data = bytearray(path.read_bytes())
        for _ in range(chance.choice((1, 1, 2, 8))):
            place = chance.randrange(len(data))
            way = chance.randrange(4)
            if way == 0:
                data[place] = chance.randrange(256)
            elif way == 1:
                del data[place : place + chance.randrange(1, 40)]
            elif way == 2:
                data[place:place] = data[place : place + 40] * chance.choice((1, 2, 50))
            else:
                data[place:place] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 5)))
            data = data or bytearray(b"\n")
        path.write_bytes(bytes(data))
        assert_answered(path)


@given(st.binary(max_size=400), st.sampled_from((".yaml", ".txt")))
def test_any_bytes_are_read_or_refused(data: bytes, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model{ending}"
        path.write_bytes(data)
        assert_answered(path)


@given(st.sampled_from(FOREIGN), seeds)
def test_mangled_files_of_other_tools_are_imported_or_refused(file: tuple[str, str], number: int) -> None:
    ending, text = file
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model{ending}"
        path.write_text(mangled(text, random.Random(number)), encoding="utf-8", errors="surrogatepass")
        found, refused = None, ""
        try:
            found = imported(path, "model")
        except TellegenError as error:
            refused = str(error)
        assert not OBEYED.search(refused)
        if found is None:
            return
        for name, content in (("again.yaml", found.text), *found.beside.items()):
            assert isinstance(content, str), "units are the files of others"
            assert not OBEYED.search(content), name
            path.with_name(name).write_text(content, encoding="utf-8")
        assert_answered(path.with_name("again.yaml"))


@given(files, seeds)
def test_commands_answer_mangled_files_without_a_word_that_is_obeyed(file: ModelFile, number: int) -> None:
    chance = random.Random(number)
    command = chance.choice(COMMANDS)
    with tempfile.TemporaryDirectory() as folder:
        path = file.put(Path(folder))
        path.write_text(mangled(file.texts[0][1], chance), encoding="utf-8", errors="surrogatepass")
        words = [word.replace("@", str(path)).replace("%", folder) for word in command]
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = run(words)
    said = out.getvalue() + err.getvalue()
    assert status in (0, 1, 2), f"{words}: {said}"
    assert not OBEYED.search(re.sub("\x1b\\[[0-9;]*m", "", said)), repr(said)


COMMANDS = (
    ["check", "@"],
    ["check", "@", "--json"],
    ["derive", "@"],
    ["derive", "@", "--form", "dae"],
    ["translate", "@", "bond", "-o", "%/bond.yaml"],
    ["translate", "@", "pog", "-o", "%/pog.yaml"],
    ["draw", "@", "--as", "bond", "-o", "%/figure.svg"],
    ["import", "@", "-o", "%/imported.yaml"],
)


def assert_answered(path: Path) -> None:
    """What `check` says is harmless, and what can be read can be written and is read again."""
    assert not OBEYED.search(str(tg.check(path)))
    try:
        model = tg.read(path)
    except TellegenError:
        return
    text = to_yaml(model)
    again = path.with_name("again.yaml")
    again.write_text(text, encoding="utf-8")
    assert tg.check(tg.read(again)).ok == tg.check(model).ok, text
