.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
# The scripts of docs/ one by one: ruff would also rewrite the Python inside its pages.
LOCALE := src/sudare/language/locale
PYTHON_FILES := src tests benchmarks examples docs/conf.py docs/make_reference.py docs/run_page.py

.PHONY: help setup demo test quick lint types audit mutants mutation bounds bench messages docs wheel lock sbom browser clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

setup: $(STAMP)  ## make .venv with everything the tests need

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(STAMP)  ## publish an invented city from end to end into out/demo
	$(BIN)/sudare demo

test: lint  ## lint, types, layers and all tests
	@mkdir -p build
	@$(BIN)/mypy >build/types.txt 2>&1 & types=$$!; \
	$(BIN)/python -m pytest -n 3 --dist worksteal --doctest-modules src tests; failed=$$?; \
	wait $$types || failed=$$?; cat build/types.txt; exit $$failed

quick: lint  ## lint and the tests of pure functions: for the inner loop (under a minute on two cores)
	$(BIN)/python -m pytest -n 2 --dist worksteal --quick tests/unit

lint: $(STAMP)  ## ruff and the layers of the house
	$(BIN)/ruff check $(PYTHON_FILES)
	$(BIN)/ruff format --check --quiet $(PYTHON_FILES)
	$(BIN)/lint-imports --no-cache --no-logo

types: $(STAMP)  ## mypy, strict
	$(BIN)/mypy

audit: $(STAMP)  ## look for breaches, kill and fuzz, at full length; the papers in their quick form
	$(BIN)/sudare audit
	$(BIN)/sudare audit --exact --folder out/audit-exact
	$(BIN)/sudare reproduce all --quick --quiet --folder out/papers
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	$(BIN)/python -m pytest -n 0 -s tests/faults tests/privacy/test_cluster_law.py --full

mutants: $(STAMP)  ## planted breaches of privacy: who catches each of them (most of an hour)
	$(BIN)/python tests/privacy/mutants/run_gallery.py $(MUTANTS)

mutation: $(STAMP)  ## mutants of ordinary code, a seeded sample of 300 (an hour or two)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[mutation]'
	$(BIN)/python tests/mutation.py

bounds: $(STAMP)  ## tests under the lowest and the newest versions of all dependencies
	$(BIN)/python tests/bounds.py lowest
	$(BIN)/python tests/bounds.py newest

bench: $(STAMP)  ## the scoreboard: peers from PyPI in the same run; PARTS="noise histogram" for some
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python benchmarks/run.py $(PARTS)

messages: $(STAMP)  ## find the templates of errors, and bring the catalogues of all languages up to date
	@mkdir -p build
	$(BIN)/pybabel -q extract --mapping=babel.cfg --no-location --omit-header --output=build/errors.pot src
	$(BIN)/pybabel -q update --domain=errors --input-file=build/errors.pot --output-dir=$(LOCALE) --ignore-obsolete --no-fuzzy-matching --ignore-pot-creation-date --width=120
	for domain in $$(ls $(LOCALE)/*/LC_MESSAGES | sed -n 's/\.po$$//p' | sort -u); do \
	  $(BIN)/pybabel -q compile --domain=$$domain --directory=$(LOCALE) || exit 1; done

docs: $(STAMP)  ## write the reference, and build all pages into build/docs
	$(BIN)/python docs/make_reference.py
	$(BIN)/python -m sphinx -q -W --keep-going -E -b html docs build/docs

wheel:  ## the wheel and the source archive, into dist
	$(PYTHON) -m venv build/packaging
	build/packaging/bin/python -m pip install --quiet --disable-pip-version-check build
	build/packaging/bin/python -m build --outdir dist

lock:  ## write requirements-dev.txt anew: the development environment, every version with its hashes
	$(PYTHON) -m venv build/packaging
	build/packaging/bin/python -m pip install --quiet --disable-pip-version-check uv
	build/packaging/bin/uv --quiet pip compile pyproject.toml --extra dev --python-version 3.11.5 --universal --generate-hashes \
	  --no-emit-index-url --no-annotate --custom-compile-command "make lock" --output-file requirements-dev.txt $(LOCK)

sbom:  ## what a wheel with all extras brings along, as build/sbom.json (CycloneDX)
	$(PYTHON) -m venv build/packaging
	build/packaging/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom
	$(PYTHON) -m venv --clear build/shipped
	build/shipped/bin/python -m pip install --quiet --disable-pip-version-check '.[all]'
	build/packaging/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	  --output-file build/sbom.json build/shipped/bin/python

browser:  ## Debian's Chromium and Japanese fonts, for the tests of pages
	command -v chromium >/dev/null && fc-list | grep -qi 'noto.*cjk' || \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-noto-cjk fontconfig; }

clean:  ## remove what was made here
	rm -rf .venv out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
