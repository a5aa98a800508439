"""Scenes as JSON and back, exactly. Browsers get the outlines of texts beside them and measure nothing themselves."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from tellegen.scenes import rules
from tellegen.scenes.geometry import Box
from tellegen.scenes.scene import Label, Scene, Shape, place_label
from tellegen.scenes.writers.svg import path_data

SHAPES: dict[str, type[Shape]] = {kind.__name__.lower(): kind for kind in get_args(Shape)}
# A scene of another version is refused: half a figure without a word would be worse than none.
VERSION = 1
Lines = tuple[tuple[str, ...], ...]


def to_json(scene: Scene, *, outlines: bool = False) -> str:
    """The scene as a JSON text, one shape a line, so that two versions compare line by line. What has its default is left out.

    With `outlines`, `texts` holds for each label its SVG path and the extent of its ink.
    """
    record: dict[str, object] = {
        "version": VERSION,
        "title": scene.title,
        "about": scene.about,
        **({"notation": scene.notation} if scene.notation else {}),
        **({"lines": _plain(scene.lines)} if scene.lines else {}),
        "box": _plain(scene.box),
        "shapes": [{"shape": type(shape).__name__.lower(), **_fields(shape)} for shape in scene.shapes],
    }
    if outlines:
        record["texts"] = [_text(label) for label in scene.shapes if isinstance(label, Label)]
    # By hand as far as the list of shapes: `json.dumps` would put all on one line, or every coordinate on its own.
    lines = [f"{json.dumps(key)}: {_lines(value)}" for key, value in record.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def from_json(text: str) -> Scene:
    """The scene of a JSON text.

    Raises: FigureError (F106) where the text is something else.
    """
    try:
        record = json.loads(text)
        if record["version"] != VERSION:
            raise ValueError(f"version {record['version']} is not {VERSION}")
        shapes = tuple(from_record(item, SHAPES[item.pop("shape")]) for item in map(dict, record["shapes"]))
        notation, lines = str(record.get("notation", "")), _value(record.get("lines", ()), Lines)
        box = _value(record["box"], Box)
        return Scene(str(record["title"]), str(record["about"]), box, shapes, notation, lines)
    # Whatever is wrong with a strange text is one error of ours: nobody should see a trace of our reader.
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as reason:
        what = f"this text is no scene: {type(reason).__name__}: {reason}"
        raise rules.NOT_A_SCENE.error(what, fix="give it what Figure.json() wrote") from reason


def _lines(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in value) + "\n]"
    return json.dumps(value, ensure_ascii=False)


def _text(label: Label) -> dict[str, object]:
    placed = place_label(label)
    data = " ".join(path_data(outline, *placed.start) for outline in placed.text.outlines)
    return {"d": data, "box": _plain(placed.box)}


def _fields(item: Any) -> dict[str, object]:
    return {
        field.name: _plain(value) for field in fields(item) if (value := getattr(item, field.name)) != field.default
    }


def _plain(value: Any) -> object:
    if isinstance(value, Box):
        return [value.left, value.top, value.right, value.bottom]
    if is_dataclass(value):
        return _fields(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def from_record(record: dict[str, Any], kind: Any) -> Any:
    """The value of a dataclass from what JSON made of its fields.

    Raises: ValueError, TypeError or KeyError where a field has another type than it is declared with.
    """
    hints = get_type_hints(kind)
    return kind(**{name: _value(value, hints[name]) for name, value in record.items()})


def _value(value: Any, kind: Any) -> Any:
    """A plain value as one of the type that a field asks for."""
    # Types of fields are the grammar: a new field of a shape is read without a line here.
    outer = get_origin(kind)
    if kind is Box:
        left, top, right, bottom = (_value(side, float) for side in value)
        return Box(left, top, right, bottom)
    if is_dataclass(kind):
        return from_record(value, kind)
    if outer is tuple:
        inner = get_args(kind)
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(_value(item, inner[0]) for item in value)
        return tuple(_value(item, part) for item, part in zip(value, inner, strict=True))
    if outer is Mapping:
        names, values = get_args(kind)
        return {_value(name, names): _value(item, values) for name, item in value.items()}
    if outer in (Literal, Union, UnionType):
        if outer is Literal and value not in get_args(kind):
            raise ValueError(f"{value!r} is none of {get_args(kind)}")
        return value
    # Whole numbers lose their point in other programs, and true would else be a number too.
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value
