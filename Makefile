# The one list of commands; CI calls the same targets.
SHELL := /bin/sh
PYTHON ?= python3
BIN := .venv/bin
RUN_EXTRAS := xgboost,launch,local,report,examples
MARKETING := examples/direct_marketing

# PyTorch has a virtual environment of its own: it is large, and only what trains with it should wait for it.
TORCH_BIN := .venv-horovod/bin
TORCH_EXTRAS := horovod,xgboost,launch,local,report,examples,digits

SDKS := $(or $(BANDSTAND_CACHE),$(HOME)/.cache/bandstand)
SDK_v2 := 'sagemaker<3'
SDK_v3 := 'sagemaker>=3,<4'

.DEFAULT_GOAL := help
.PHONY: help tune test test-interop test-rough test-aws image images sdks lock test-docker test-horovod horovod-wheel horovod-wheel-cuda digits convergence bench-horovod check format drills clean python-as-asked

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*##/\t/' | expand -t 12
	@echo
	@echo "PYTHON=python3.12 chooses another Python for .venv; afterwards '. .venv/bin/activate' gives you the command bandstand."

# Made only once it is whole: an installation that was interrupted, however hard, is taken up again.
.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Bandstand needs Python 3.11 or newer, found: $$($(PYTHON) --version 2>&1). Try: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 2; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { echo "Making a virtual environment in .venv"; $(PYTHON) -m venv .venv; } || \
	  { echo "The virtual environment could not be made; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 2; }
	@touch $@

python-as-asked:
ifeq ($(origin PYTHON),command line)
	@test ! -x $(BIN)/python || test "$$($(PYTHON) --version)" = "$$($(BIN)/python --version)" || \
	  echo "note: .venv has $$($(BIN)/python --version), not $$($(PYTHON) --version); 'make clean' first to change it" >&2
endif

.venv/.run: .venv/.made pyproject.toml | python-as-asked
	@echo "Installing Bandstand and XGBoost into .venv (about a minute the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(RUN_EXTRAS)]'
	@touch $@

.venv/.dev: .venv/.made pyproject.toml | python-as-asked
	@echo "Installing Bandstand with its development tools into .venv (about a minute the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(RUN_EXTRAS),dev]'
	@touch $@ .venv/.run

tune: .venv/.run  ## the main job: 30 training jobs, 4 at a time, 3 hosts each, Hyperband (BANK=PATH for UCI Bank Marketing)
	@$(BIN)/python $(MARKETING)/prepare.py $(if $(BANK),--bank '$(BANK)')
	@$(BIN)/bandstand tune $(MARKETING)/job.toml

test: .venv/.dev  ## all tests that need nothing but Python, two at a time (WORKERS=4 for four)
	@$(BIN)/python -m pytest -n $(or $(WORKERS),2) --dist worksteal $(ARGS)

.venv-horovod/.torch: docker/horovod/build-requirements.txt
	@echo "Installing PyTorch into .venv-horovod (some minutes the first time)"
	@$(TORCH_BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv .venv-horovod
	@$(TORCH_BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0 -r docker/horovod/build-requirements.txt
	@touch $@

.venv-horovod/.made: .venv-horovod/.torch pyproject.toml docker/horovod/build_wheel.py
	@wheel=$$($(TORCH_BIN)/python docker/horovod/build_wheel.py) && \
	  $(TORCH_BIN)/python -m pip install --quiet --disable-pip-version-check --find-links "$$(dirname "$$wheel")" -e '.[$(TORCH_EXTRAS)]' 'pytest>=8.2' 'pytest-timeout>=2.3'
	@touch $@

horovod-wheel: .venv-horovod/.torch  ## build Horovod for the pinned PyTorch (once; INTO=DIR copies the wheel there)
	@$(TORCH_BIN)/python docker/horovod/build_wheel.py $(if $(INTO),--into '$(INTO)')

.venv-horovod-cuda/.torch: docker/lock/cuda/horovod.txt docker/lock/cuda/nvcc.txt docker/horovod/build-requirements.txt
	@echo "Installing PyTorch for CUDA, and CUDA's compiler, into .venv-horovod-cuda (gigabytes)" >&2
	@.venv-horovod-cuda/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv .venv-horovod-cuda
	@.venv-horovod-cuda/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes $(foreach lock,$(filter %.txt,$(filter docker/lock/%,$^)),-r $(lock))
	@.venv-horovod-cuda/bin/python -m pip install --quiet --disable-pip-version-check -r docker/horovod/build-requirements.txt
	@touch $@

horovod-wheel-cuda: .venv-horovod-cuda/.torch  ## the same for GPUs, with NCCL; needs no GPU and no CUDA toolkit
	@.venv-horovod-cuda/bin/python docker/horovod/build_wheel.py --nccl $(if $(INTO),--into '$(INTO)')

test-horovod: .venv-horovod/.made  ## the tests that need PyTorch and Horovod; skips nothing
	@$(TORCH_BIN)/python -m pytest tests/horovod $(ARGS)

digits: .venv-horovod/.made  ## tune the digits classifier with Hyperband, 2 hosts each (MNIST=FOLDER for the idx files)
	@$(TORCH_BIN)/python examples/digits/prepare.py $(if $(MNIST),--mnist '$(MNIST)')
	@PATH="$(CURDIR)/$(TORCH_BIN):$$PATH" $(TORCH_BIN)/bandstand tune examples/digits/job.toml

convergence: .venv-horovod/.made  ## one host, n hosts untouched, n hosts tuned, for both algorithms: one picture (MNIST=FOLDER, BANK=PATH)
	@$(TORCH_BIN)/python examples/convergence/measure.py $(if $(MNIST),--mnist '$(MNIST)') $(if $(BANK),--bank '$(BANK)') $(ARGS)

bench-horovod: .venv-horovod/.made  ## measure beside a bare Horovod loop and beside torch's own ring
	@$(TORCH_BIN)/python -m benchmarks.run horovod_overhead ring_steps $(ARGS)

image: .venv/.run  ## build the image with no registry at hand, as root (ARGS='--target xgboost')
	@$(BIN)/bandstand build --no-registry $(ARGS)

# All stages are built once for the default one; the others are then taken from the engine's cache.
images: image
	@$(BIN)/bandstand build --no-registry --target xgboost --no-check
	@$(BIN)/bandstand build --no-registry --target horovod --no-check
	@$(BIN)/bandstand build --no-registry --target xgboost --build-arg TOOLKIT=1 --no-check --tag bandstand:toolkit
	@$(BIN)/bandstand build --no-registry --target xgboost --build-arg PARQUET= --no-check --tag bandstand:no-parquet

lock: .venv/.run  ## pin anew what the image installs
	@$(BIN)/python docker/lock.py

test-docker: .venv/.dev  ## the tests that need a container engine; skips nothing (needs docker-registry)
	@$(MAKE) --no-print-directory images ARGS=
	@$(BIN)/python -m pytest tests/docker $(ARGS)

# SageMaker's SDKs are clients to be served, never dependencies: 1.2 GB, kept in the user's cache.
$(SDKS)/sdk-%/.made:
	@echo "Installing SageMaker's Python SDK ($*) into $(@D) (some minutes the first time)"
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check $(SDK_$*)
	@touch $@

$(SDKS)/awscli/.made:
	@echo "Installing the AWS CLI, version 1, into $(@D)"
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check 'awscli<2'
	@touch $@

sdks: $(SDKS)/sdk-v2/.made $(SDKS)/sdk-v3/.made $(SDKS)/awscli/.made

test-interop: .venv/.dev sdks  ## SageMaker's SDKs and the AWS CLI as clients; skips nothing
	@$(MAKE) --no-print-directory image ARGS=
	@BANDSTAND_SDKS=$(SDKS) $(BIN)/python -m pytest tests/interop $(ARGS)

# Opt-in, for an account of yours: nothing else in this file costs money.
test-aws: .venv/.dev  ## the smallest jobs on SageMaker (IMAGE=URI ROLE=ARN; four training jobs on ml.m5.large, which cost money)
	@test -n "$(IMAGE)" -a -n "$(ROLE)" || { echo "Name an image in ECR and a role: make test-aws IMAGE=URI ROLE=ARN" >&2; exit 2; }
	@echo "This costs money: four training jobs, five instances of ml.m5.large, at most 10 minutes each (0.83 instance-hours)."
	@IMAGE='$(IMAGE)' ROLE='$(ROLE)' $(BIN)/python -m pytest tests/aws $(ARGS)

check: .venv/.dev  ## lint, format, types, direction of imports
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: .venv/.dev  ## put the code into the project's format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: .venv/.run  ## measure beside peers and bare XGBoost (ARGS='NAME ... --scale 10 --repeat N')
	@$(BIN)/python -m benchmarks.run $(ARGS)

test-rough: .venv/.dev  ## thirty jobs, and the contract of backends, over a network that refuses, delays and drops most calls (half an hour of waiting)
	@BANDSTAND_TEST_ROUGH_JOBS=30 $(BIN)/python -m pytest -n $(or $(WORKERS),8) --dist worksteal \
	  tests/rough tests/backends/sagemaker/test_rough_way.py tests/runs/remote $(ARGS)

drills: .venv/.run  ## kill tuning jobs and the service hard at random moments, and go on (ARGS='--kills N --seed N')
	@$(BIN)/python -m benchmarks.drills $(ARGS)
	@$(BIN)/python -m benchmarks.service_drills $(ARGS)

clean:  ## remove the virtual environment and caches
	rm -rf .venv .venv-horovod .venv-horovod-cuda build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
