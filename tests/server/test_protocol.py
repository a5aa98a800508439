"""Messages: their types for the pages are those of the classes, and strange ones are refused."""

import struct
from dataclasses import fields
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import studio_types
from tellegen.server import protocol
from tellegen.server.session import frame


def test_the_types_of_the_pages_are_those_of_the_classes() -> None:
    written = studio_types.TARGET.read_text(encoding="utf-8")
    assert written == studio_types.typescript(), "run 'python tools/studio_types.py'"


def test_each_message_says_in_a_line_what_it_is() -> None:
    for kind in (*get_args(protocol.FromPage), *get_args(protocol.ToPage)):
        assert (kind.__doc__ or "").strip(), kind
        assert f'kind: "{kind.__name__.lower()}"' in studio_types.typescript()


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5)


@given(st.sampled_from(get_args(protocol.FromPage)), st.data())
def test_a_message_with_strange_fields_is_refused_or_read(kind: type, data: st.DataObject) -> None:
    names = [one.name for one in fields(kind)]
    record = {"kind": kind.__name__.lower(), **{name: data.draw(JSON) for name in names}}
    try:
        read = protocol.read_message(record)
    except (ValueError, TypeError, KeyError, AttributeError):
        return
    assert isinstance(read, kind)


@pytest.mark.parametrize("strange", [None, [], {}, {"kind": "Open"}, {"kind": ["open"]}, {"kind": "open", "secret": 1}])
def test_what_is_no_message_is_refused(strange: object) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        protocol.read_message(strange)


def test_numbers_of_a_frame_begin_where_doubles_may() -> None:
    for size in range(9):
        told = protocol.ExportDone(1, "x" * size, "text/plain")
        made = frame(told, [struct.pack("<d", 2.5)])
        length = struct.unpack("<I", made[:4])[0]
        start = -(-(4 + length) // 8) * 8
        assert struct.unpack("<d", made[start:]) == (2.5,)
