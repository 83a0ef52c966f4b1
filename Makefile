# Needs only make, Python >= 3.10 with pip, and a network that pip may use. Settings of pip itself (index, cache,
# proxy, a CPU-only build of torch) are pip's: environment variables PIP_* or pip.conf.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
TREE := build/tree/ontodex
NUMERIC := $(addprefix tests/,geometry encoders papers trainers scoring storage engine indexers)
FOLDERS := encoders engine geometry graph indexers readers scoring storage trainers

# Names of the first design that may not come back (whole words).
OLD_WORDS := kin_rule|KinRule|precedents?|Precedents?|Raised|bearers|wholeness|likely_relations|condition_ways|linked_tails|link_odds

.DEFAULT_GOAL := help
.PHONY: help install demo docs test test-plain check format torture bench tree clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

install: $(VENV)/.installed ## Create .venv and install ontodex in it, editable, with pinned dependencies

demo: install ## Build a small index and ask it questions
	$(BIN)/ontodex demo

test: install ## Run all tests, a process for each core, one thread in each
	OMP_NUM_THREADS=1 $(BIN)/pytest tests -n auto --dist loadfile $(ARGS)

# PyTorch, MKL, oneDNN (and with it bfloat16), OpenBLAS and FAISS choose their code by the processor: here the oldest.
test-plain: install ## Run the fast tests of what computes as on the plainest processor
	ATEN_CPU_CAPABILITY=default MKL_ENABLE_INSTRUCTIONS=SSE4_2 ONEDNN_MAX_CPU_ISA=SSE41 OPENBLAS_CORETYPE=Nehalem \
	FAISS_SIMD_LEVEL=NONE OMP_NUM_THREADS=1 $(BIN)/pytest $(NUMERIC) -m 'not slow' -n auto --dist loadfile $(ARGS)

check: install tree ## Lint, format, types, import layers, the examples of the docstrings; changes nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPYPATH=$(dir $(TREE)) $(BIN)/mypy -p ontodex
	PYTHONPATH=$(dir $(TREE)) $(BIN)/lint-imports
	$(BIN)/pytest --doctest-modules $(TREE)
	@! git grep -nwE '$(OLD_WORDS)' -- '*.py' '*.pyi' '*.md' '*.toml' '*.json' '*.yaml'

format: install ## Sort imports, format, and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed-docs ## Build the site in build/docs, with the notebooks executed; warnings are errors
	OMP_NUM_THREADS=2 $(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs $(ARGS)

torture: $(VENV)/.installed-torture ## Test reliability at full length, about an hour, and record it
	$(BIN)/python -m benchmarks reliability $(ARGS)

bench: $(VENV)/.installed-bench ## Measure the papers' tables and the peers (ARGS="--help" lists them)
	$(BIN)/python -m benchmarks $(ARGS)

clean: ## Remove .venv, built files and caches
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# torch comes first, alone, at its pinned version: nothing that follows can bring in another build of it.
$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "ontodex needs Python 3.10 or newer, $(PYTHON) is " + sys.version)'
	@echo 'Installing ontodex and what it needs into $(VENV): some minutes, mostly the download of torch'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c constraints.txt 'pip>=22' setuptools torch
	$(PIP) install -q -c constraints.txt --no-build-isolation -e '.[demo,dev]'
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.installed
	$(PIP) install -q -c constraints.txt --no-build-isolation -e '.[bench]'
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) install -q -c constraints.txt --no-build-isolation -e '.[docs]'
	@touch $@

$(VENV)/.installed-torture: $(VENV)/.installed
	$(PIP) install -q -c constraints.txt --no-build-isolation -e '.[torture]'
	@touch $@

# The root folders under their import names, for tools that read files instead of importing them.
tree:
	@mkdir -p $(TREE)
	@find $(TREE) -type l ! -exec test -e {} \; -delete
	@ln -sfn $(addprefix ../../../,$(filter-out api/__pycache__,$(wildcard api/*)) $(FOLDERS)) $(TREE)/
