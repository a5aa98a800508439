"""Generated code that is kept: found again, never trusted when damaged, never in the way of what cannot be kept."""

import hashlib
import io
import os
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tellegen as tg
from support.examples import causal_example
from support.networks import Network, causality
from support.strategies import networks
from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler import NumericModel, code, compile_model, compiling
from tellegen.compiler.code import Code, kept_code, unrolled_code
from tellegen.compiler.compiling import without_values
from tellegen.compiler.kept_files import CODE_SUFFIX
from tellegen.compiler.toolchain import find_compiler
from tellegen.core.errors import TellegenError
from tellegen.core.shipped import example_names
from tellegen.graph import lower
from tellegen.notations.reading import read_model

TEXT = """system: RC
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], R: 2}
  C: {capacitor: [b, gnd], C: 4}
"""


class Calling:
    """Something that calls a function when it is unpickled."""

    def __init__(self, function: object) -> None:
        self.function = function

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.function, ()


class Counting:
    """A generator that counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, causal: CausalGraph) -> Code:
        self.calls += 1
        return unrolled_code(causal)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TELLEGEN_CACHE", str(tmp_path))
    monkeypatch.setattr(code, "SMALL", 0)
    return tmp_path


def causal(text: str = TEXT) -> CausalGraph:
    return assign_causality(lower(read_model(text)))


def kept(folder: Path) -> list[Path]:
    return list(folder.glob(f"*{CODE_SUFFIX}"))


def test_code_is_generated_once(cache: Path) -> None:
    generate, graph = Counting(), causal()
    first, second = kept_code(graph, generate), kept_code(graph, generate)
    assert generate.calls == 1
    assert second.source == first.source
    assert (second.base, second.y, second.data.scratch) == (first.base, first.y, first.data.scratch)
    kept_code(causal(TEXT.replace("R: 2}", "R: 3}")), generate)
    assert generate.calls == 2
    assert len(kept(cache)) == 2


@pytest.mark.parametrize("content", [b"", b"nonsense", b"x" * 100])
def test_a_damaged_file_is_made_again(cache: Path, content: bytes) -> None:
    generate, graph = Counting(), causal()
    kept_code(graph, generate)
    (path,) = kept(cache)
    path.write_bytes(content)
    assert kept_code(graph, generate).source == unrolled_code(graph).source
    kept_code(graph, generate)
    assert generate.calls == 2


@pytest.mark.parametrize("called", [os.getcwd, eval, find_compiler, NumericModel.from_c])
def test_a_file_that_calls_something_is_not_obeyed(cache: Path, called: object) -> None:
    generate, graph = Counting(), causal()
    kept_code(graph, generate)
    (path,) = kept(cache)
    body = pickle.dumps(Calling(called))
    path.write_bytes(hashlib.sha256(body).digest() + body)
    with pytest.raises(pickle.UnpicklingError, match="is no value"):
        code._Values(io.BytesIO(body)).load()
    assert kept_code(graph, generate).source
    assert generate.calls == 2


def test_a_function_is_not_found_in_a_module_that_imports_it() -> None:
    with pytest.raises(pickle.UnpicklingError, match=r"'tellegen.compiler.numeric_model.build' is no value"):
        code._Values(io.BytesIO()).find_class("tellegen.compiler.numeric_model", "build")


def test_another_generator_makes_other_code(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generate, graph = Counting(), causal()
    kept_code(graph, generate)
    monkeypatch.setattr(code, "_generator", lambda: b"another")
    kept_code(graph, generate)
    assert generate.calls == 2


def test_small_graphs_are_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "SMALL", 10**9)
    kept_code(causal(), Counting())
    assert not kept(cache)


def test_a_folder_that_cannot_be_written_is_no_matter(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("TELLEGEN_CACHE", str(cache / "file" / "below"))
    assert kept_code(causal(), unrolled_code).source


def test_equal_graphs_have_one_key_whichever_of_their_texts_are_one_object(cache: Path) -> None:
    """A mode may be named by the graph, or by code that was read from the cache."""
    graph = lower(read_model(TEXT.replace("resistor: [a, b], R: 2", "switch: [a, b], control: C")))
    generate = Counting()
    for word in ("closed", "".join(["clo", "sed"])):
        kept_code(assign_causality(graph.in_mode({"R": word})), generate)
    assert generate.calls == 1


@pytest.mark.parametrize("name", example_names())
def test_the_code_of_every_example_can_be_kept(cache: Path, name: str) -> None:
    """A value in a graph that cannot be written would make every run of it begin anew."""
    assert code._key(causal_example(name)) is not None


# -- values ------------------------------------------------------------------------------------------------------------------------


@settings(max_examples=settings().max_examples // 4)
@given(networks(storages=True), st.integers(2, 9))
def test_other_values_are_the_same_code_and_the_right_numbers(network: Network, factor: int) -> None:
    parts = tuple(replace(part, value=factor * part.value, parameter=part.name) for part in network.parts)
    try:
        one, two = (causality(replace(n, valued=True)) for n in (replace(network, parts=parts), network))
    except TellegenError:
        assume(False)
        raise
    assume(without_values(one) == without_values(two))  # exact values decide about some causalities
    known = [compile_model(graph) for graph in (one, two)]
    compiling._RECENT.clear()
    alone = compile_model(two)
    assert known[1].source is known[0].source
    y, yp = (np.linspace(1.0, 2.0, len(alone.pattern.indptr) - 1) * k for k in (1, -1))
    assert known[1].parameter_values.tolist() == alone.parameter_values.tolist()
    assert known[1].initial == alone.initial
    assert known[1].residual(0.3, y, yp).tolist() == alone.residual(0.3, y, yp).tolist()


@pytest.mark.parametrize(
    "name", ["dc_motor_pump", "crank_rod", "buck_converter", "bouncing_ball", "sampled_position_control"]
)
def test_values_leave_nothing_behind(name: str, cache: Path) -> None:
    model = tg.load(name)
    chosen = [n for n, p in model.parameters.items() if p.expression is not None and not p.expression.free_symbols][:2]
    until = tg.simulate(model).trajectory.t[-1] / 20

    def files() -> set[Path]:
        return {path for path in cache.rglob("*") if path.is_file()}

    first = files()
    for k in range(1, 4):
        values = {n: model.parameters[n].expression.evaluate({}) * (1 + k / 50) for n in chosen}  # type: ignore[union-attr]
        run = tg.simulate(model, parameters=values, until=until)
        compiling._RECENT.clear()
        again = tg.simulate(model, parameters=values, until=until)
        assert again.trajectory.y.tobytes() == run.trajectory.y.tobytes()
    assert files() == first


def test_what_is_told_from_steps_is_told_of_a_kept_model_too(cache: Path) -> None:
    """Code that is kept has no steps any more; a source of time would count as one that nothing feels."""
    text = (
        "system: x\nnetwork:\n  V: {voltage source: [a], signal: u}\n  R: {resistor: [a, b], R: 1}\n  C: {capacitor: [b], C: 1}\n"
        "  W: {voltage source: [c], signal: 'sine(1 V, 50 Hz)'}\n  S: {resistor: [c], R: 1}\n"
        "  X: {voltage source: [d], signal: 'sine(1 V, 5 Hz)'}\n  Y: {resistor: [d, e], R: 1}\n  Z: {capacitor: [e], C: 1}\n"
        "signals:\n  late: {delay: u, by: 0.1 s}\n  u: 1 V - 0.5*late\n"
    )
    causal = assign_causality(lower(read_model(text)))
    made = []
    for _ in range(2):
        compiling._RECENT.clear()
        made.append(compile_model(causal))
    assert [[str(e) for e in model.unfelt] for model in made] == [["sin(100*pi*t)"]] * 2
    assert [[delay.returns for delay in model.delays] for model in made] == [[True]] * 2
