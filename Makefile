PYTHON ?= python

.DEFAULT_GOAL := help
.PHONY: help install build check test test-slow compile lint format types ci clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install:  ## install opgen with everything its tests need
	$(PYTHON) -m pip install -e '.[test]'

build:  ## generate every operator
	opgen build specs

check:  ## fail if generated/ is not what the specs give
	opgen build specs --check

compile:  ## compile the native library of every operator
	opgen compile

test:  ## run all tests but the slow ones
	pytest

test-slow:  ## run the slow tests
	pytest -m slow

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
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis generated/.opgen_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
