# Every target prepares its own environment: a fresh clone needs Python 3.11 or newer and make, nothing else.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: run test test-all test-processors check bench docs wheel setup clean

run: $(VENV)/run.ok
	$(BIN)/tabi demo

# the laws of physics and every package, in a few minutes: nothing that starts another program
test: $(VENV)/dev.ok
	$(BIN)/tabi warmup --quiet
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not (process or browser or docs or papers or slow)"

# with other processes, the page in a browser, the documentation, papers' experiments and long runs
test-all: $(VENV)/dev.ok
	$(BIN)/tabi warmup --quiet
	$(BIN)/python -m pytest -n 2 --dist loadfile

# the laws of physics, with machine code of a plain x86-64, of Haswell and of Skylake with AVX-512
test-processors: $(VENV)/dev.ok
	$(BIN)/python tests/run_on_processors.py

check: $(VENV)/dev.ok
	$(BIN)/ruff check src tests docs examples
	$(BIN)/ruff format --check src tests docs examples
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/architecture

bench: $(VENV)/dev.ok
	$(BIN)/tabi bench dynamics
	$(BIN)/tabi bench delassus
	$(BIN)/tabi bench solver

docs: $(VENV)/dev.ok $(VENV)/docs.ok
	$(BIN)/python docs/make_tables.py
	$(BIN)/mkdocs build --strict

wheel: $(VENV)/run.ok
	$(BIN)/tabi warmup --ship
	$(PIP) wheel --no-deps --wheel-dir dist .
	rm -rf src/tabi/_kernels

setup: $(VENV)/dev.ok $(VENV)/docs.ok

$(VENV)/run.ok: pyproject.toml
	@test -n "$(PYTHON)" || { echo "tabi needs Python 3.11 or newer; install it, or say where: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "tabi needs Python 3.11 or newer; $(PYTHON) is older: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "preparing $(VENV) (once, a minute or two) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --editable .
	@touch $@

$(VENV)/dev.ok: $(VENV)/run.ok
	@echo "installing the referees and tools for tests (once) …"
	@$(PIP) install --editable ".[dev]"
	@touch $@

$(VENV)/docs.ok: $(VENV)/run.ok
	@$(PIP) install --editable ".[docs]"
	@touch $@

clean:
	rm -rf $(VENV) site
