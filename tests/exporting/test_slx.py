"""Files of Simulink written without it: their relations resolve, MISS_HIT reads them, and a reader of our own runs their blocks.

No MATLAB takes part: that one opens them is not shown.
"""

import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import tellegen as tg
from exporting.slx_reader import KNOWN, SlxModel
from tellegen.core.errors import ExportError
from tellegen.core.shipped import example_names

QUICK = ["crank_rod", "dc_motor_pump"]
ROWS, SHARE = 40, 0.9871


def written(name: str, folder: Path) -> Path:
    (path,) = tg.export_model(name, "slx", folder)
    return path


def judged(name: str, folder: Path, share: float = SHARE, bound: float = 1e-6) -> None:
    made = SlxModel(written(name, folder))
    experiment = tg.load(name).experiment
    assert experiment.until is not None
    times = np.linspace(0.0, share * experiment.until.evaluate({}), ROWS)
    found = made.run(float(times[-1]), times)
    run = tg.simulate(name, times=times, rtol=1e-10, progress=False)
    shown = [n for n in found if n in run]
    assert shown
    for n in shown:
        own = run.values(n)
        assert np.max(np.abs(found[n] - own)) < bound * max(1e-3, float(np.max(np.abs(own)))), n


@pytest.mark.parametrize("name", QUICK)
def test_the_blocks_of_a_file_lead_to_the_right_end(name: str, tmp_path: Path) -> None:
    judged(name, tmp_path)


def test_all_relations_of_a_package_resolve(tmp_path: Path) -> None:
    parts = SlxModel(written("dc_motor_pump", tmp_path)).parts
    assert set(parts) == {
        "[Content_Types].xml",
        "_rels/.rels",
        "metadata/coreProperties.xml",
        "metadata/mwcoreProperties.xml",
        "simulink/blockdiagram.xml",
    }
    targets = {r.attrib["Target"] for r in ET.fromstring(parts["_rels/.rels"])}
    assert targets <= set(parts)
    overrides = {
        e.attrib["PartName"].lstrip("/") for e in ET.fromstring(parts["[Content_Types].xml"]) if "PartName" in e.attrib
    }
    assert overrides <= set(parts)
    assert b"never opened in MATLAB by us" in parts["metadata/coreProperties.xml"]


def test_miss_hit_reads_a_file(tmp_path: Path) -> None:
    path = written("crank_rod", tmp_path)
    program = Path(sys.executable).with_name("mh_metric")
    said = []
    for _ in range(2):
        done = subprocess.run([program, path], capture_output=True, text=True, check=False, timeout=120)
        said.append("1 file(s) analysed, everything seems fine" in done.stdout)
        # Once more with a description that is no XML: it does look inside.
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("simulink/blockdiagram.xml", "<ModelInformation")
    assert said == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize("name", example_names())
def test_every_example_that_is_not_refused_runs(name: str, tmp_path: Path) -> None:
    try:
        made = SlxModel(written(name, tmp_path))
    except ExportError as refused:
        pytest.skip(str(refused))
    if not made.kinds <= KNOWN:
        pytest.skip(f"our reader integrates no {made.kinds - KNOWN}")
    # A reader in Python takes its time.
    judged(name, tmp_path / "again", 0.02 * SHARE, 1e-5)


def test_what_no_block_says_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError) as refused:
        written("five_bar", tmp_path)
    assert refused.value.code == "X414"
