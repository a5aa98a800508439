"""What the studio is started with: a file, a folder, an example, a model; and what it says where it cannot start."""

from pathlib import Path

import pytest

import tellegen as tg
from command_line import tellegen
from support.studio import needs_pages
from tellegen.server import studio

FREE = "system: Free mass\nnetwork:\n  m: {mass: [a], m: 1 kg}\n"


@needs_pages
def test_a_model_becomes_a_new_file_and_an_example_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rlc_circuit.yaml").write_text("system: Another\n")
    network = tg.Network("RLC circuit")
    network.add("mass", "m", "a", m="1 kg")
    with tg.studio(network, browser=False) as running:
        assert running.hub.first == "rlc_circuit_2.yaml"
        assert tg.read(tmp_path / "rlc_circuit_2.yaml").name == "RLC circuit"
        assert running.url.startswith(f"http://127.0.0.1:{running.port}/#token=")
        with pytest.raises(tg.DescriptionError, match="D727"):
            tg.studio(browser=False, port=running.port)
    with tg.studio("rlc", browser=False) as running:
        assert running.hub.first == "example:rlc"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rlc_circuit.yaml", "rlc_circuit_2.yaml"]


@needs_pages
def test_a_file_is_served_with_its_folder(tmp_path: Path) -> None:
    (tmp_path / "free.yaml").write_text(FREE)
    with tg.studio(tmp_path / "free.yaml", browser=False) as running:
        assert (running.hub.folder.path, running.hub.first) == (tmp_path.resolve(), "free.yaml")
    with tg.studio(tmp_path, browser=False) as running:
        assert running.hub.first == ""


def test_what_is_no_model_is_told_on_the_command_line(tmp_path: Path) -> None:
    for word in ("nothing.yaml", "no_such_example"):
        done = tellegen("studio", word, "--no-browser", folder=tmp_path)
        assert done.returncode == 1
        assert "D" in done.stderr
        assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_checkout_without_pages_says_how_to_build_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studio, "CLIENT", tmp_path)
    with pytest.raises(tg.DescriptionError, match="make studio"):
        studio.client_page()
