#!/bin/sh
# What `make demo` shows. The argument is the command to run.
set -eu
tellegen=$1

echo "\$ tellegen derive dc_motor_pump"
"$tellegen" derive dc_motor_pump
echo
echo "\$ tellegen reduce dc_motor_pump --limit J_m=0"
"$tellegen" reduce dc_motor_pump --limit J_m=0
echo
echo "\$ tellegen simulate dc_motor_pump --plot demo.png"
"$tellegen" simulate dc_motor_pump --plot demo.png
cat <<'END'

Where to go next
  .venv/bin/tellegen examples                      the systems that come with Tellegen
  .venv/bin/tellegen check dc_motor_pump           what it notices about a model
  .venv/bin/tellegen analyse dc_motor_pump         poles, zeros, gains, who takes the power
  .venv/bin/tellegen simulate buck_converter       a run through the modes of a switch and a diode
  README.md                                        a two-minute tour
END
