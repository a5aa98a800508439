#!/bin/sh
# Install the programs that check Tellegen from outside, from Debian's packages: what is there already is left alone.
# Tests that need a program that is missing are skipped, and the end of the test run names them.
set -eu

packages=""
need() { command -v "$1" > /dev/null 2>&1 || packages="$packages $2"; }
need octave-cli octave
need pdflatex "texlive-latex-base texlive-latex-recommended"
kpsewhich standalone.cls > /dev/null 2>&1 || packages="$packages texlive-latex-extra"
kpsewhich lmodern.sty > /dev/null 2>&1 || packages="$packages lmodern"
kpsewhich tikz.sty > /dev/null 2>&1 || packages="$packages texlive-pictures"
need chromium chromium
need firefox firefox-esr
need pdftoppm poppler-utils
need ngspice ngspice
need arm-none-eabi-gcc "gcc-arm-none-eabi libnewlib-arm-none-eabi"
need qemu-system-arm qemu-system-arm
need wine "wine wine64"
need cmake cmake

if [ -z "$packages" ]; then
  echo "Octave, pdflatex, Chromium, Firefox, pdftoppm, ngspice, the compiler and the emulator for ARM, Wine and CMake are there."
  exit 0
fi
if ! command -v apt-get > /dev/null 2>&1; then
  echo "There is no apt-get here. Install with your own package manager:$packages" >&2
  exit 1
fi
sudo=""
[ "$(id -u)" -eq 0 ] || sudo=sudo
echo "installing$packages"
$sudo apt-get update -qq
# shellcheck disable=SC2086  # a list of words is meant
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $packages > /dev/null
