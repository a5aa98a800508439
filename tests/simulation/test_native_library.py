"""Libraries that threads share, and what becomes of them in another process."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future

import pytest

from tellegen.simulation.solvers import library

SOURCE = "int tg_of_a_test(void) { return 7; }"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forking beside threads: that is the case here
def test_a_child_does_not_wait_for_what_a_thread_of_its_parent_was_building(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(library._MADE, (SOURCE, False), Future())
    with library._LOCK:  # as that thread may hold it at the moment of the fork
        child = os.fork()
        if child == 0:
            os._exit(int(library.compiled(SOURCE).tg_of_a_test()))
    give_up = time.monotonic() + 60.0
    ended, status = os.waitpid(child, os.WNOHANG)
    while not ended and time.monotonic() < give_up:
        time.sleep(0.01)
        ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended, "the child waits for ever"
    assert os.waitstatus_to_exitcode(status) == 7


def test_building_ahead_does_no_linear_algebra() -> None:
    """A process that forks while another thread is in OpenBLAS waits for ever."""
    seen = (
        "from tellegen.simulation.building_ahead import build_solvers_ahead\n"
        "from tellegen.simulation.poles import pole_table\n"
        "build_solvers_ahead().join()\n"
        "print(pole_table.cache_info().currsize)\n"
    )
    told = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    assert told.stdout == "0\n"
