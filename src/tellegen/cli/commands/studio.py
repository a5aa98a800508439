"""The command `studio`."""

from dataclasses import dataclass

from tellegen.cli import output
from tellegen.cli.options import command
from tellegen.core.options import option
from tellegen.server.studio import studio as begin


@dataclass(frozen=True, kw_only=True)
class StudioOptions:
    """What `studio` is asked for."""

    model: str = option(
        "",
        "A model file, a folder, or the name of a built-in example; else this folder.",
        metavar="MODEL",
        positional=True,
    )
    port: int = option(0, "The port of this machine; 0 takes a free one.", least=0)
    no_browser: bool = option(False, "Print the address, and open no browser.")


@command("tellegen studio", "tellegen studio dc_motor_pump", "tellegen studio motor.yaml --port 8765 --no-browser")
def studio(options: StudioOptions) -> None:
    """Open a model and all its views in the browser: figures, equations and curves that follow each edit."""
    with begin(options.model or None, port=options.port, browser=not options.no_browser) as running:
        output.write(f"The studio runs at {running.url}\n(Ctrl-C ends it; your files are always saved.)\n")
        try:
            running.wait()
        except KeyboardInterrupt:
            output.write("\n")
