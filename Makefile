PYTHON ?= python

# one of each kind: element-wise, reductions, contractions, windows, gathers, scans, complex numbers
REPRESENTATIVE = linear swiglu softmax layer_norm cross_entropy attention conv2d embedding_bag gated_recurrence \
    complex_linear

.DEFAULT_GOAL := help
.PHONY: help install build check test test-generated test-thorough test-slow test-representative compile lint \
    format types ci clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install:  ## install opgen with everything its tests need
	$(PYTHON) -m pip install -e '.[test]'

build:  ## generate every operator
	opgen build specs

check:  ## fail if generated/ is not what the specs give
	opgen build specs --check

compile:  ## compile the native library of every operator
	opgen compile

test:  ## run the quick tests
	pytest

test-generated:  ## run the tests of every generated operator in plain torch
	pytest generated

test-thorough:  ## run what takes minutes: every spec, random programs, compiled and emulated kernels
	pytest -m 'thorough and not slow and not gpu'

test-slow:  ## run the slow tests
	pytest -m slow

test-representative:  ## run all tests of ten operators, slow ones too, in plain torch and compiled
	opgen compile $(REPRESENTATIVE)
	opgen test --backend all $(REPRESENTATIVE)
	OPGEN_BACKEND=torch pytest -m slow $(foreach op,$(REPRESENTATIVE),generated/$(op)/test_$(op).py)
	OPGEN_BACKEND=native pytest -m slow $(foreach op,$(REPRESENTATIVE),generated/$(op)/test_$(op).py)

lint:  ## ruff, clang-format
	ruff check .
	ruff format --check .
	find generated \( -name '*.cpp' -o -name '*.cu' -o -name '*.h' \) -print0 | xargs -0 clang-format --dry-run -Werror

format:  ## let ruff mend what it can
	ruff check --fix .
	ruff format .

types:  ## mypy --strict
	mypy --strict opgen

ci:  ## what CI runs, in a fresh virtual environment
	.ci/run

clean:  ## remove caches; generated/ stays
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis generated/.opgen_cache .opgen_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
