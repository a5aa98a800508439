"""What all tests share: how many random examples are tried, which tests are slow, and which need a tool of the system."""

import os
import shutil
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

SLOW = os.environ.get("TELLEGEN_SLOW") == "1"
NEEDS = "needs the system tool "

# In CI a failure must be the change's fault, so the examples are the same every time there.
# Random networks that physics forbids (sources that fight, say) are left out of the laws, which may be many of those drawn.
LAX = [HealthCheck.filter_too_much, HealthCheck.too_slow]
settings.register_profile(
    "default", max_examples=10, deadline=None, derandomize="CI" in os.environ, suppress_health_check=LAX
)
settings.register_profile("slow", max_examples=250, deadline=None, suppress_health_check=LAX)
settings.load_profile("slow" if SLOW else "default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the tests marked slow to `make test-slow`."""
    if SLOW:
        return
    skip = pytest.mark.skip(reason="slow: run by make test-slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def system_tool() -> Callable[[str], str]:
    """Asks for a program of the system: gives its path, or skips the test."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            pytest.skip(NEEDS + name)
        return path

    return find


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which tests were skipped for want of a system tool: they would be missed otherwise."""
    reasons = [(report, _reason(report)) for report in terminalreporter.getreports("skipped")]
    skipped = [(report, reason) for report, reason in reasons if reason.startswith(NEEDS)]
    if not skipped:
        terminalreporter.write_line("No test was skipped for want of a system tool.")
        return
    terminalreporter.write_line("Skipped for want of a system tool:")
    for report, reason in skipped:
        terminalreporter.write_line(f"  {report.nodeid} {reason}")


def _reason(report: pytest.TestReport) -> str:
    where = report.longrepr
    return where[2].removeprefix("Skipped: ") if isinstance(where, tuple) else ""


@pytest.fixture(scope="session")
def quick_units() -> None:
    """Units are compiled without a search for speed, which takes four times as long: quick tests ask what they do."""
    from tellegen.exporting.fmu import unit

    if not SLOW:
        vars(unit)["FLAGS"] = tuple("-O0" if flag == "-O2" else flag for flag in unit.FLAGS)
