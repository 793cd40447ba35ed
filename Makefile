# Every target sets up its requirements: .venv, and the provers from Debian's packages (tools/setup.sh).
# `make` without a target lists the targets.

SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Each command is a separate process: without __pycache__ it would recompile our sources.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin

# Settings: make test PYTEST_ARGS="tests/spec", make prove PROVE_ARGS="--jobs 8",
# make lock LOCK_ARGS=--upgrade
PYTEST_ARGS ?= -n auto --dist worksteal
# Minimum line coverage of the tests, in percent.
COVER ?= 95
# make prove CHECK_ARGS=--again judges the runtimes again, though nothing has changed
PROVE_ARGS ?=
# make prove OPERATORS=clip proves one
OPERATORS ?= $(patsubst spec/%.yaml,%,$(shell grep -l "^operator:" spec/*.yaml))
CHECK_ARGS ?=
SWEEP_ARGS ?=
BENCH_ARGS ?=
EVIDENCE_ARGS ?=
PARTS ?=
# Our own implementations must conform. Deviations of other runtimes are results, not failures.
OURS := sonnx sonnx-c
RUNTIMES ?= numpy onnxruntime onnx-reference
LOCK_ARGS ?=

# -v undoes the -q of pyproject.toml, so that pytest closes with its full summary line.
PYTEST = $(BIN)/pytest -v --no-header $(PYTEST_ARGS)

.PHONY: help
help: ## list the targets
	@echo "usage: make TARGET"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

# --- Main targets ----------------------------------------------------------------------------

.PHONY: prove
prove: say-prove setup ## generate, prove, judge the runtimes, write build/evidence/
	@tools/unchanged.sh generate $$(command -v why3) -- $(BIN)/sonnx-clip generate
	@$(BIN)/python -m sonnx_clip.oracle.built >/dev/null || true # without it, clip uses its NumPy kernels
	@status=0; $(MAKE) -k -j 2 proofs verdicts || status=$$?; \
	tools/unchanged.sh evidence build/*.json build/*/proofs.json build/verdicts build/dialects build/contexts build/replays build/evidence -- \
	    $(BIN)/sonnx-clip evidence && exit $$status

say-prove:
	@echo "== set up, generate, prove, judge the runtimes, write the evidence"

# The parallel parts of `make prove`. Through a pipe each prints whole lines.
.PHONY: proofs verdicts
proofs:
	@tools/unchanged.sh proofs build/answers.sqlite build/proofs.json $(OPERATORS:%=build/%) \
	    $$(command -v why3 z3 cvc5) $$(why3 --print-datadir) -- \
	    $(MAKE) each-proof OPERATORS="$(OPERATORS)" PROVE_ARGS="$(PROVE_ARGS)"

.PHONY: each-proof
each-proof:
	@set -o pipefail; status=0; \
	for operator in $(OPERATORS); do \
	    $(BIN)/sonnx-clip prove --operator $$operator $(PROVE_ARGS) 2>&1 | cat || status=$$?; \
	done; exit $$status

# Two runtimes at once. Deviations of other runtimes are results. Status 2 is a failure.
verdicts:
	@set -o pipefail; failed=0; mkdir -p build/verdicts; \
	printf '%s\n' $(OURS) $(RUNTIMES) | xargs -P 2 -n 1 bash -c 'status=0; \
	    said=$$($(BIN)/sonnx-clip check --runtime "$$1" --brief --build build \
	        -o "build/verdicts/$${1//:/-}.json" $(CHECK_ARGS)) || status=$$?; \
	    printf "%s\n" "$$said"; \
	    case " $(RUNTIMES) " in *" $$1 "*) [ $$status -ne 1 ] || status=0;; esac; \
	    exit $$status' verdict 2>&1 | cat || failed=1; \
	status=0; $(BIN)/sonnx-clip check --against onnx --against sonnx-2026-01 --brief --build build $(CHECK_ARGS) 2>&1 | cat || status=$$?; \
	[ $$status -le 1 ] || failed=$$status; \
	mkdir -p build/contexts; \
	status=0; $(BIN)/sonnx-clip check --runtime onnxruntime --dtype float32 --dtype int8 --contexts --brief \
	    --build build -o build/contexts/onnxruntime.json $(CHECK_ARGS) 2>&1 | cat || status=$$?; \
	[ $$status -le 1 ] || failed=$$status; \
	exit $$failed

.PHONY: release
release: setup-python ## sdist, wheel, SBOM, digests and a statement to sign, in dist/; the same bytes each time
	$(BIN)/python tools/release.py

.PHONY: evidence
evidence: setup-python ## after make prove: the evidence in every format, for assessors' tools
	$(BIN)/sonnx-clip evidence --format all $(EVIDENCE_ARGS)

.PHONY: shell
shell: setup-python ## a shell in which `sonnx-clip` is on PATH
	@if [ -t 0 ]; then echo "sonnx-clip is on PATH in this shell; leave it with \`exit\`"; fi
	@exec env -u MAKEFLAGS -u MAKELEVEL PATH="$(CURDIR)/$(BIN):$$PATH" bash

.PHONY: test
test: setup ## the test suite
	$(PYTEST) -m "not nightly"

.PHONY: coverage
coverage: setup ## the test suite with line coverage; fails below COVER percent
	@rm -rf build/seen
	SEEN=build/seen $(PYTEST) -p no:sonnx_clip.pytest_plugin -m "not nightly"
	@$(BIN)/slipcover --merge build/seen/*.json --out build/seen/all --skip-covered --fail-under $(COVER) || \
	    { echo "make coverage: less than $(COVER) % of the lines of sonnx_clip ran" >&2; exit 1; }

.PHONY: lint
lint: setup-python ## ruff, mypy --strict, and the layers of packages
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

.PHONY: fresh
fresh: setup-python setup-provers ## fail if generated/ differs from the rendering of spec/clip.yaml
	$(BIN)/sonnx-clip generate --check

# --- More tests and measurements -------------------------------------------------------------

.PHONY: nightly
nightly: setup ## checks too slow for `make test`; writes docs/nightly.md
	$(BIN)/python tools/nightly.py $(PARTS)

.PHONY: sweep
sweep: setup-python setup-c ## every triple of 8 bits, every X of 16 bits with every bound, by C and by NumPy; resumable
	@mkdir -p build
	$(BIN)/sonnx-clip check --runtime sonnx --level exhaustive --journal build/sweep.sqlite \
	  --dtype int8 --dtype uint8 --dtype int16 --dtype uint16 --dtype float16 --dtype bfloat16 $(SWEEP_ARGS)

.PHONY: mutants
mutants: setup-python setup-provers setup-c ## plant small mistakes, and record what finds each; resumable
	$(BIN)/python -m sonnx_clip.mutants.run

.PHONY: cross
cross: setup-python setup-cross ## test the C kernels for other processors, with cross compilers and emulators
	$(BIN)/python -m tests.c

.PHONY: bench
bench: setup setup-bench ## benchmarks, as ratios; status 1 if one misses its target twice
	status=0; \
	.venv-bench/bin/python -m bench.kernels $(BENCH_ARGS) || status=$$?; \
	$(BIN)/python -m bench.commands || status=$$?; \
	$(BIN)/python -m bench.judge || status=$$?; \
	$(BIN)/python -m bench.prove || status=$$?; \
	exit $$status

.PHONY: runtimes
runtimes: setup-runtimes ## judge every runtime that has an adapter, alone and beside other nodes; writes docs/runtimes.md
	$(if $(NAMES),,.venv-runtimes/bin/python tools/judge_contexts.py)
	.venv-runtimes/bin/python tools/judge_runtimes.py $(NAMES)

.PHONY: contexts
contexts: setup-runtimes ## judge runtimes and optimisers beside other nodes; writes docs/contexts-judged.md
	.venv-runtimes/bin/python tools/judge_contexts.py $(NAMES)
	.venv-runtimes/bin/python tools/judge_runtimes.py --render

.PHONY: kernels
kernels: setup-python setup-c ## build the C kernels of sonnx_clip.clip for this user and processor
	$(BIN)/python -m sonnx_clip.oracle.built

.PHONY: portability
portability: ## both README commands in a fresh Debian 13 (needs root, debootstrap and the network)
	tools/fresh_debian.sh

.PHONY: replay
replay: setup-provers ## prove everything with `why3 prove` alone, without our Python
	sh generated/replay.sh

.PHONY: frama-c
frama-c: setup-python setup-provers setup-frama-c ## prove the C kernels a second time, by Frama-C
	$(BIN)/sonnx-clip prove --road frama-c

.PHONY: c-evidence
c-evidence: setup-python setup-c-evidence ## MISRA, vector coverage and stack use of the C kernels
	$(BIN)/python tools/c_evidence.py

.PHONY: coq
coq: setup-python setup-coq ## prove the meaning a third time, by Coq
	$(BIN)/sonnx-clip prove --road coq

# --- Upkeep ----------------------------------------------------------------------------------

.PHONY: lock
lock: setup-python ## update requirements.lock from pyproject.toml
	$(BIN)/python -m pip install -qq --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet $(LOCK_ARGS) --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --custom-compile-command "make lock" \
	    --extra dev pyproject.toml --output-file requirements.lock

.PHONY: docs
docs: setup-python ## render docs/commands.md and docs/clip.svg
	$(BIN)/python tools/render_docs.py

.PHONY: clean
clean: ## remove build products, except .venv
	rm -rf build dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find sonnx_clip tests bench -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

.PHONY: say-prove setup setup-python setup-provers setup-coq setup-bench setup-runtimes setup-c setup-c-evidence setup-cross setup-frama-c
setup:
	@tools/setup.sh python provers c

setup-python:
	@tools/setup.sh python

setup-provers:
	@tools/setup.sh provers

setup-coq:
	@tools/setup.sh coq

setup-c:
	@tools/setup.sh c

setup-c-evidence:
	@tools/setup.sh c-evidence

setup-cross:
	@tools/setup.sh cross

setup-frama-c:
	@tools/setup.sh frama-c

setup-bench:
	@tools/setup.sh bench

setup-runtimes:
	@tools/setup.sh runtimes
