# The workshop's commands. They need Python 3.11 or newer and make; the rest comes by itself.

PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
PORT ?= 6543
BIN = .venv/bin

.PHONY: help serve test sure format lock clean

help: ## This list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

serve: .venv/ready ## Set everything up and serve it on http://127.0.0.1:6543 (PORT=7000 for another port)
	@$(BIN)/groundtransport init
	@echo "Serving on http://127.0.0.1:$(PORT), until Ctrl+C"
	@exec $(BIN)/python -W "ignore:pkg_resources" $(BIN)/pserve --server-name any development.ini port=$(PORT)

test: .venv/ready ## Run every test: on SQLite, and on PostgreSQL where a server can be had
	$(BIN)/pytest -n auto --maxprocesses 4 $(ARGS)

sure: .venv/ready ## Everything CI runs: format, lint, types, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto --maxprocesses 4 --cov --cov-report=term:skip-covered --cov-fail-under=95 $(ARGS)

format: .venv/ready ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: ## Renew requirements.lock from setup.cfg (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
		--no-annotate setup.cfg --extra test -o requirements.lock

clean: ## Remove what was built; var/ with your data stays
	rm -rf .venv build dist *.egg-info groundtransport/static/vendor

# The environment: the locked packages, hash by hash, then ours, whose build fetches the front end.
.venv/ready: requirements.lock setup.cfg setup.py pyproject.toml frontend/package-lock.json
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; none was found." >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "Python's venv module is needed (Debian: apt install python3-venv)." >&2; exit 1; }
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@
