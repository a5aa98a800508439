"""Workers: runs that are ended keep what is finished, work that is lost is told, and another worker takes the place."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.shipped import SYSTEMS
from tellegen.server.protocol import RunDone
from tellegen.server.workers import WorkerBugError, Workers

ENDLESS = re.sub("until: [^,\\n}]*", "until: 1e6 s", (SYSTEMS / "stick_slip.yaml").read_text())
"""It sticks and slips for days, each time another one."""
SMALL = "system: Small\nnetwork:\n  m: {mass: [a], m: 1 kg}\n  b: {damper: [a, frame], b: 1 N*s/m}\n"


@contextmanager
def workers() -> Iterator[Workers]:
    made = Workers(count=1)
    try:
        yield made
    finally:
        made.close()


def test_a_run_that_is_cancelled_keeps_what_is_finished() -> None:
    async def play() -> RunDone:
        with workers() as pool:
            stop = asyncio.Event()
            reached = asyncio.Event()
            loop = asyncio.get_running_loop()

            def tell(at: float, _until: float) -> None:
                if at > 0:  # what has not begun has nothing that is finished
                    loop.call_soon_threadsafe(reached.set)

            call = pool.call(
                "run", (1, 0, False), (ENDLESS, "m.yaml", "."), {},
                seconds=300, tell=tell, stop=stop,
            )  # fmt: skip
            work = asyncio.create_task(call)
            await asyncio.wait_for(reached.wait(), 300)
            stop.set()
            done, numbers = await work
            # The worker is still there, and does the next thing.
            assert await pool.call("structure", 0, SMALL, "m.yaml", ".", seconds=100)
            assert isinstance(done, RunDone)
            t = np.frombuffer(numbers[0])
            assert 0 < t[-1] < 1e6
            assert len(t) == done.points
            return done

    assert asyncio.run(play()).status == "cancelled"


ALONE = """
import multiprocessing, time
from tellegen.server.workers import work
context = multiprocessing.get_context("fork")
# The worker holds both ends of its pipe: that the studio is gone does not show there.
ours, theirs = context.Pipe()
worker = context.Process(target=work, args=(theirs,))
worker.start()
print(worker.pid, flush=True)
time.sleep(3600)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system tells no states of processes")
def test_a_worker_ends_with_the_studio_that_was_killed_whatever_it_does() -> None:
    with subprocess.Popen([sys.executable, "-c", ALONE], stdout=subprocess.PIPE, text=True) as studio:
        assert studio.stdout is not None
        worker = Path("/proc") / studio.stdout.readline().strip() / "stat"
        assert worker.exists()
        studio.kill()
    # One that has ended may wait for somebody to read how.
    ends = time.monotonic() + 60
    while worker.exists() and worker.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < ends, "the worker is still there"
        time.sleep(0.05)


def test_work_that_is_lost_is_told_and_the_next_is_done_by_another_worker() -> None:
    async def play() -> None:
        with workers() as pool:
            await pool.warm()
            (worker,) = pool.all
            assert worker.process.pid is not None
            os.kill(worker.process.pid, signal.SIGKILL)
            worker.process.join(20)
            assert (await pool.call("structure", 0, SMALL, "m.yaml", ".", seconds=100)).ok
            with pytest.raises(tg.DescriptionError, match="D726"):
                await pool.call("run", (1, 0, False), (ENDLESS, "m.yaml", "."), {}, seconds=1)
            with pytest.raises(tg.DescriptionError, match=r"D\d+"):
                await pool.call("picture", "system: Nothing\n", "m.yaml", ".", "bond", "colour", seconds=100)
            with pytest.raises(WorkerBugError, match="KeyError"):
                await pool.call("no such function", seconds=100)
            task = asyncio.create_task(pool.call("run", (1, 0, False), (ENDLESS, "m.yaml", "."), {}, seconds=100))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await pool.call("structure", 0, SMALL, "m.yaml", ".", seconds=100)).ok

    asyncio.run(play())
