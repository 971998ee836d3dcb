# Every target prepares its own environment: a fresh clone needs Python 3.11 or newer and make, nothing else.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
# two processes, a file at a time, in the order of tests/conftest.py
PARALLEL := -n 2 --dist loadfile --no-loadscope-reorder
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: run test test-all test-processors check check-types check-style bench docs wheel try-wheels lock setup clean

run: $(VENV)/run.ok
	$(BIN)/tabi demo

# the laws of physics and every package, in a few minutes: nothing that starts another program
test: $(VENV)/dev.ok
	$(BIN)/tabi warmup --quiet
	$(BIN)/python -m pytest $(PARALLEL) --ignore tests/architecture \
	  -m "not (process or browser or docs or papers or slow)"

# with other processes, the page in a browser, the documentation, papers' experiments and long runs
test-all: $(VENV)/dev.ok
	$(BIN)/tabi warmup --quiet
	$(BIN)/python -m pytest $(PARALLEL)

# the laws of physics, with machine code of a plain x86-64, of Haswell and of Skylake with AVX-512
test-processors: $(VENV)/dev.ok
	$(BIN)/python tests/run_on_processors.py

check: $(VENV)/dev.ok
	$(MAKE) --jobs 2 --output-sync=target check-types check-style

check-types: $(VENV)/dev.ok
	$(BIN)/ty check

check-style: $(VENV)/dev.ok
	$(BIN)/ruff check src tests docs examples release
	$(BIN)/ruff format --check src tests docs examples release
	$(BIN)/codespell src docs examples release *.md
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/architecture -m "not docs"

bench: $(VENV)/dev.ok
	$(BIN)/tabi bench dynamics
	$(BIN)/tabi bench delassus
	$(BIN)/tabi bench solver

docs: $(VENV)/dev.ok $(VENV)/docs.ok
	$(BIN)/python docs/generate/tables.py
	$(BIN)/mkdocs build --strict

# one with compiled kernels for each Python on this machine, and a pure one, in dist/
wheel:
	$(PYTHON) release/wheels.py build

# each wheel in fresh environments, with the lowest and the highest releases of Numba and NumPy
try-wheels:
	$(PYTHON) release/wheels.py try

# the versions that developers use
lock: $(VENV)/run.ok
	$(PIP) install uv
	@{ head -2 requirements.lock; $(BIN)/uv pip compile --quiet pyproject.toml --extra dev --extra docs \
	  --universal --python-version 3.11 --no-annotate --no-header; } > requirements.lock.new
	@mv requirements.lock.new requirements.lock

setup: $(VENV)/dev.ok $(VENV)/docs.ok

$(VENV)/run.ok: pyproject.toml
	@test -n "$(PYTHON)" || { echo "tabi needs Python 3.11 or newer; install it, or say where: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "tabi needs Python 3.11 or newer; $(PYTHON) is older: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "preparing $(VENV) (once, a minute or two) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --editable ".[plot]"
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
