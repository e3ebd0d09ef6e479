# Allowance. `make run` starts the app, `make test` checks it; both need Python 3.11 or newer and make, nothing else.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# Where compiled modules are not to be kept, every worker and every server that a test starts would compile all of them.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --no-input

# A stamp carries the checksum of the pins it was installed from, and is written last: changed pins mean a new
# environment, and an interrupted install is never taken for a finished one.
checksum = $(firstword $(shell cksum < $(1) 2>/dev/null))
RUN_STAMP := $(VENV)/.installed-run-$(call checksum,requirements.txt)
TEST_STAMP := $(VENV)/.installed-test-$(call checksum,requirements.txt)-$(call checksum,requirements-dev.txt)
SERVE_STAMP := $(VENV)/.installed-serve-$(call checksum,requirements.txt)-$(call checksum,requirements-serve.txt)
ENGINES_VENV := build/engines-venv
ENGINES_PINS := requirements.txt requirements-dev.txt requirements-postgres.txt requirements-spark.txt
ENGINES_STAMP := $(ENGINES_VENV)/.installed-$(firstword $(shell cat $(ENGINES_PINS) 2>/dev/null | cksum))
PEERS_VENV := build/bench-venv
PEERS_STAMP := $(PEERS_VENV)/.installed-$(call checksum,bench/requirements-peers.txt)

# The first interpreter that starts and is new enough. `make run PYTHON=/path/to/python3.12` chooses another.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$p"; break; }; done)

.PHONY: help release release-prepare bench-all venv run serve serve-venv workshop test test-engines test-clusters engines-venv engines audit shots tour lint lock dist test-dist clean samples \
	new-question browser peers bench bench-engines

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

venv: $(TEST_STAMP) ## build .venv with everything that run, test and lint need

run: $(RUN_STAMP) ## start the app on this machine, at http://localhost:8501 (RUN_ARGS= for Streamlit's options)
	@$(PY) -m streamlit run app.py $(if $(CI),--server.headless=true) $(RUN_ARGS)

serve-venv: $(SERVE_STAMP) ## build .venv with what serving to people who sign in needs
	@$(PY) -m compileall -q -j 2 app.py allowance data demos dpengine pages ui  # the service may not write beside its code

serve: $(SERVE_STAMP) ## for an organisation: people sign in, as ALLOWANCE_SERVE=/etc/allowance/serve.toml says (docs/serving.md)
	@test -n "$$ALLOWANCE_SERVE" || { echo "Name the configuration: ALLOWANCE_SERVE=/etc/allowance/serve.toml make serve" >&2; exit 1; }
	@FORWARDED_ALLOW_IPS= exec $(PY) -m streamlit run app.py --server.headless=true --server.port=8501 $(RUN_ARGS)

workshop: $(RUN_STAMP) ## for a classroom: sample tables only, on the network, with an address, a QR code and a class wall
	@$(PY) -m ui.workshop.invite $(WORKSHOP_ARGS) $(RUN_ARGS)

test: $(TEST_STAMP) browser ## lint and every test, in a browser too (TEST_ARGS= for pytest's options)
	@$(PY) -m compileall -q -j 2 dpengine ui demos pages  # once, and not by every server that a test starts
	@mkdir -p build; $(MAKE) lint >build/lint.log 2>&1 & lint=$$!; \
	$(PY) -W error -m pytest -p no:playwright --workers 3 --timeout=600 --durations=10 -q -m "not long" $(TEST_ARGS); \
	tests=$$?; wait $$lint; linted=$$?; cat build/lint.log; exit $$((tests || linted))

test-engines: $(ENGINES_STAMP) engines ## the same questions on Postgres and Spark, which it installs and starts (TEST_ARGS=)
	@$(ENGINES_VENV)/bin/python -W error -m pytest -p no:playwright --workers 2 --timeout=600 --durations=10 -q \
		-m "not long" tests/engines $(TEST_ARGS)

test-clusters: $(ENGINES_STAMP) engines ## a lake on a Spark master with two workers, and through Spark Connect, all started here
	@$(ENGINES_VENV)/bin/python -W error -m pytest -p no:playwright --timeout=600 -q tests/engines/test_spark_elsewhere.py

engines-venv: $(ENGINES_STAMP) ## build build/engines-venv with what Postgres and Spark need on top

# Cut to an hour on two cores, as tests/amount.py says; AUDIT=all is everything, and takes most of a day.
AUDIT := hour
AUDIT_ARGS := $(if $(filter hour,$(AUDIT)),--draws 2000 --plays 100)
audit: export AUDIT := $(AUDIT)
audit: $(TEST_STAMP) browser ## the long tests, then the report of what is claimed and shown, into docs/audit.md (AUDIT=all, AUDIT_ARGS=)
	@rm -rf build/audit
	@$(PY) -W error -m pytest -p no:playwright --workers 4 --timeout=600 --durations=10 -q -m long $(TEST_ARGS)
	@$(PY) -W error -m pytest -p no:playwright --workers 2 --timeout=600 -q -m "not long" tests/faults
	@test ! -x $(ENGINES_VENV)/bin/python || $(ENGINES_VENV)/bin/python -W error -m pytest -p no:playwright --workers 2 \
		--timeout=1800 -q -m long tests/engines
	@$(PY) -m dpengine audit --write $(AUDIT_ARGS)

shots: $(TEST_STAMP) browser ## pictures of every page in every look and language, build/shots/index.html (SHOTS_ARGS="sl phone ask": some)
	@PYTHONPATH=.:tests $(PY) -m browser.gallery $(SHOTS_ARGS)

tour: $(TEST_STAMP) browser ## the pictures of docs/tour.md, from a walk through the app
	@PYTHONPATH=.:tests $(PY) -m browser.tour

lint: $(TEST_STAMP) ## ruff and mypy
	@$(PY) -m ruff check --quiet . && $(PY) -m ruff format --check --quiet . && echo "ruff: nothing to say"
	@$(PY) -m mypy --no-error-summary dpengine demos ui pages allowance && echo "mypy: nothing to say"

new-question: $(TEST_STAMP) ## a new question that already works, with its words; the tests find it (KEY=geometric_mean)
	@$(PY) tools/new_question.py "$(KEY)"

samples: ## write the sample tables in data/ again, byte for byte
	@$(need_python)
	@"$(PYTHON)" data/make_samples.py

bench: $(TEST_STAMP) browser peers ## speed and error beside other tools, written to bench/results.md (BENCH_ARGS="--sizes 100000": short)
	@$(PY) -m bench $(BENCH_ARGS)

peers:
	@test -e $(PEERS_STAMP) || { $(need_python); echo "Building $(PEERS_VENV) for the tools we compare with."; \
		rm -rf $(PEERS_VENV) && mkdir -p build && { $(call new_venv,$(PEERS_VENV)); } && \
		$(PEERS_VENV)/bin/python -m pip --disable-pip-version-check --no-input install -q --require-hashes \
			-r bench/requirements-peers.txt >build/bench-peers.log 2>&1 && touch $(PEERS_STAMP) || { \
		rm -rf $(PEERS_VENV); echo "They did not install (build/bench-peers.log): the tables will say so."; }; }

bench-engines: $(ENGINES_STAMP) engines ## our answers beside plain aggregates on DuckDB, Postgres and Spark (BENCH_ARGS="--rows 1000000")
	@$(ENGINES_VENV)/bin/python -m bench.engines $(BENCH_ARGS)

bench-all: $(TEST_STAMP) browser peers $(ENGINES_STAMP) engines ## every file of bench/results*.md (BENCH_ARGS=--resume: what a stopped run left)
	@$(PY) -m bench.evening $(BENCH_ARGS)

lock: $(TEST_STAMP) ## pin the requirements again from the .in files (UPGRADE=1 for the newest versions)
	@set -e; for name in requirements requirements-serve requirements-dev requirements-postgres requirements-spark \
			bench/requirements-peers; do \
		$(PY) -m uv pip compile -q --generate-hashes --universal --python-version 3.11 --no-emit-index-url \
			$(if $(UPGRADE),--upgrade) --custom-compile-command "make lock" $$name.in -o $$name.txt; \
		if grep -nE '://|--(extra-)?index|--find-links' $$name.txt; then \
			echo "$$name.txt names a host (above). Put the index in the environment, not in the file." >&2; exit 1; \
		fi; \
	done

dist: $(TEST_STAMP) ## wheel, sdist, checksums and SBOM into dist/, and docs/wheels.md: who has a wheel for which system
	@$(PY) tools/dist.py

test-dist: $(TEST_STAMP) browser ## install the wheel into an empty environment elsewhere, start it, ask in a browser
	@$(PY) -W error -m pytest -p no:playwright --timeout=900 -q tests/dist $(TEST_ARGS)

release-prepare: ## write a version everywhere (VERSION=1.0.0)
	@"$(PYTHON)" tools/release.py prepare "$(VERSION)"

# In this order, from the cheapest to the dearest; each part is a target of its own, and the first failure ends it.
RELEASE := test test-engines test-dist audit bench-all dist
release: ## everything that a version needs: tests, audit, benches, changelog, wheel, checksums, SBOM (three hours; RELEASE= for some parts)
	@"$(PYTHON)" tools/release.py check
	@for part in $(RELEASE); do echo "make $$part"; $(MAKE) $$part || { echo "The release stopped at: make $$part" >&2; exit 1; }; done
	@"$(PYTHON)" tools/release.py done

clean: ## remove what make built; your tables and ledger in var/ stay
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- how the environment is built -------------------------------------------------------------------------------------

define need_python
	test -n "$(PYTHON)" || { echo "Allowance needs Python 3.11 or newer, and found none in PATH." \
		"On Debian or Ubuntu: apt-get install python3 python3-venv" >&2; exit 1; }
endef

# Debian ships Python without ensurepip unless python3-venv is there: then virtualenv, then the pip it has, will do.
define new_venv
	if "$(PYTHON)" -c 'import ensurepip, venv' >/dev/null 2>&1; then "$(PYTHON)" -m venv $(1); \
	elif "$(PYTHON)" -m virtualenv --version >/dev/null 2>&1; then "$(PYTHON)" -m virtualenv -q $(1); \
	elif command -v virtualenv >/dev/null 2>&1; then virtualenv -q -p "$(PYTHON)" $(1); \
	elif "$(PYTHON)" -c 'import venv' >/dev/null 2>&1 && "$(PYTHON)" -m pip --version >/dev/null 2>&1; then \
		"$(PYTHON)" -m venv --without-pip $(1) && "$(PYTHON)" -m pip -q --python $(1)/bin/python install pip; \
	else \
		echo "This Python cannot make a virtual environment." \
			"On Debian or Ubuntu: apt-get install python3-venv. Elsewhere: pip install virtualenv" >&2; exit 1; \
	fi || { echo "Could not make the virtual environment in $(1)." >&2; rm -rf $(1); exit 1; }
endef

$(RUN_STAMP):
	@$(need_python)
	@echo "Building $(VENV) with $$("$(PYTHON)" -V): about a minute, once."
	@rm -rf $(VENV)
	@$(call new_venv,$(VENV))
	@$(PIP) install -q --require-hashes -r requirements.txt
	@touch $@

$(SERVE_STAMP): $(RUN_STAMP)
	@echo "Adding what signing in needs to $(VENV)."
	@$(PIP) install -q --require-hashes -r requirements-serve.txt
	@rm -f $(VENV)/.installed-serve-*
	@touch $@

$(TEST_STAMP): $(RUN_STAMP)
	@echo "Adding what the tests need to $(VENV)."
	@$(PIP) install -q --require-hashes -r requirements-dev.txt
	@rm -f $(VENV)/.installed-test-*
	@touch $@

$(ENGINES_STAMP):
	@$(need_python)
	@echo "Building $(ENGINES_VENV) for tables in Postgres and Spark: some minutes, once."
	@rm -rf $(ENGINES_VENV) && mkdir -p build
	@$(call new_venv,$(ENGINES_VENV))
	@$(ENGINES_VENV)/bin/python -m pip --disable-pip-version-check --no-input install -q --require-hashes \
		$(addprefix -r ,$(ENGINES_PINS))
	@touch $@

# --- Postgres and Java for the tests of the engines --------------------------------------------------------------------

engines:
	@here() { java -version 2>&1 | grep -Eq 'version "(1[7-9]|2[0-9])' && \
		{ command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }; }; \
	here && exit 0; \
	mkdir -p build; \
	if [ "$$(id -u)" = 0 ]; then as_root="env"; \
	elif sudo -n true >/dev/null 2>&1; then as_root="sudo -n env"; \
	else as_root=""; fi; \
	if [ -n "$$as_root" ] && command -v apt-get >/dev/null 2>&1; then \
		echo "Installing Postgres and Java 17 for the tests of the engines (log: build/engines.log)."; \
		{ $$as_root DEBIAN_FRONTEND=noninteractive apt-get -q update && \
		  $$as_root DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install \
			postgresql openjdk-17-jre-headless; \
		} >build/engines.log 2>&1 || tail -n 3 build/engines.log >&2; \
	fi; \
	here && exit 0; \
	echo "The tests of the engines need Postgres and Java 17, and they could not be installed here." \
		"On Debian: apt-get install postgresql openjdk-17-jre-headless" >&2; exit 1

# --- the browser for the tests ----------------------------------------------------------------------------------------

browser:
	@command -v chromium >/dev/null 2>&1 && exit 0; \
	mkdir -p build; \
	if [ "$$(id -u)" = 0 ]; then as_root="env"; \
	elif sudo -n true >/dev/null 2>&1; then as_root="sudo -n env"; \
	else as_root=""; fi; \
	if [ -n "$$as_root" ] && command -v apt-get >/dev/null 2>&1; then \
		echo "Installing chromium for the browser tests (log: build/chromium.log)."; \
		{ $$as_root DEBIAN_FRONTEND=noninteractive apt-get -q update && \
		  $$as_root DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install chromium; \
		} >build/chromium.log 2>&1 || tail -n 3 build/chromium.log >&2; \
	fi; \
	command -v chromium >/dev/null 2>&1 && exit 0; \
	case "$$CI" in true|1) \
		echo "The browser tests need chromium, and it could not be installed here." \
			"On Debian: apt-get install chromium" >&2; exit 1;; \
	esac; \
	echo "No chromium: the browser tests will not run. On Debian: apt-get install chromium"
