#!/bin/sh
# What `make demo` shows. The argument is the command to run.
set -eu
tellegen=$1

echo "\$ tellegen derive dc_motor_pump"
"$tellegen" derive dc_motor_pump
cat <<'END'

Where to go next
  .venv/bin/tellegen examples                      the systems that come with Tellegen
  .venv/bin/tellegen check dc_motor_pump           what it notices about a model
  .venv/bin/tellegen derive dc_motor_pump --json   the same equations for other programs
  README.md                                        a two-minute tour
END
