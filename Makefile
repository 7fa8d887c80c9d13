# The workspace's commands. `make` alone lists them.
# PYTHON chooses the interpreter for the environment: make book PYTHON=python3.11

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
REVIEWS ?= sample
BANK ?= sample
WORKERS ?= auto
export PYDEVD_DISABLE_FILE_VALIDATION := 1

.DEFAULT_GOAL := help
.PHONY: help env book test check lint lab bench clean

help: ## List these commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-7s %s\n", $$1, $$2}'

# pyproject.toml and constraints.txt decide the environment; when one is newer, pip brings it up to date.
$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || { echo "creating $(VENV) with $(PYTHON)"; "$(PYTHON)" -m venv $(VENV); }
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $@

env: $(STAMP) ## Set up the environment in .venv (the others do it by themselves when needed)

book: $(STAMP) ## Run every experiment on the embedded sample and render the book in _build/html
	$(BIN)/litsynth book --no-open

test: $(STAMP) ## Run all tests
	$(BIN)/python -m pytest -q --numprocesses $(WORKERS) --dist loadfile

check: lint test ## Lint, then all tests (layers and clean notebooks among them)

lint: $(STAMP) ## Check style
	$(BIN)/ruff check .

lab: $(STAMP) ## Open JupyterLab on the notebooks
	$(BIN)/python -m ipykernel install --prefix $(VENV) --name python3 --display-name "Python 3 (litsynth)" >/dev/null
	$(BIN)/jupyter lab notebooks --LabApp.news_url=None \
	    --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate

bench: $(STAMP) ## Measure speed; REVIEWS=FOLDER and BANK=FOLDER name larger data than the sample
	$(BIN)/python tests/benchmarks/run_all.py --reviews $(REVIEWS) --bank $(BANK)

clean: ## Remove what was built (not data, runs or the environment)
	rm -rf _build build book/generated book/runs .pytest_cache .ruff_cache
