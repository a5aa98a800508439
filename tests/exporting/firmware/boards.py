"""Where a step in C runs: on this machine, and on a Cortex-M4 in qemu. Both print what it shows, in all digits."""

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tellegen as tg
from tellegen.compiler.toolchain import find_compiler

STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wdouble-promotion", "-Wconversion", "-Werror")
# Generated code names what the compiler then finds it can do without, and groups logic as C does.
LAX = ("-Wno-unused-parameter", "-Wno-unused-variable", "-Wno-parentheses", "-Wno-type-limits")
CORE = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")

MEMORY = """
MEMORY { FLASH (rx) : ORIGIN = 0x00000000, LENGTH = 4M  RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 4M }
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > FLASH
  .ARM.exidx : { *(.ARM.exidx*) } > FLASH
  .data : { *(.data*) } > RAM AT > FLASH
  data_from = LOADADDR(.data); data_begin = ADDR(.data); data_end = ADDR(.data) + SIZEOF(.data);
  .bss : { bss_begin = .; *(.bss*) *(COMMON) bss_end = .; } > RAM
  end = .; _end = .; stack_top = ORIGIN(RAM) + LENGTH(RAM);
}
"""
START_UP = r"""
#include <stdint.h>
#include <stdlib.h>
extern uint32_t data_from, data_begin, data_end, bss_begin, bss_end, stack_top;
extern void initialise_monitor_handles(void);
int main(void);
void _init(void) {}
void _fini(void) {}
void begin(void) {
  *(volatile uint32_t *)0xE000ED88 |= 0xF << 20; /* lets the unit for floating point in */
  uint32_t *from = &data_from;
  for (uint32_t *to = &data_begin; to < &data_end;) *to++ = *from++;
  for (uint32_t *to = &bss_begin; to < &bss_end;) *to++ = 0;
  initialise_monitor_handles();
  exit(main());
}
void fault(void) { for (;;) exit(3); }
__attribute__((section(".vectors"), used)) void *const vectors[16] = {&stack_top, begin, fault, fault, fault, fault, fault};
"""
Rows = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """The two files of a step."""

    folder: Path
    name: str

    @property
    def header(self) -> str:
        return (self.folder / f"{self.name}.h").read_text(encoding="ascii")

    @property
    def source(self) -> str:
        return (self.folder / f"{self.name}.c").read_text(encoding="ascii")

    @property
    def method(self) -> str:
        found = re.search(r"Method: (\w+),", self.header)
        assert found is not None
        return found[1]

    def fields(self, struct: str) -> list[str]:
        """The fields of one of the three structs."""
        found = re.search(rf"typedef struct {self.name}_{struct} {{\n(.*?)\n}}", self.header, re.DOTALL)
        assert found is not None
        return re.findall(r"^  \w[\w ]* (\w+)[;\[]", found[1], re.MULTILINE)

    def on_host(self, steps: int, every: int = 1, body: str = "", beside: Sequence["Step"] = ()) -> dict[str, Rows]:
        """What is shown at every so many steps, on this machine; `body` sets `in` before each, and may make steps `beside`."""
        compiler = find_compiler()
        assert compiler is not None
        program = self.folder / f"{self.name}_host"
        self._write_main(steps, every, body, beside)
        sources = [*(step.folder / f"{step.name}.c" for step in (self, *beside)), self.folder / "main.c"]
        command = [*compiler.command, *STRICT, *LAX, "-ffp-contract=off", *sources, "-o", program, "-lm"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return self._shown(subprocess.run([program], capture_output=True, text=True, check=False, timeout=60))

    def on_board(
        self, tool: Callable[[str], str], steps: int, every: int = 1, body: str = "", beside: Sequence["Step"] = ()
    ) -> dict[str, Rows]:
        """The same on a Cortex-M4, of which qemu makes an MPS2 with AN386."""
        gcc, emulator = tool("arm-none-eabi-gcc"), tool("qemu-system-arm")
        self._write_main(steps, every, body, beside)
        for name, text in (("board.ld", MEMORY), ("start_up.c", START_UP)):
            (self.folder / name).write_text(text, encoding="ascii")
        names = [step.name for step in (self, *beside)]
        strict = [[gcc, *STRICT, *LAX, *CORE, "-c", f"{name}.c", "-o", f"{name}.o"] for name in names]
        linked = [gcc, "-std=c99", "-O2", *CORE, "--specs=rdimon.specs", "-nostartfiles", "-T", "board.ld"]
        linked += [
            "start_up.c",
            "main.c",
            *(f"{name}.o" for name in names),
            "-o",
            "firmware.elf",
            "-lm",
            "-u",
            "_printf_float",
        ]
        for command in (*strict, linked):
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        machine = ["-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none"]
        run = [emulator, *machine, "-semihosting-config", "enable=on,target=native", "-kernel", "firmware.elf"]
        return self._shown(
            subprocess.run(run, cwd=self.folder, capture_output=True, text=True, check=False, timeout=120)
        )

    def symbols(self, tool: Callable[[str], str]) -> set[str]:
        """What the step asks of others on the board, once `on_board` has compiled it."""
        command = [tool("arm-none-eabi-nm"), "-u", f"{self.name}.o"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=True)
        return {line.split()[-1] for line in done.stdout.splitlines()}

    def _write_main(self, steps: int, every: int, body: str, beside: Sequence["Step"]) -> None:
        n, shown = self.name, self.fields("output")
        headers = "".join(f'#include "{step.name}.h"\n' for step in (self, *beside))
        text = "".join(f'      printf(" %.17g", (double)out.{field});\n' for field in shown)
        (self.folder / "main.c").write_text(
            f"""
#include <stdio.h>
{headers}static {n}_state state;
int main(void) {{
  {n}_input in = {{0}};
  {n}_output out;
  {n}_start(&state);
  for (long k = 0; k < {steps}; k++) {{
    {body}
    if ({n}_step(&state, &in, &out)) return 2;
    if (k % {every} == 0) {{
{text}      printf("\\n");
    }}
  }}
  return 0;
}}
""",
            encoding="ascii",
        )

    def _shown(self, done: "subprocess.CompletedProcess[str]") -> dict[str, Rows]:
        assert done.returncode == 0, f"the step gave up with {done.returncode}: {done.stderr}"
        rows = np.array([[float(word) for word in line.split()] for line in done.stdout.splitlines()])
        return dict(zip(self.fields("output"), rows.T, strict=True))


def written(model: Any, folder: Path, name: str = "", **options: Any) -> Step:
    source, _ = sorted(tg.export_model(model, "c", folder, name=name, **options))
    return Step(source.parent, source.stem)


def shares_off(run: tg.Run, shown: dict[str, Rows]) -> dict[str, float]:
    """How far each output is from a run with the same rows, of the largest value of its unit."""
    by_field = {name.replace(".", "__").replace("[", "_").replace("]", ""): name for name in run.names}
    largest: dict[str, float] = {}
    pairs = [(by_field[field], values) for field, values in shown.items() if field in by_field]
    for name, _ in pairs:
        largest[run.unit(name)] = max(largest.get(run.unit(name), 1e-3), float(np.max(np.abs(run.values(name)))))
    return {name: float(np.max(np.abs(run.values(name) - values))) / largest[run.unit(name)] for name, values in pairs}
