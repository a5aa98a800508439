# Everything a contributor runs, one command each. `make help` prints the list below from this file's own comments.

PYTHON ?= python3
WORKERS ?= 2
SECONDS ?= 60
SEED ?= 1

# Tests of one file stay together, so that what they share is made once; an idle worker takes over from the other.
# The workers fill the processors: threads of BLAS beside them would only wait for each other.
PYTEST = OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PAGES := src/tellegen/server/client/.sources

# Where the environment forbids byte code, each of the hundreds of commands that tests and pages run would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup studio demo test test-slow sheet test-tools fuzz check format bench bench-page docs wheels clean

MACHINES := linux-x86_64 linux-aarch64 macos-x86_64 macos-arm64 windows-x86_64

help:  ## print this list
	@echo "usage: make TARGET"
	@echo
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

setup: $(STAMP) $(PAGES)  ## create .venv with Tellegen and its tools, when pyproject.toml has changed

studio: $(STAMP)  ## build the pages of the studio, with Node 20 or newer
	@$(BIN)/python tools/build_studio.py --must

demo: setup  ## derive, reduce and simulate a corking machine, and write report.html
	@$(BIN)/python tools/demo.py

test: setup  ## run the tests
	@$(PYTEST)

test-slow: setup  ## run all tests, the slow ones too, with more random examples
	@TELLEGEN_SLOW=1 $(PYTEST) -m 'slow or not slow'

sheet: setup  ## draw all examples in all notations on one sheet, to be looked at
	@$(BIN)/python tools/sheet.py

test-tools:  ## install the programs that some tests compare with: Octave, pdflatex, Chromium, Firefox (Debian, Ubuntu)
	@sh tools/install_test_tools.sh

fuzz: setup  ## attack everything with random and hostile input: SECONDS=600 SEED=1, another seed, other examples
	@$(BIN)/python -m fuzz --seconds $(SECONDS) --seed $(SEED)

check: setup  ## check format, style and types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/python tools/build_studio.py --types

format: setup  ## write all Python files in the common format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: setup  ## run the benchmarks: all, or NAMES="start runs"
	@$(BIN)/python -m benchmarks $(NAMES)

bench-page: setup  ## run all benchmarks with all sizes, and write their page again
	@PYTHONPATH=. $(BIN)/python tools/write_benchmarks.py

docs: setup  ## write the pages made from the code and the outputs shown on pages again, and build the site in build/site
	@$(BIN)/python tools/generate_docs.py
	@$(BIN)/python tools/published_numbers.py
	@$(BIN)/python tools/refresh_outputs.py
	@$(BIN)/python -m sphinx -q -W -j auto docs build/site
	@echo "open build/site/index.html"

wheels: setup  ## build the wheels of all machines in dist, each with its compiled solvers
	@for machine in $(MACHINES); do TELLEGEN_WHEEL_FOR=$$machine $(BIN)/python -m pip wheel --quiet --no-deps -w dist . || exit 1; done
	@ls -l dist

clean:  ## remove .venv, caches and build results
	rm -rf $(VENV) build dist src/tellegen/server/client studio/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Tellegen needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)."; \
	  echo "Name another one: make setup PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Without Node nothing is built, which a line says: the studio is missing then, and all else works.
$(PAGES): $(wildcard studio/*.json studio/*.ts studio/*.html studio/src/*) | $(STAMP)
	@$(BIN)/python tools/build_studio.py

# What is there already is not asked for again, so that a complete environment needs no network.
$(STAMP): pyproject.toml | $(BIN)/python
	@$(BIN)/python tools/is_installed.py || $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(STAMP)
