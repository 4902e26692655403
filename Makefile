# Two commands do all the set-up: `make repro` and `make test`.
.DEFAULT_GOAL := help
.PHONY: help repro test check bench calibrate schemas lock clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export PATH := $(CURDIR)/$(BIN):$(PATH)
export DVC_NO_ANALYTICS := 1

help: ## Say what each target does
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 12

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(READY)

repro: $(READY) ## Install, then rebuild the leaderboard on the starter release
	$(BIN)/dvc repro --quiet
	@$(BIN)/flavourbench leaderboard

test: $(READY) ## Install, then run the tests
	$(BIN)/python -m pytest

check: $(READY) ## Format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(READY) ## Run the benchmarks: ratios within one run
	$(BIN)/python -m benchmarks

calibrate: $(READY) ## Simulate benchmarks with known truth: does inference keep its word
	$(BIN)/python -m benchmarks.calibrate

schemas: $(READY) ## Export the JSON Schemas of all rows and of params.yaml
	$(BIN)/python -m schemas

lock: ## Pin every dependency by hash (needs uv)
	uv pip compile pyproject.toml --extra dev --python-version 3.11 --universal --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links --output-file requirements.lock

clean: ## Remove what was installed and built, not the ledgers
	rm -rf $(VENV) artifacts/*/ build *.egg-info
