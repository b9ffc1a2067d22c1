# Two commands: `make run` sets up and opens orca-tui; `make test` sets up and runs every test.
# Both do only what is missing, so a second run takes seconds.

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3.14 python3 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help run test sweep gate check setup dev clean

help:  ## Show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile

run: $(VENV)/.run  ## Set up (first time: packages and the built-in model) and open orca-tui
	@$(BIN)/orca-tui model add builtin --if-missing
	@$(BIN)/orca-tui

test: $(VENV)/.dev  ## Set up and run all tests
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

sweep: $(VENV)/.dev  ## Let every disk call of every command fail in every way (hours)
	@ORCA_SWEEP=full $(BIN)/python -m pytest tests/faults/test_sweep.py

gate: $(VENV)/.dev  ## Put every hostile text into every place of the screen and every command (minutes)
	@ORCA_SWEEP=full $(BIN)/python -m pytest tests/faults/test_gate_screen.py tests/faults/test_gate_command_line.py

check: $(VENV)/.dev  ## Lint, format, types, import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/bandit --quiet --configfile pyproject.toml --recursive memory orca_tui

soak: $(VENV)/.dev  ## Chat at random with faults for SECONDS (an hour), then verify everything
	@$(BIN)/python tests/faults/soak.py $(or $(SECONDS),3600) $(or $(SEED),1)

setup: $(VENV)/.run  ## Set up what `make run` needs, without opening it

dev: $(VENV)/.dev  ## Set up what `make test` needs

$(VENV)/bin/python:
	@test -n "$(PYTHON)" && command -v "$(PYTHON)" >/dev/null 2>&1 || { \
		echo "orca-tui needs Python 3.11 or newer; $(or $(PYTHON),none) was not found." \
		"Install it (https://www.python.org/downloads/), or name it: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "orca-tui needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." >&2; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version) …"
	@$(PYTHON) -m venv $(VENV) || { echo "$(PYTHON) cannot make a virtual environment." \
		"On Debian and Ubuntu: sudo apt install python3-venv" >&2; rm -rf $(VENV); exit 1; }

define install
	@echo "Installing orca-tui$(1) (a few minutes the first time) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".$(1)" || { \
		echo "Installing failed. Is the network (or your package index) reachable? Then run make again." >&2; exit 1; }
	@touch $@
endef

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	$(call install,[local])

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(call install,[local$(comma)dev])

comma := ,

clean:  ## Remove the virtual environment and caches
	@rm -rf $(VENV) .cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
