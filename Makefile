# Each target is a line a person could type.

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
DEADCODE := golang.org/x/tools/cmd/deadcode@v0.45.0
RELEASE_GO := go1.26.8
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.1.4
FUZZTIME ?= 10s

# What no command reaches, for a reason: the API for programs that embed mayfly and what it alone opens, the suites that
# tests run, the lists of names by which tests hold the documents complete, and a client's side of the wire protocol.
REACHED_BY_OTHERS := ^([a-z_]+\.go|disk/|mayflytest/|internal/kv/kvtest/|internal/mongo/work/worktest/|internal/storytest/)|kv/(memory/.*: New|pebble/.*: Open)$$|: (Operators|Names|Accumulators|Aggregates|Kinds|AppendMsg|AppendCompressed)$$
# Packages whose goroutines meet: their tests run under the race detector, too.
RACED := . ./internal/store ./internal/reaper ./internal/kv/... ./internal/budget ./internal/mongo/session
SOAKTIME ?= 3600
# What bench-compare compares, and how: the flags are those of mayfly bench.
COSMIUM := github.com/pikami/cosmium@v0.1.15
FERRETDB := github.com/FerretDB/FerretDB@v1.24.0
COMPARE ?= --operations all --clients 8,32 --duration 6s --turns 3

SHELL := bash

.PHONY: help run build test race lint vulnerabilities fuzz bench bench-compare soak conformance release explorer

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-12s %s\n", $$1, $$2}' Makefile

run: ## Start mayfly with its defaults, data in ./mayfly-data
	go run ./cmd/mayfly

build: ## Build ./mayfly
	go build -o mayfly ./cmd/mayfly

test: lint ## Lint, all tests in random order, those of RACED under the race detector, a release, and the official SDKs against the binary
	go test -shuffle=on ./...
	@if [ "$$(go env CGO_ENABLED)" = 1 ]; then set -x; go test -race -short -shuffle=on -timeout 20m $(RACED); \
	elif [ -n "$$CI" ]; then echo "the race detector needs a C compiler"; exit 1; \
	else echo "race: skipped, because the race detector needs a C compiler"; fi
	cd release && go vet ./... && go test ./...
	@if [ -f conformance/Makefile ]; then $(MAKE) conformance; fi

race: ## All tests under the race detector, in random order
	go test -race -shuffle=on ./...

lint: ## gofmt, vet, staticcheck, code that nothing reaches
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt -w" $$unformatted; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...
	@dead=$$(go run $(DEADCODE) ./...) || exit 1; \
	if grep -vE '$(REACHED_BY_OTHERS)' <<<"$$dead"; then echo "deadcode: nothing reaches these: remove them"; exit 1; fi

vulnerabilities: ## Known vulnerabilities of what mayfly is made of
	@if go run $(GOVULNCHECK) ./... >govulncheck.out 2>&1; then echo "govulncheck: none found"; \
	elif grep -q '^exit status 3' govulncheck.out; then cat govulncheck.out; exit 1; \
	else echo "govulncheck: could not run, see govulncheck.out"; fi

fuzz: ## Each fuzz target for FUZZTIME (10s)
	@go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | while read -r package; do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

bench: ## Benchmarks; docs/performance.md says how to read them (about 20 minutes)
	go test -run '^$$' -bench . -benchmem ./...
	go test -run '^$$' -bench PolicyChange -benchtime 200x ./internal/store -documents 1000000
	go test -run '^$$' -bench Wave -benchtime 1x ./internal/reaper -wave 1000000
	go test -run '^$$' -bench Start -benchtime 10x ./cmd/mayfly -items 1000000
	go test -run TestWave -v ./cmd/mayfly -wave 1000000

bench-compare: ## mayfly beside cosmium and FerretDB on SQLite, in turns, with the flags COMPARE (about 12 minutes)
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	go build -o $$dir/mayfly ./cmd/mayfly; \
	copied() { cp -r "$$(cd $$dir && go mod download -json $$1 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')" $$dir/$$2; chmod -R u+w $$dir/$$2; }; \
	copied $(COSMIUM) cosmium; (cd $$dir/cosmium && go build -o $$dir/cosmium-server ./cmd/server); \
	copied $(FERRETDB) ferretdb; echo $(lastword $(subst @, ,$(FERRETDB))) >$$dir/ferretdb/build/version/version.txt; \
	(cd $$dir/ferretdb && go build -o $$dir/ferretdb-server ./cmd/ferretdb); mkdir $$dir/sqlite; \
	echo "first cosmium, in memory; second mayfly, durable on disk"; \
	$$dir/mayfly bench --nosql http://127.0.0.1:18081 --against http://127.0.0.1:18082 $(COMPARE) \
		--run "$$dir/cosmium-server -Host 127.0.0.1 -Port 18081 -DisableTls -LogLevel silent" \
		--against-run "$$dir/mayfly serve --data $$dir/nosql --nosql 127.0.0.1:18082 --nosql-tls off --mongo= --admin="; \
	echo "first FerretDB on SQLite; second mayfly"; \
	$$dir/mayfly bench --mongo mongodb://127.0.0.1:18083 --against mongodb://127.0.0.1:18084 $(COMPARE) \
		--run "$$dir/ferretdb-server --handler sqlite --sqlite-url file:$$dir/sqlite/ --state-dir $$dir --listen-addr 127.0.0.1:18083 --debug-addr - --telemetry disable --log-level ERROR" \
		--against-run "$$dir/mayfly serve --data $$dir/mongo --mongo 127.0.0.1:18084 --nosql= --admin="

soak: ## For SOAKTIME (3600) seconds all loads in turn; a hundred kills; forty kills of the parts of a cluster, and the official suites against two processes; a million items imported under kills; random patterns; the storage tests over and over, raced, a sixth as long
	cd conformance/pressure && go test -count=1 -v -run Soak -timeout $$(($(SOAKTIME) + 1200))s -soak $(SOAKTIME)s
	@if command -v pcre2test >/dev/null; then go test -count=20 -tags pcre2 -run RandomAgainstPCRE2 ./internal/mongo/pattern; \
	else echo "soak: skipped random patterns against PCRE2, because pcre2test (Debian: pcre2-utils) is not installed"; fi
	go test -count=1 -run TestKills ./cmd/mayfly -kills 100
	cd conformance/cluster && go test -count=1 -v -run 'SurviveKills|DeadMayfly' -timeout 1h -rounds 6 -holders 10
	$(MAKE) -C conformance cluster-suites
	go test -count=1 -run TestMoveKilled -v -timeout 1h ./cmd/mayfly -moved 1000000
	go test -count=1 -run TestMoveInterrupted -timeout 1h ./internal/bulk -items 200000
	@end=$$(($$(date +%s) + $(SOAKTIME) / 6)); while [ $$(date +%s) -lt $$end ]; do \
		go test -race -shuffle=on -count=1 ./internal/store ./internal/reaper ./internal/kv/... || exit 1; \
	done

release: ## Build everything of a release into dist: make release VERSION=v0.1.0
	cd release && GOTOOLCHAIN=$(RELEASE_GO) go run . -version "$(VERSION)"

explorer: ## Build the explorer from its sources and libraries, for a commit: needs Node
	cd internal/explorer && npm ci --ignore-scripts --no-audit --no-fund && node build.mjs

conformance: ## The official SDKs against the binary
	$(MAKE) -C conformance test
