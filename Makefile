# Every target makes the environment it needs; Python 3.11 or newer with venv, and make, are enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# More than cores: tests that wait for a process of their own leave room.
WORKERS ?= 3
# Environments for what does not install beside the rest; Spark needs pandas < 3.
VENVS  := .venvs
# Which of the tests with a Spark session are run.
MARK   ?= not audit
# Without bytecode every worker and every command that a test starts would compile all it imports.
unexport PYTHONDONTWRITEBYTECODE

# A chosen half of the suite: what reads, draws, counts, publishes and prints, with whatever is installed.
MINIMAL := tests/test_checks.py tests/test_documents.py tests/test_entropy.py tests/test_randomizer.py tests/kernels \
	tests/vectors tests/cards/test_card.py tests/cards/test_specification.py tests/privacy/test_guarantee.py \
	tests/privacy/test_heads.py tests/oracles/test_randomized_response.py tests/oracles/test_unary_encoding.py \
	tests/numbers/test_mean.py tests/releases/test_noise.py tests/releases/test_exponential.py \
	tests/releases/test_laws.py tests/engines/test_parquet.py tests/cli/test_release.py \
	tests/cli/test_ledger_heads.py tests/architecture/test_light_import.py \
	src/bruit/releases src/bruit/privacy src/bruit/oracles src/bruit/pages
OLDEST := tests/kernels tests/engines tests/vectors tests/fuzz tests/estimation \
	tests/oracles/test_randomized_response.py tests/oracles/test_local_hashing.py tests/numbers/test_mean.py \
	tests/releases/test_noise.py tests/releases/test_counts.py tests/releases/test_moments.py \
	tests/learning/test_base.py tests/learning/test_naive_bayes.py tests/learning/test_kmeans.py \
	tests/learning/test_linear_regression.py tests/learning/test_privatizer.py tests/analysis/test_logistic.py \
	tests/figures tests/pages tests/survey/test_page.py tests/survey/test_survey.py tests/collector/test_server.py \
	tests/collector/test_store.py tests/cli/test_release.py tests/cli/test_console_tables.py tests/cli/test_privatize_reports.py
# Old versions of libraries warn about each other; a test that takes warnings for errors in a process of its own is left out.
OLD_WARNINGS := -W default::DeprecationWarning -W default::PendingDeprecationWarning -W default::FutureWarning \
	--deselect tests/figures/test_figures.py::test_drawing_does_not_load_pyplot

.PHONY: help tour test test-oldest test-minimal spark check format bench audit audit-dependencies docs notebooks dist clean

help:  ## This list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

# An environment with pip in the folder $(1). Where Python cannot make one, a message says why and no new folder stays:
# Debian's Python without python3-venv would leave one in which nothing can be installed.
define environment
	@$(PYTHON) -c '' || { echo 'Python was not found: make PYTHON=/path/to/python3 names it.' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "bruit needs Python 3.11 or newer, and $(PYTHON) is older: make PYTHON=/path/to/python3.11 names another." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo '$(NO_VENV)' >&2; exit 1; }
	@test -e $(1) && before=1 || before=; $(PYTHON) -m venv $(1) || { \
		test "$$before" || rm -rf $(1); echo '$(NO_VENV)' >&2; exit 1; }
	$(1)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
endef
NO_VENV := Python cannot make environments: on Debian, sudo apt install python3-venv.

$(VENV)/.ready: pyproject.toml
	$(call environment,$(VENV))
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $@

$(VENV)/.docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

tour: $(VENV)/.ready  ## A survey on real data in half a minute
	$(BIN)/bruit tour

SUITE   = $(BIN)/python -m pytest -m "not audit" -n $(WORKERS) --dist worksteal $(ARGS)
# Spark waits as often as it computes: its tests run beside the others, and what they say is shown after them.
BESIDE  = mkdir -p build; $(MAKE) --no-print-directory spark >build/spark.log 2>&1 & spark=$$!; \
	$(SUITE); suite=$$?; wait $$spark; spark=$$?; cat build/spark.log; \
	test $$suite = 0 || { echo "Tests without Spark failed: see above."; exit $$suite; }; exit $$spark

test: $(VENV)/.ready  ## The test suite, under 8 minutes on 2 cores
	@$(if $(ARGS),$(SUITE),$(BESIDE))

$(VENVS)/oldest/.ready: pyproject.toml
	$(call environment,$(VENVS)/oldest)
	$(VENVS)/oldest/bin/python tools/floors.py > $(VENVS)/oldest/floors.txt
	$(VENVS)/oldest/bin/python -m pip install --quiet --editable . --group oldest --constraint $(VENVS)/oldest/floors.txt
	touch $@

test-oldest: $(VENVS)/oldest/.ready  ## Half of the suite with the lowest versions that pyproject.toml declares
	$(VENVS)/oldest/bin/python -m pytest -m "not audit" -n $(WORKERS) $(OLD_WARNINGS) $(or $(ARGS),$(OLDEST))

$(VENVS)/minimal/.ready: pyproject.toml
	$(call environment,$(VENVS)/minimal)
	$(VENVS)/minimal/bin/python -m pip install --quiet --editable . --group minimal
	touch $@

test-minimal: $(VENVS)/minimal/.ready  ## Half of the suite without any extra
	$(VENVS)/minimal/bin/python -m pytest -m "not audit" -n $(WORKERS) $(or $(ARGS),$(MINIMAL))

$(VENVS)/spark/.ready: pyproject.toml
	$(call environment,$(VENVS)/spark)
	$(VENVS)/spark/bin/python -m pip install --quiet --editable ".[spark]" --group spark
	touch $@

spark:  ## The tests with a Spark session, where Java is; a part of `make test`
	@if command -v java >/dev/null; \
	then $(MAKE) --no-print-directory $(VENVS)/spark/.ready && $(VENVS)/spark/bin/python -m pytest -m "$(MARK)" tests/spark $(ARGS); \
	else echo "The Spark tests were not run: there is no java (on Debian: openjdk-17-jre-headless)."; fi

check: $(VENV)/.ready  ## Lint, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.ready  ## Let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.ready  ## Side by side with other libraries, as ratios
	$(BIN)/python bench/run.py $(ARGS)

audit: $(VENV)/.ready  ## Heavy statistical audits and kill tests
	$(BIN)/python -m pytest -m audit -n $(WORKERS) $(ARGS)
	$(if $(ARGS),,@$(MAKE) --no-print-directory spark MARK=audit)

$(VENVS)/audit/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENVS)/audit
	$(VENVS)/audit/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(VENVS)/audit/bin/python -m pip install --quiet --group audit
	touch $@

audit-dependencies: $(VENV)/.ready  ## Known vulnerabilities of the packages in .venv, where there is a network
	@if $(MAKE) --no-print-directory $(VENVS)/audit/.ready; \
	then $(VENVS)/audit/bin/python tools/audit_dependencies.py $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
	else echo "not run: pip-audit cannot be installed, for the reason above."; fi

docs: $(VENV)/.docs  ## The documentation site, into docs/_site, with every link and picture checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python tools/check_site.py build/site
	rm -rf docs/_site && mv build/site docs/_site

dist: $(VENV)/.dist  ## Wheel and sdist into dist/, checked and used in an empty environment
	$(BIN)/python tools/check_dist.py dist

$(VENV)/.dist: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --group dist
	touch $@

notebooks: $(VENV)/.ready  ## Every script of examples/ as an executed notebook, a quarter of an hour
	$(BIN)/python tools/notebooks.py $(ARGS)

clean:  ## Remove environments and caches
	rm -rf $(VENV) .venvs dist build docs/_site .mypy_cache .ruff_cache .pytest_cache .hypothesis
