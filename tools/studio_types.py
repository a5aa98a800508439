"""Writes the types of the studio's messages in TypeScript, from the classes of the server: `studio/src/protocol.ts`."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from tellegen.server import protocol

TARGET = Path(__file__).parents[1] / "studio" / "src" / "protocol.ts"
HEAD = "// Made by tools/studio_types.py from src/tellegen/server/protocol.py: change it there.\n"
PLAIN: Mapping[Any, str] = {str: "string", int: "number", float: "number", bool: "boolean", object: "unknown"}


def typescript() -> str:
    """The whole file."""
    classes = [kind for kind in vars(protocol).values() if is_dataclass(kind) and isinstance(kind, type)]
    unions = {"FromPage": protocol.FromPage, "ToPage": protocol.ToPage}
    tagged = {kind for union in unions.values() for kind in get_args(union)}
    names = {"View": protocol.View, "Theme": protocol.Theme, "Severity": protocol.Severity}
    parts = [HEAD, *(f"export type {name} = {_type(kind, {})};\n" for name, kind in names.items())]
    known = {kind: name for name, kind in names.items()}
    parts += [_interface(kind, known, tagged=kind in tagged) for kind in classes]
    parts += [f"export type {name} = {' | '.join(k.__name__ for k in get_args(u))};\n" for name, u in unions.items()]
    return "\n".join(parts)


def _interface(kind: Any, known: Mapping[Any, str], *, tagged: bool) -> str:
    hints = get_type_hints(kind)
    about = (kind.__doc__ or "").split("\n")[0]
    tag = [f'  kind: "{kind.__name__.lower()}";'] if tagged else []
    lines = [f"  {one.name}: {_type(hints[one.name], known)};" for one in fields(kind)]
    return "\n".join([f"/** {about} */", f"export interface {kind.__name__} {{", *tag, *lines, "}\n"])


def _type(kind: Any, known: Mapping[Any, str]) -> str:
    if kind in known:
        return known[kind]
    if kind in PLAIN:
        return PLAIN[kind]
    if is_dataclass(kind):
        return str(getattr(kind, "__name__", kind))
    outer, inner = get_origin(kind), get_args(kind)
    if outer is Literal:
        return " | ".join(f'"{word}"' for word in inner)
    if outer in (Union, UnionType):
        return " | ".join(_type(part, known) for part in inner)
    if outer is Mapping:
        return f"Record<string, {_type(inner[1], known)}>"
    if outer is tuple and len(inner) == 2 and inner[1] is Ellipsis:
        return f"{_type(inner[0], known)}[]"
    if outer is tuple:
        return f"[{', '.join(_type(part, known) for part in inner)}]"
    raise TypeError(f"no type of TypeScript for {kind}")


if __name__ == "__main__":
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(typescript(), encoding="utf-8")
    print(f"wrote {TARGET.relative_to(Path.cwd())}")
