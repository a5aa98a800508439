"""Write the outputs that the pages show below their `tellegen` commands again, and the pictures they draw, from the commands.

An output with `...` in it was cut by hand and is left alone, as is a command without output; the tests compare those.
"""

import io
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir, redirect_stdout
from pathlib import Path

import matplotlib

from code_blocks import (
    ROOT,
    Block,
    Command,
    blocks,
    commands,
    ends_by_itself,
    is_ours,
    pages,
    pictures,
    python_source,
    run,
    shows_error,
)


class CommandFailedError(Exception):
    """A command that a page shows at work has failed: what it prints now does not belong on the page."""


def refreshed(page: Path) -> str:
    """The text of a page with its outputs as they are now; its pictures are drawn again."""
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "__main__"}
    shown = pictures(page)
    with tempfile.TemporaryDirectory() as name, chdir(name):
        for block in blocks(page):
            if block.file:
                Path(block.file).write_text(block.text, encoding="utf-8")
            if block.language == "console":
                text = text.replace(
                    f"```console\n{block.text}```", f"```console\n{_console(block, Path(name), bool(shown))}```"
                )
            elif block.language == "python" and shown:
                with redirect_stdout(io.StringIO()):
                    exec(python_source(block.text), names)
        for picture in shown:
            if Path(picture.name).is_file():
                picture.write_bytes(Path(picture.name).read_bytes())
    return text


def keep_plots_the_same() -> None:
    """Let equal plots be equal files: names inside them follow from what they show, and no date is written."""
    matplotlib.rcParams["svg.hashsalt"] = "tellegen"
    os.environ["SOURCE_DATE_EPOCH"] = "0"


def _console(block: Block, folder: Path, all_of_them: bool) -> str:
    """The block with its outputs; `all_of_them` runs commands that show none too, for what they write."""
    parts = [f"$ {c.words}\n{_output(c, folder, all_of_them)}" for c in commands(block)]
    if "\\\n" in block.text:
        return block.text
    return "\n".join(parts) if any(c.output for c in commands(block)) else "".join(parts)


def _output(command: Command, folder: Path, always: bool) -> str:
    shown = "" if command.output is None else command.output.strip("\n") + "\n"
    is_kept = not shown or "..." in shown
    if not is_ours(command) or not ends_by_itself(command) or (is_kept and not always):
        return shown
    status, output = run(command, folder)
    if status != int(shows_error(command)):
        raise CommandFailedError(f"$ {command.words}\n{output}")
    return shown if is_kept else "\n".join(line.rstrip() for line in output.strip("\n").splitlines()) + "\n"


def main() -> int:
    """Refresh every page and name those that changed; pages know nothing of each other, so all processors share them."""
    with ProcessPoolExecutor(initializer=keep_plots_the_same) as pool:
        waiting = {page: pool.submit(refreshed, page) for page in pages()}
    status = 0
    for page, result in waiting.items():
        failure = result.exception()
        if isinstance(failure, CommandFailedError):
            status = 1
            print(f"{page.relative_to(ROOT)} is left as it was: a command on it fails\n{failure}", file=sys.stderr)
        elif (text := result.result()) != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
            print(page.relative_to(ROOT))
    return status


if __name__ == "__main__":
    sys.exit(main())
