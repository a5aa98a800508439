"""Runs on a graphics card, without one: the text that would run there gives the numbers of lanes, and NVRTC compiles it."""

import ctypes
import importlib.util
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import tellegen as tg
from support.bent_models import bent_model
from tellegen.compiler.context import address_of
from tellegen.compiler.straight import NotStraightError
from tellegen.compiler.toolchain import build_files
from tellegen.core.errors import SimulationError
from tellegen.experiments.setup import set_up
from tellegen.notations.reading import read_model
from tellegen.simulation.batches import BatchResult
from tellegen.simulation.lanes import (
    FLAGS,
    CardBatch,
    LaneControl,
    Lanes,
    LaneTables,
    SingleLanes,
    card_text,
    empty_result,
    in_single,
    lanes_arrays,
)
from tellegen.studies.runs import makers
from tellegen.studies.runs.lane_runs import CARD, MOST_ON_CARD, LaneRuns, card_pair, lane_refusal, varied_places
from tellegen.studies.runs.model_runs import ModelRuns, Plan, RunSettings
from tellegen.workflow.files import examples

AS_C = """\
#include <math.h>
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __restrict__ restrict
#define atomicAdd(counter, count) __atomic_fetch_add(counter, count, __ATOMIC_RELAXED)
"""
"""What makes C of the text for cards: one thread then makes all runs."""


def run_as_c(
    batch: CardBatch,
    tables: LaneTables,
    control: LaneControl,
    threads: int = 1,
    between: Callable[[int], bool] | None = None,
) -> BatchResult:
    library = build_files({"card.c": AS_C + batch.text}, FLAGS).library
    assert library is not None
    made = empty_result(len(tables.untils), batch.keeping, tables.row_times.shape[1])
    arrays, shared_stops = lanes_arrays(tables, control, slice(0, len(tables.untils)))
    arrays |= {name: getattr(made, name) for name in ("out", "rows", "reached", "status")}
    arrays |= {"steps": np.zeros(len(tables.untils), dtype=np.int32), "next": np.zeros(1, dtype=np.int64)}
    if batch.single:
        arrays = {n: a.astype(np.float32) if a.dtype == np.float64 else a for n, a in arrays.items()}
    kind = SingleLanes if batch.single else Lanes
    shared = kind(len(tables.untils), tables.row_times.shape[1], control.most_steps, shared_stops)
    shared.rtol, shared.max_step = control.rtol, min(control.max_step, 1e30)
    for name, array in arrays.items():
        setattr(shared, name, address_of(array))
    library.tg_run_lanes(ctypes.c_void_p(ctypes.addressof(shared)))
    for name in ("out", "rows", "reached"):
        getattr(made, name)[:] = arrays[name]
    made.counts[:, 0] = arrays["steps"]
    return made


@pytest.fixture
def a_card_of_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CardBatch, "run", run_as_c)
    monkeypatch.setattr(makers, "card_name", lambda: "a card of C")


ON_CARDS = {
    "dc_motor_pump": (
        ["R_a", "J_m"],
        [0.5, 1e-3],
        0.1,
        ["I_a", "max(I_a)", "mean(omega_m)", "at(P_0, 0.013)", "rms(I_a)"],
    ),
    "tables": (["m", "b"], [2.0, 20.0], 0.05, ["v", "F_k", "at(h, 0.013)", "mean(g)"]),
}


@pytest.mark.usefixtures("a_card_of_c")
@pytest.mark.parametrize("name", ON_CARDS)
def test_the_text_for_cards_gives_the_numbers_of_lanes(name: str) -> None:
    names, base, until, kept = ON_CARDS[name]
    model, settings = (
        read_model(bent_model(4)) if name == "tables" else tg.load(name),
        RunSettings(until=until, samples=4),
    )
    values = np.array(base) * np.random.default_rng(1).uniform(0.9, 1.1, (9, 2))
    runs = ModelRuns(model, names, values[0].tolist(), settings, kept)
    tables, _, _ = runs.tables(values)
    places = varied_places(runs.names, runs.ready.numeric, runs.problem.given, tables)
    told = {
        device: runs.in_lanes(
            tables,
            Plan("batch", "", "runge-kutta", pair="tsitouras", varied=places, most_steps=10**6, device=device),
        )
        for device in ("cores", CARD)
    }
    assert (told[CARD].status == 0).all()
    for array in ("out", "rows"):
        ours, theirs = getattr(told["cores"], array), getattr(told[CARD], array)
        assert np.abs(ours - theirs).max() <= 1e-13 * np.abs(ours).max(), array


@pytest.mark.usefixtures("a_card_of_c")
def test_a_study_on_a_card_keeps_its_tolerance_and_says_where_it_was(tmp_path: Path) -> None:
    vary = {"b_m": tg.uniform("90 %", "110 %")}
    study = tg.sweep("crank_rod", vary, 0.2, draws=16, keep=["omega"], on="gpu", into=tmp_path / "card.study")
    assert study.finished == 16
    assert "on a graphics card in double precision, by Tsitouras 5(4)" in str(study)
    assert study.error is not None
    assert study.error.largest <= 20.0
    run = study.run(3)
    assert abs(run.values("omega")[-1] - study.values("omega")[3]) <= 20e-6 * np.abs(run.values("omega")).max()
    # numbers of a card differ in their last digits: such a study goes on where it was begun
    with pytest.raises(SimulationError, match="S430"):
        tg.sweep("crank_rod", vary, 0.2, draws=16, keep=["omega"], into=tmp_path / "card.study")


@pytest.mark.usefixtures("a_card_of_c")
def test_single_precision_keeps_a_coarse_tolerance_and_four_bytes_of_each_number(tmp_path: Path) -> None:
    vary = {"R_a": tg.uniform("90 %", "110 %")}
    asked: dict[str, Any] = {"draws": 16, "by": "random", "rtol": 1e-4, "keep": ["I_a", "max(omega_m)"]}
    study = tg.sweep("dc_motor_pump", vary, 0.1, on="gpu", single=True, into=tmp_path / "a.study", **asked)
    exact = tg.sweep("dc_motor_pump", vary, 0.1, **{**asked, "rtol": 1e-9})
    assert study.finished == 16
    assert "in single precision" in str(study)
    off = np.abs(study.made.out - exact.made.out)
    assert (off <= 20e-4 * np.abs(exact.made.out)).all()
    assert off.max() > 1e-9 * np.abs(exact.made.out).max(), "it was computed in single precision"
    assert xarray.open_zarr(tmp_path / "a.study", consolidated=False)["I_a"].dtype == np.float32
    assert study.made.out.dtype == np.float64


@pytest.mark.usefixtures("a_card_of_c")
def test_even_steps_on_a_card_are_of_order_4_and_miss_no_tolerance_in_silence() -> None:
    vary = {"R_a": tg.uniform("90 %", "110 %"), "J_m": tg.uniform("90 %", "110 %")}
    asked: dict[str, Any] = {
        "draws": 16,
        "by": "random",
        "keep": ["I_a", "max(omega_m)", "at(I_a, 13 ms)"],
        "on": "gpu",
    }
    found = {step: tg.sweep("dc_motor_pump", vary, 0.1, step=step, rtol=1e-3, **asked) for step in (2e-4, 1e-4)}
    assert "the classic method of order 4" in str(found[1e-4])
    exact = tg.sweep("dc_motor_pump", vary, 0.1, rtol=1e-11, **{**asked, "on": "local"})
    off = {step: np.abs(study.made.out - exact.made.out)[:, 0].max() for step, study in found.items()}
    assert 12.0 < off[2e-4] / off[1e-4] < 20.0
    with pytest.raises(SimulationError, match="miss the tolerance") as refused:
        tg.sweep("dc_motor_pump", vary, 0.1, step="5 ms", **asked)
    assert refused.value.code == "S430"
    with pytest.raises(SimulationError, match="chooses its own") as refused:
        tg.sweep("dc_motor_pump", vary, 0.1, step=1e-4, draws=16)
    assert refused.value.code == "S128"


@pytest.mark.usefixtures("a_card_of_c")
@pytest.mark.parametrize(
    ("name", "single", "why"),
    [
        ("bouncing_ball", False, "changes its mode"),
        ("solenoid", False, "searched for"),
        ("sampled_position_control", False, "sampled"),
        ("crank_rod", True, "single precision"),
    ],
)
def test_what_no_card_can_make_is_refused_with_the_reason(name: str, single: bool, why: str) -> None:
    model = tg.load(name)
    first = next(n for n, p in model.parameters.items() if p.expression is not None and n not in model.counts)
    with pytest.raises(SimulationError) as found:
        tg.sweep(model, {first: tg.uniform("99 %", "101 %")}, 0.01, draws=9, on="gpu", single=single)
    assert found.value.code == "S430"
    assert why in str(found.value)


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is there")
def test_without_its_package_a_card_is_refused_before_any_run() -> None:
    with pytest.raises(SimulationError, match=r"tellegen\[gpu\]") as found:
        tg.sweep("crank_rod", {"b_m": [0.01, 0.02]}, on="gpu")
    assert found.value.code == "S414"


def test_single_precision_is_refused_on_the_cores() -> None:
    with pytest.raises(SimulationError, match="graphics card"):
        tg.sweep("crank_rod", {"b_m": [0.01, 0.02]}, single=True)


def test_every_number_of_a_text_in_single_precision_is_single() -> None:
    text = in_single("const double v1 = 0.5*x2 + 1e-3*TG_Y(0) - 3.0e+2; int k = 12; /* a 2 */")
    assert "double" not in text
    assert "0.5f*x2 + 1e-3f*TG_Y(0) - 3.0e+2f; int k = 12;" in text


def card_programs() -> list[str]:
    return ["tables", *(e.name for e in examples())]


def nvrtc() -> ctypes.CDLL:
    spec = importlib.util.find_spec("nvidia")
    places = [Path(place) for place in (spec.submodule_search_locations or [] if spec is not None else [])]
    found = sorted(file for place in places for file in place.glob("*/lib/libnvrtc*.so*") if ".alt." not in file.name)
    if not found:
        pytest.skip("nvidia-cuda-nvrtc is not installed (90 MB)")
    for file in sorted(found, key=lambda file: "builtins" not in file.name):
        library = ctypes.CDLL(str(file), mode=ctypes.RTLD_GLOBAL)
    return library


def compiled(library: ctypes.CDLL, text: str) -> tuple[int, str]:
    """What NVRTC says of a text for a card of 2023, which needs none."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"card.cu", 0, None, None) == 0
    options = (ctypes.c_char_p * 3)(b"-arch=sm_90", b"--std=c++17", b"--ptxas-options=-v")
    status = library.nvrtcCompileProgram(program, 3, options)
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    said = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, said)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return status, said.value.decode()


def card_batch(name: str) -> LaneRuns | None:
    model = read_model(bent_model(4)) if name == "tables" else tg.load(name)
    settings = RunSettings(until=None if model.experiment.until is not None else 1.0)
    ready = set_up(model, until=settings.until)
    numeric = ready.numeric
    if ready.graph.switching or lane_refusal(numeric, "auto") or numeric.size > MOST_ON_CARD:
        return None
    plain = [n for n, p in model.parameters.items() if p.expression is not None and not p.expression.free_symbols]
    names = [n for n in plain if n not in model.counts][:2]
    known = ModelRuns(model, (), (), settings).base_value
    runs = ModelRuns(model, names, [known(n) for n in names], settings)
    tables, _, _ = runs.tables(np.array([[known(n) for n in names]]))
    places = varied_places(names, numeric, runs.problem.given, tables)
    pair = card_pair(numeric.size, None)
    return LaneRuns(runs.ready, runs.problem.given, places, keeping=runs.keeping, pair=pair, device=CARD)


MOST_IN_REGISTERS = 250
"""Operations of rates whose intermediate values leave room for the states and slopes of a step."""


def assert_compiles(name: str) -> None:
    program = card_batch(name)
    if program is None:
        return
    try:
        code = program.code
    except NotStraightError:
        return
    library = nvrtc()
    for pair, single in product((program.pair, card_pair(code.size, 1.0)), (False, True)):
        status, said = compiled(library, card_text(code, pair, program.keeping, single=single))
        assert status == 0, said
        spilled = [int(n) for n in re.findall(r"(\d+) bytes spill stores", said)]
        fits = code.operations <= MOST_IN_REGISTERS and code.size <= (12 if pair == program.pair else 20)
        # a few bytes are marks and places to go on at, which the compiler keeps beside though registers are left
        assert not fits or max(spilled) <= 16, f"{spilled} bytes do not fit into registers"


def test_nvrtc_compiles_an_example_without_a_card() -> None:
    nvrtc()
    assert_compiles("crank_rod")


@pytest.mark.slow
@pytest.mark.parametrize("name", card_programs())
def test_nvrtc_compiles_all_examples_that_qualify(name: str) -> None:
    nvrtc()
    assert_compiles(name)
