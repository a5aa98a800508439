"""`functions`: a model as functions that NumPy evaluates, JAX differentiates and CasADi builds from symbols."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final, get_args

import numpy as np
import numpy.typing as npt

from tellegen.core.names import did_you_mean, identifier
from tellegen.core.packages import load_package
from tellegen.exporting import rules
from tellegen.exporting.exchanged import Exchanged, Sources, exchanged
from tellegen.exporting.python.libraries import LIBRARIES, table, table_slope
from tellegen.exporting.python.text import function_lines, model_values, python_file, reads_unknowns
from tellegen.expressions.python_code import made_function
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel, as_model

Library = Literal["numpy", "jax", "casadi"]
Array = npt.NDArray[np.float64]


@final
@dataclass(frozen=True)
class ModelNames:
    """The names of what the functions are given and give, in order."""

    states: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]


@final
@dataclass(frozen=True)
class ModelFunctions:
    """`rates(t, y, u, p)` and `outputs(t, y, u, p)` of a model, where they begin, and the values of inputs and parameters.

    With CasADi they are a `casadi.Function` of t, x, u and p each.
    """

    name: str
    of: Library
    rates: Callable[..., Any]
    outputs: Callable[..., Any]
    names: ModelNames
    start: Array
    inputs: Array
    parameters: Array

    def to_control(self) -> Any:
        """The model as a `control.NonlinearIOSystem`; its parameters may be given by name.

        Raises: ExportError (X001) without python-control.
        """
        control = load_package("control", extra="control", purpose="a model of python-control")
        numbers = self if self.of == "numpy" else None
        if numbers is None:
            raise rules.UNKNOWN_OPTION.error(
                "python-control calls functions of numbers", fix="functions(model).to_control()"
            )

        def valued(given: Mapping[str, float]) -> Array:
            found = self.parameters.copy()
            for k, name in enumerate(self.names.parameters):
                found[k] = given.get(name, found[k])
            return found

        return control.nlsys(
            lambda t, x, u, given: self.rates(t, x, u, valued(given)),
            lambda t, x, u, given: self.outputs(t, x, u, valued(given)),
            name=identifier(self.name.replace(" ", "_")),
            states=list(map(identifier, self.names.states)),
            inputs=list(map(identifier, self.names.inputs)),
            outputs=list(map(identifier, self.names.outputs)),
            params=dict(zip(self.names.parameters, self.parameters.tolist(), strict=True)),
        )


def functions(model: AnyModel, of: Library = "numpy", *, sources: Sources = "open") -> ModelFunctions:
    """The rates and outputs of a model as functions of time, states, inputs and parameters; all values are in SI units.

    The states are those of storages, displacements and signals, in this order. `of="jax"` gives functions that JAX differentiates
    and compiles; `of="casadi"` a `casadi.Function` each, from t, x, u, p to xdot and y. With `sources="experiment"` the courses of
    the experiment are inside, and no source is an input.

    Raises: ExportError for what functions cannot hold (X401, X402, X408, X409, X410), a library that there is not (X407) or that
        is not installed (X001).
    """
    if of not in get_args(Library):
        fix = did_you_mean(of, get_args(Library)) or f"give {', '.join(get_args(Library))}"
        raise rules.UNKNOWN_OPTION.error(f"'of' is '{of}'", fix=fix)
    made = _made(as_model(model), sources)
    library = load_package(of, extra=of if of != "numpy" else "", purpose=f"functions for {of}")
    if of == "jax" and not library.config.jax_enable_x64:
        raise rules.UNKNOWN_OPTION.error(
            "JAX computes in 32 bits, which is not enough for a model",
            fix="jax.config.update('jax_enable_x64', True) before anything else",
        )
    lines, known = function_lines(made), model_values(made)
    space = {word: _function(word, getattr(lines, word), lines.tables) for word in ("rates", "outputs")}
    names = ModelNames(*(tuple(map(str, known[word])) for word in ("STATES", "INPUTS", "PARAMETERS", "OUTPUTS")))
    rates, outputs = _in_library(of, library, space, names, symbols_of_calls=reads_unknowns(made))
    values = (np.array(known[word], dtype=float) for word in ("START", "INPUT_VALUES", "PARAMETER_VALUES"))
    return ModelFunctions(made.name, of, rates, outputs, names, *values)


def _function(word: str, lines: Sequence[str], tables: Mapping[str, object]) -> Callable[..., Any]:
    """A function from its lines, in which variables are numbers: no text of a model stands in them."""
    body = ast.parse("\n".join(lines)).body
    return made_function(("t", "y", "u", "p", "F"), body, word, {"table": table, "table_slope": table_slope, **tables})


def _in_library(
    of: Library, library: Any, space: Mapping[str, Any], names: ModelNames, *, symbols_of_calls: bool
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    words = LIBRARIES[of]()
    if of == "casadi":
        kind = library.MX if symbols_of_calls else library.SX
        t, x, u, p = (kind.sym(word, n) for word, n in zip("txup", (1, *map(len, _given(names))), strict=True))

        def built(word: str, result: str) -> Any:
            given = [[v[k] for k in range(v.shape[0])] for v in (x, u, p)]
            found = library.vertcat(*space[word](t, *given, words))
            return library.Function(word, [t, x, u, p], [found], ["t", "x", "u", "p"], [result])

        return built("rates", "xdot"), built("outputs", "y")

    def called(word: str) -> Callable[..., Any]:
        function = space[word]
        if of == "jax":
            return lambda t, y, u, p: library.numpy.stack(
                [library.numpy.asarray(e, dtype=float) for e in function(t, y, u, p, words)]
            )

        def with_numbers(t: float, y: Sequence[float], u: Sequence[float] = (), p: Sequence[float] = ()) -> Array:
            # The branch of a formula that does not hold may have no value.
            with np.errstate(all="ignore"):
                given = (np.asarray(v, dtype=float) for v in (y, u, p))
                return np.array(function(t, *given, words), dtype=float)

        return with_numbers

    return called("rates"), called("outputs")


def _given(names: ModelNames) -> tuple[Sequence[str], ...]:
    return names.states, names.inputs, names.parameters


def _made(model: Model, sources: Sources) -> Exchanged:
    made = exchanged(model, sources, with_nominal=False, with_modes=False)
    if made.code.program.signals.samples:
        law = made.code.program.signals.samples[0][0]
        how = "remembers what has happened" if law.is_latch else "is sampled"
        raise rules.SIGNALS.error(
            f"the signal '{law.name}' {how}, and functions of the present keep nothing",
            where=law.name,
            fix=f"export it to fmu or {'c' if law.is_latch else 'simulink'}, or leave the controller out",
        )
    return made


def python_files(model: Model, name: str, *, sources: Sources = "open") -> dict[str, str]:
    """The functions of a model as a module of Python that needs nothing of this package."""
    return {f"{name}_model.py": python_file(_made(model, sources))}
