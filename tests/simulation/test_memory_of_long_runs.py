"""A run of very many rows needs the memory of its rows, and hardly more."""

import json
import subprocess
import sys

import pytest

SAMPLES = 1_000_000
MOST = 1.2
"""Beside the rows themselves: solver, rows of one block of a mode, what the interpreter does not give back."""

SCRIPT = """
import json, resource, sys
import tellegen as tg

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

tg.simulate(sys.argv[1], samples=10, progress=False)
before = peak()
made = tg.simulate(sys.argv[1], samples=int(sys.argv[2]), progress=False).trajectory
print(json.dumps([len(made.t), made.t.nbytes + made.y.nbytes + made.yp.nbytes, peak() - before]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rlc", "crank_rod", "stick_slip", "sampled_position_control"])
def test_a_million_rows_need_their_own_memory(name: str) -> None:
    pytest.importorskip("resource", reason="the peak of a process is read with it")
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, name, str(SAMPLES)], capture_output=True, text=True, check=True, timeout=300
    )
    rows, own, grown = json.loads(ran.stdout)
    assert rows == SAMPLES + 1
    assert grown <= MOST * own
