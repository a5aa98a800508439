"""Units from anybody: nothing is written elsewhere, nothing grows without bound, and every slip ends in a finding."""

import contextlib
import io
import stat
import struct
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tellegen as tg
from tellegen.core import archives
from tellegen.core.errors import DescriptionError, TellegenError

HEAD = '<fmiModelDescription fmiVersion="2.0" modelName="m" guid="g" numberOfEventIndicators="0">'
EXCHANGE = '<ModelExchange modelIdentifier="m"/>'
VARIABLES = """<ModelVariables>
<ScalarVariable name="x" valueReference="1" causality="output"><Real start="1"/></ScalarVariable>
<ScalarVariable name="der(x)" valueReference="2"><Real derivative="1"/></ScalarVariable>
</ModelVariables><ModelStructure><Derivatives><Unknown index="2"/></Derivatives></ModelStructure>"""
PLAIN = f"{HEAD}{EXCHANGE}{VARIABLES}</fmiModelDescription>"


def packed(path: Path, *more: tuple[zipfile.ZipInfo | str, bytes], description: str = PLAIN) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", description)
        for name, content in more:
            archive.writestr(name, content)
    return path


def refused(path: Path) -> str:
    with pytest.raises(TellegenError) as error:
        tg.import_model(path)
    assert error.value.code == "D312"
    return str(error.value)


def test_a_plain_description_is_read(tmp_path: Path) -> None:
    text = tg.import_model(packed(tmp_path / "m.fmu"))
    assert "x: {output: x, of: unit}" in text


@pytest.mark.parametrize("name", ["../evil.so", "/etc/evil", "a/../../evil", "C:\\evil.dll", "binaries\\..\\evil"])
def test_a_name_that_leads_outside_is_refused(name: str, tmp_path: Path) -> None:
    assert "lies outside of its folder" in refused(packed(tmp_path / "m.fmu", (name, b"evil")))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.fmu"]


def test_a_link_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("binaries/linux64/m.so")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert "is a link or a device" in refused(packed(tmp_path / "m.fmu", (link, b"/bin/sh")))


def test_what_would_fill_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 1 << 20)
    assert "more than" in refused(packed(tmp_path / "m.fmu", ("resources/zeros", bytes(2 << 20))))
    many = [(f"resources/{k}", b"") for k in range(archives.MOST_MEMBERS + 1)]
    assert "at most 4096 are read" in refused(packed(tmp_path / "n.fmu", *many))


def test_a_size_that_lies_is_found_while_unpacking(tmp_path: Path) -> None:
    path = packed(tmp_path / "m.fmu", description=PLAIN + " " * 5000)
    data = bytearray(path.read_bytes())
    # The directory at the end says how large the file is, and so does its own head.
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 10)
    path.write_bytes(bytes(data))
    assert "cannot be" in refused(path) or "no XML" in refused(path)
    info = archives.archive_members(packed(tmp_path / "n.fmu"))["modelDescription.xml"]
    with pytest.raises(archives.ArchiveError, match="more than 100 bytes"):
        archives.member_bytes(tmp_path / "n.fmu", info, 100)


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ('<!DOCTYPE a [<!ENTITY b "bbbb">]><a>&b;</a>', "declares entities"),
        ("<a", "no XML"),
        ('<fmiModelDescription fmiVersion="1.0"/>', "FMI 1.0, and FMI 2.0 and 3.0 are read"),
        (f"{HEAD}</fmiModelDescription>", "neither for model exchange nor for co-simulation"),
        (PLAIN.replace('"m"/>', '"../../evil"/>'), "names no library"),
        (PLAIN.replace('derivative="1"', 'derivative="99"'), "no variable 99"),
        (PLAIN.replace('index="2"', 'index="x"'), "invalid literal"),
        (PLAIN.replace('start="1"', 'start="inf"'), "no finite number"),
        (PLAIN.replace('valueReference="1"', 'valueReference="-1"'), "no value reference"),
        (PLAIN.replace('Events="0"', ""), ""),
        (PLAIN.replace('Indicators="0"', 'Indicators="1000000000"'), "1000000000 event indicators"),
        (PLAIN.replace("<Real start", "<Integer start"), "is no real number"),
        (PLAIN.replace('guid="g"', ""), "lacks 'guid'"),
    ],
)
def test_a_description_that_says_nonsense_is_refused(description: str, said: str, tmp_path: Path) -> None:
    path = packed(tmp_path / "m.fmu", description=description)
    if said:
        assert said in refused(path)


def test_a_file_without_a_description_and_no_zip_at_all(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m.fmu", "w") as archive:
        archive.writestr("readme", "nothing")
    assert "no modelDescription.xml" in refused(tmp_path / "m.fmu")
    (tmp_path / "n.fmu").write_bytes(b"MZ" + bytes(100))
    assert "no zip file" in refused(tmp_path / "n.fmu")


@given(st.integers(0, 2000), st.integers(0, 255), st.integers(0, 600))
def test_a_damaged_file_ends_in_a_finding(place: int, value: int, cut: int) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", PLAIN)
    data = bytearray(made.getvalue())
    data[place % len(data)] = value
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.fmu"
        path.write_bytes(bytes(data[: len(data) - cut % len(data)]))
        # Anything but a finding fails.
        with contextlib.suppress(DescriptionError):
            tg.import_model(path)


def test_text_of_a_description_is_text_in_the_model(tmp_path: Path) -> None:
    evil = PLAIN.replace('modelName="m"', 'modelName="m&quot;&#10;network: {R: 1}"').replace(
        'name="x"', 'name="x}: &quot; signals: #"'
    )
    path = tmp_path / "m.yaml"
    tg.import_model(packed(tmp_path / "m.fmu", description=evil), path)
    assert list(tg.read(path).signals) == ["unit", "x_signals"]
    hidden = PLAIN.replace('name="x"', 'name="x&#10;y"')
    assert "characters that nobody sees" in refused(packed(tmp_path / "n.fmu", description=hidden))
