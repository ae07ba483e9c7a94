# What people and CI run. `make` alone lists it. A target's line after ## is its help.

SHELL         := bash
.SHELLFLAGS   := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS     += --no-builtin-rules --no-print-directory
# Under the race detector a process waits a second at its end, unless it is told not to.
export GORACE := atexit_sleep_ms=0
# Python keeps what it compiles of a framework, also where an image says that it should not: the tests start it hundreds of times.
unexport PYTHONDONTWRITEBYTECODE

# What a call may set: make fuzz FUZZTIME=10s
TESTFLAGS :=
BENCH     := .
COUNT     := 6
OLD       := old.out
NEW       := new.out
FUZZTIME  := 60s
LOAD      :=
EVAL_RUNS := examples/healthy/*.jsonl
COMPARE_PYTHON := python3.12
COMPARE_SECONDS := 600
EVAL_PROFILES := default,looplens,agentium,cycles,attocode,loopguard

# Tools have a go.mod of their own, so that what they depend on is nothing that unloop depends on.
tool    := go tool -modfile=tools/go.mod
# Modules of their own, so that the core depends on none of what they need.
modules := otelguard deploy $(patsubst %/go.mod,%,$(wildcard adapters/*/go.mod))
# Their tests start no goroutine, so the race detector finds nothing in them and makes them ten times as slow.
sequential_modules := deploy adapters/anthropicguard adapters/openaiguard
sequential := . ./detect/... ./policy ./profile ./internal/arch ./internal/boosting ./internal/clustersim ./internal/eval/... \
	./internal/findings ./internal/fingerprint ./internal/ingest/... ./internal/mask ./internal/nudge ./internal/trace
# SQLite is C that was translated to Go. It starts no goroutine, and the race detector would make it several times as slow.
race := -race -gcflags=modernc.org/...=-race=false
# The packages whose tests take longest. They begin first.
longest := ./internal/app ./internal/cli ./internal/store/sqlstore ./internal/pipeline ./internal/proxy ./internal/httpd
# What make test runs side by side, on two processors three at a time: the longest first, so that none runs alone at the end.
suites := gotest e2e python frameworks packages typescript modules benchonce
# As the programs are built that the other tests start, so that what is compiled for one serves the other.
static := CGO_ENABLED=0 GOFLAGS=-trimpath
version  = $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: run
run: ## serve, until it is interrupted
	@echo 'building unloop: the first time this takes one to two minutes'
	@go run ./cmd/unloop serve

.PHONY: cluster
cluster: build ## serve with three servers, three NATS servers and a PostgreSQL on this machine, until it is interrupted
	@go build -o bin/nats-server github.com/nats-io/nats-server/v2
	@scripts/with-postgres scripts/cluster

.PHONY: cluster-test
cluster-test: ## kill servers, NATS servers and connections of a cluster under load, 30 times
	@scripts/with-postgres go test -count 1 -timeout 20m -v -run TestAClusterLosesNothing ./internal/app

.PHONY: agent
agent: ## run the example agent, which a guard nudges and then stops
	@go run ./examples/go-agent

.PHONY: build
build: ## build bin/unloop, one file that needs nothing else
	@CGO_ENABLED=0 go build -trimpath -buildvcs=false -o bin/unloop \
		-ldflags '-X github.com/unloop-ai/unloop/internal/cli.version=$(version)' ./cmd/unloop
	@cp THIRD_PARTY_NOTICES.txt bin/
	@echo "bin/unloop $(version)"

.PHONY: agents
agents: build ## run real coding agents, installed from npm, against a scripted model with unloop at their hooks and as their proxy
	@mkdir -p bin/agents && cp internal/agents/package.json bin/agents/
	@npm --prefix bin/agents install --no-audit --no-fund --loglevel error
	@scripts/node-env sdk/typescript && cd sdk/typescript && node_modules/.bin/tsc --project tsconfig.build.json
	@go run ./internal/agents -bin bin/unloop -packages bin/agents

.PHONY: conformance
conformance: build ## run the conformance tests of the Model Context Protocol, from npm, through the MCP proxy
	@scripts/conformance

.PHONY: wheel
wheel: build ## build the Python package with the program in it, into dist/
	@UNLOOP_WHEEL_BIN=$(CURDIR)/bin/unloop python3 -m pip wheel --quiet --no-deps --wheel-dir dist ./sdk/python
	@ls dist/*.whl

.PHONY: release
release: ## build all that is published, of a clean commit, into dist/
	@scripts/release

.PHONY: releasetest
releasetest: ## build all that is published twice, compare, and use what this machine can run
	@UNLOOP_RELEASE_PLATFORMS=all $(static) go test -count 1 -timeout 120m -v -run TestRelease ./packaging

.PHONY: docs
docs: ## write the reference pages anew, of the program's own descriptions
	@go test ./internal/cli -run TestReferencePages -update

.PHONY: test
test: ## run all tests, three suites at a time, and print the output of each suite when it has ended
	@$(MAKE) --jobs=3 --keep-going --output-sync $(suites)

.PHONY: gotest
gotest: needs ## test the Go packages but packaging/, those with goroutines under the race detector
	@$(static) go test -timeout 30m $(TESTFLAGS) $(sequential)
	@scripts/with-postgres go test $(race) -timeout 30m $(TESTFLAGS) $(longest) $$(go list ./... | grep -vxF "$$(go list $(sequential) $(longest) ./packaging)")

.PHONY: packages
packages: needs ## build all that is published for this platform twice, compare, and use each artefact
	@$(static) go test -timeout 30m $(TESTFLAGS) ./packaging

.PHONY: modules
modules: needs ## test the Go modules of their own, such as the adapters, those with goroutines under the race detector
	@for module in $(sequential_modules); do $(static) go -C $$module test $(TESTFLAGS) ./...; done
	@for module in $(filter-out $(sequential_modules),$(modules)); do go -C $$module test $(race) $(TESTFLAGS) ./...; done

.PHONY: ui
ui: ## build the dashboard into internal/web/dist, which is committed
	@scripts/node-env ui
	@npm --prefix ui run --silent build

.PHONY: openapi
openapi: ## write the description of the API, and the dashboard's types, as the server describes it now
	@scripts/openapi

.PHONY: e2e
e2e: needs ## test the dashboard: its types, its logic, its bundle, and in a browser against a real server
	@scripts/node-env ui
	@npm --prefix ui run --silent check
	@npm --prefix ui --silent test
	@scripts/ui-is-built
	@e2e/run

.PHONY: python
python: needs ## test the Python package: its types and style, and against a real server, guard and most frameworks
	@sdk/python/run-tests

.PHONY: frameworks
frameworks: needs ## test the Python adapters whose frameworks have environments of their own: their types, and against a real server
	@sdk/python/test-frameworks

.PHONY: example
example: build ## run the examples of a page about TypeScript without keys, such as make example PAGE=mastra
	@scripts/node-env sdk/typescript
	@cd sdk/typescript && node_modules/.bin/tsc && node_modules/.bin/tsc --project tsconfig.build.json && \
		UNLOOP_TEST_PROGRAM=$(CURDIR)/bin/unloop node build/tests/example.js $(PAGE)

.PHONY: typescript
typescript: needs ## test the TypeScript package: its style and types, and against a real server, guard and frameworks
	@sdk/typescript/run-tests

.PHONY: check
check: lint test ## all that CI runs: lint, then test

.PHONY: lint
lint: ## format, vet, staticcheck, go.mod, and the shape of the source
	@echo '== format'
	@files=$$($(static) $(tool) gofumpt -l .); \
	if [ -n "$$files" ]; then printf 'not formatted, run make format:\n%s\n' "$$files"; exit 1; fi
	@echo '== vet'
	@$(static) go vet ./...
	@for module in $(modules); do $(static) go -C $$module vet ./...; done
	@echo '== staticcheck'
	@$(static) $(tool) staticcheck ./...
	@for module in $(modules); do (cd $$module && $(static) go tool -modfile=$(CURDIR)/tools/go.mod staticcheck ./...); done
	@echo '== go.mod'
	@go mod tidy -diff
	@go -C tools mod tidy -diff
	@for module in $(modules); do go -C $$module mod tidy -diff; done
	@echo '== shape'
	@$(static) go test ./internal/arch

.PHONY: notices
notices: ## write THIRD_PARTY_NOTICES.txt anew: the licences of all that is linked into the program
	@scripts/notices >THIRD_PARTY_NOTICES.txt.new
	@mv THIRD_PARTY_NOTICES.txt.new THIRD_PARTY_NOTICES.txt

.PHONY: format
format: ## rewrite the Go files as gofumpt wants them
	@$(tool) gofumpt -l -w .

.PHONY: golden
golden: ## rewrite the golden files; read the diff before you commit it
	@go test $$(grep -rlE '(ingesttest\.Golden|goldentest\.Compare)\(t,' --include='*_test.go' . | xargs dirname | sort -u) -update

.PHONY: bench
bench: ## run the benchmarks that match BENCH, COUNT times, into the file NEW
	@scripts/with-postgres go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./... | tee $(NEW)

.PHONY: benchonce
benchonce: needs ## run every benchmark once, to find those that fail; not BenchmarkMemory, which takes half a minute
	@out=$$($(static) scripts/with-postgres go test -vet=off -run '^$$' -skip '^BenchmarkMemory$$' -bench . -benchtime 1x \
		$$(grep -rlE '^func Benchmark' --include='*_test.go' . | xargs dirname | sort -u) 2>&1) || { echo "$$out"; exit 1; }
	@echo 'every benchmark ran once'

.PHONY: benchcmp
benchcmp: ## compare the benchmarks in the file OLD with those in NEW
	@$(tool) benchstat $(OLD) $(NEW)

.PHONY: load
load: build ## measure a server from outside: make load LOAD="-events 10000000 memory"
	@go build -o bin/loadtest ./internal/loadtest
	@bin/loadtest $(LOAD)

.PHONY: load-cluster
load-cluster: build ## measure a cluster of one server and one of three: make load-cluster LOAD="-events 1000000"
	@go build -o bin/loadtest ./internal/loadtest
	@go build -o bin/nats-server github.com/nats-io/nats-server/v2
	@for servers in 1 3; do scripts/with-postgres bin/loadtest -servers $$servers $(LOAD) cluster; done

.PHONY: overhead
overhead: build ## measure what the Python and the TypeScript package cost an agent
	@UNLOOP_BIN=bin/unloop PYTHONPATH=sdk/python/src python3 sdk/python/bench/overhead.py
	@scripts/node-env sdk/typescript
	@cd sdk/typescript && node_modules/.bin/tsc && UNLOOP_BIN=$(CURDIR)/bin/unloop node build/bench/overhead.js

.PHONY: eval
eval: ## measure the profiles on EVAL_RUNS, and on loops and lookalikes made of the healthy ones, tuning kinds and reporting kinds
	@go build -o bin/unloop ./cmd/unloop
	@echo "As they are:"; bin/unloop eval --profile $(EVAL_PROFILES) $(EVAL_RUNS)
	@for kinds in tuning reporting; do echo; echo "With $$kinds kinds, seeds 1 to 3:"; \
		for seed in 1 2 3; do bin/unloop eval make --seed $$seed --kinds $$kinds $(EVAL_RUNS); done | bin/unloop eval --profile $(EVAL_PROFILES) -; done

.PHONY: train
train: ## train the model of stalled_steps on the judged runs of EVAL_RUNS, the healthy examples and the tuning kinds, and measure it on what it was not trained on
	@mkdir -p .cache && go run ./cmd/unloop eval make --seed 2 --kinds tuning examples/healthy/*.jsonl > .cache/kinds.jsonl
	@go run ./internal/train .cache/kinds.jsonl examples/healthy/*.jsonl $(EVAL_RUNS) > .cache/features.jsonl
	@go run ./internal/train -names > .cache/features.txt
	@"$$(scripts/python-env internal/train/requirements.txt)" internal/train/train.py .cache/features.jsonl .cache/features.txt stalled_model.go

.PHONY: rewritten
rewritten: ## measure default on the judged runs of EVAL_RUNS as other agents and harnesses would have written them: a table of docs/progress-meter.md
	@go run ./internal/eval/rewrite/table $(EVAL_RUNS)

.PHONY: compare
compare: ## run published detectors on the judged runs of EVAL_RUNS beside ours, and print the table of docs/comparison.md
	@mkdir -p .cache && go run ./compare/unloop $(EVAL_RUNS) > .cache/decisions.jsonl
	@"$$(PYTHON=$(COMPARE_PYTHON) scripts/python-env compare/requirements.txt)" compare/compare.py $(COMPARE_SECONDS) .cache/decisions.jsonl $(EVAL_RUNS)

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME, one after another
	@targets=$$(go test -list '^Fuzz' ./... | awk '/^Fuzz/ { f[n++] = $$1 } /^ok/ { while (n) print $$2, f[--n] }'); \
	while read -r package target; do \
		echo "== $$package $$target"; \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$package" </dev/null; \
	done <<<"$$targets"

.PHONY: clean
clean: ## remove what the other targets built
	@rm -rf bin dist $(OLD) $(NEW)

.PHONY: needs
needs:
	@scripts/needs

.PHONY: detector
detector: ## write a new detector, complete but red: make detector NAME=my_rule
	@go run ./detect/detecttest/new $(NAME)
