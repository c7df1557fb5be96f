# Everything here is a short name for a go command; "make help" lists them.

GO       ?= go
TOOL      = $(GO) tool -modfile=tools/go.mod
FUZZTIME ?= 10s
SOAK     ?= 10m
RUNS     ?= 100
HOURS    ?= 1
SITE     ?= site
KERNEL    = ../internal/kernel
EXPERIMENTS = table1 fig2a fig2b gains robust table2 table3 table4 table4-1m allmovies certify lipschitz certified localshift learners agents
RELEASES  = linux/amd64 linux/arm64 darwin/arm64 windows/amd64

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c

.DEFAULT_GOAL := help
.PHONY: help build test lint race portable arm64 fuzz soak soak-boxes bench bench-peers bench-agents bench-report results report screenshots site doc-check generate python release ci

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## compile every package, and the program into bin/
	$(GO) build ./...
	$(GO) build -o bin/ ./cmd/...

test: ## run the tests
	$(GO) test ./...

lint: ## check format, modules, vet, staticcheck and that no function is dead
	@unformatted="$$(gofmt -l .; $(TOOL) gofumpt -l .)"; \
	if [ -n "$$unformatted" ]; then \
		echo "not formatted:"; echo "$$unformatted" | sort -u; \
		echo "Try: $(TOOL) gofumpt -w ."; exit 1; \
	fi
	$(GO) mod tidy -diff
	$(GO) -C tools mod tidy -diff
	$(GO) -C examples/outside mod tidy -diff
	$(GO) vet ./...
	$(GO) -C tools vet ./...
	$(GO) -C examples/outside vet ./...
	$(TOOL) staticcheck ./...
	@dead="$$($(TOOL) deadcode -test ./...)"; if [ -n "$$dead" ]; then echo "nobody calls:"; echo "$$dead"; exit 1; fi

# A race needs goroutines: packages that start them, or whose tests do, by what such code looks like. What
# computes is left out where its goroutines are those of others, which have tests of their own,
# and wdgnn-agent, whose tests start programs that have no detector in them.
GOROUTINES = ^[[:space:]]*go [a-zA-Z]|\.Go\(|sync\.|atomic\.|httptest\.|\.Parallel\(\)
race: ## run the tests of packages with goroutines under the race detector, without those that train whole models
	@packages="$$($(GO) list -f '{{.ImportPath}} {{.Dir}}' ./... | grep -v -e '/internal/kernel ' -e '/internal/paper/figure ' -e '/internal/shop/dataset ' -e '/theory ' -e '/cmd/wdgnn-agent ' \
		| while read -r package dir; do ! grep -qE '$(GOROUTINES)' "$$dir"/*.go || echo "$$package"; done)"; \
	CGO_ENABLED=1 $(GO) test -race -short -vet=off ./internal/paper/reproduce $$packages

portable: ## run the tests with the assembly off, at run time and at build time
	GODEBUG=cpu.avx2=off WDGNN_KERNELS=portable $(GO) test -count=1 ./...
	WDGNN_KERNELS=portable $(GO) test -tags purego ./...

arm64: ## run the tests for arm64 under qemu-aarch64 (Debian package qemu-user)
	GOARCH=arm64 WDGNN_KERNELS=neon $(GO) test -exec qemu-aarch64 ./...

# Coverage is counted in what is ours and in what reads the inputs. With -fuzz, go test would
# compile everything anew to count in it, the standard library too, and it would link a
# program for each target. Tests of the page link a browser's protocol, which is large.
OURS    = -gcflags=github.com/wdgnn/wdgnn/...=-d=libfuzzer
READERS = -gcflags=encoding/...=-d=libfuzzer -gcflags=go.yaml.in/...=-d=libfuzzer

fuzz: ## run each fuzz target for FUZZTIME (10s)
	@packages="$$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r -n 1 dirname | sort -u)"; \
	if [ -z "$$packages" ]; then echo "no fuzz targets found"; exit 1; fi; \
	dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; kept="$$($(GO) env GOCACHE)/fuzz"; \
	for package in $$packages; do \
		readers='$(READERS)'; [ "$$package" != ./internal/shop/serve ] || readers=; \
		$(GO) test -c -vet=off $(OURS) $$readers -o "$$dir/fuzz.test" "$$package"; \
		for name in $$(cd "$$package" && "$$dir/fuzz.test" -test.list '^Fuzz'); do \
			echo "$$package $$name"; \
			if ! (cd "$$package" && "$$dir/fuzz.test" -test.run '^$$' -test.fuzz "^$$name\$$" -test.fuzztime $(FUZZTIME) \
				-test.fuzzminimizetime 10x -test.fuzzcachedir "$$kept/github.com/wdgnn/wdgnn/$$package") </dev/null 2>&1 | tee "$$dir/log"; then \
				grep -q 'context deadline exceeded' "$$dir/log" && ! grep -q 'Failing input' "$$dir/log" || exit 1; \
				echo "the fuzzer took the end of its time for a failure; no input failed"; \
			fi; \
			! grep 'without coverage guidance' "$$dir/log" || exit 1; \
		done; \
	done

soak: ## break swarms of processes at random for SOAK (10m): kills, partitions, losses, server restarts
	$(GO) test ./internal/swarm -run '^TestSoak$$' -soak $(SOAK) -timeout 0 -v $(ARGS)

soak-boxes: ## deploy boxes as users do and break them: RUNS (100) faults, then HOURS (1) of them; writes bench/soak/results.md
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -trimpath -ldflags '-s -w' -o bin/ ./cmd/wdgnn ./cmd/wdgnn-agent
	$(GO) run ./bench/soak --program bin/wdgnn --agent bin/wdgnn-agent --commit "$$(git describe --always --dirty)" \
		--runs $(RUNS) --hours $(HOURS) --out bench/soak/results.json --page bench/soak/results.md $(ARGS)

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-peers: ## compare with PyTorch; ARGS="--rounds 5 --tasks a,b" is passed on, see bench/run -h
	bench/run $(ARGS)

bench-agents: ## measure agents as processes; ARGS="--seconds 60 --only large" is passed on, see wdgnn swarm bench -h
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -trimpath -ldflags '-s -w' -o bin/ ./cmd/wdgnn ./cmd/wdgnn-agent
	bin/wdgnn swarm bench --json $(ARGS) >>bench/results/swarm-$$(date -u +%F).jsonl
	$(GO) run ./bench/report

bench-report: ## write bench/results.md and the table of speed in README.md again from bench/results/*.jsonl
	$(GO) run ./bench/report

results: ## run EXPERIMENTS of the paper again and write doc/results.md (an hour or so); stored realizations are used
	$(GO) build -ldflags '-X main.release=$(shell git describe --tags --always --dirty)' -o bin/wdgnn ./cmd/wdgnn
	for e in $(EXPERIMENTS); do \
		bin/wdgnn reproduce $$e $(ARGS) && cp reproduce/$$e/result.json doc/results/$$e.json || exit 1; \
	done
	$(GO) run ./doc/report

report: ## write doc/results.md and the table of results in README.md again from doc/results/*.json
	$(GO) run ./doc/report

screenshots: ## take the pictures of the live page in doc/pictures with Debian's chromium; DATA=data/ml-100k for the rating service
	$(GO) run ./doc/screenshots -out doc/pictures -data "$(DATA)"

site: ## write the demo and the documents as a static folder SITE (site) for any web server; trains a model for some minutes
	$(GO) run ./doc/site -out "$(SITE)" $(ARGS)
	$(GO) -C tools run ./pages -root .. -out "$(abspath $(SITE))"

doc-check: ## run the commands that README.md and doc/*.md show and compare what they print; ARGS=-write changes the pages
	$(GO) run ./doc/check $(ARGS)

generate: ## write the assembly of internal/kernel again
	$(GO) -C tools run ./kernelgen -out $(KERNEL)/avx2_amd64.s -stubs $(KERNEL)/avx2_stub_amd64.go -pkg kernel
	$(GO) -C tools run ./kernelgen -set avx512 -out $(KERNEL)/avx512_amd64.s -stubs $(KERNEL)/avx512_stub_amd64.go -pkg kernel
	$(GO) -C tools run ./neongen -out $(KERNEL)/neon_arm64.s -stubs $(KERNEL)/neon_stub_arm64.go

python: ## test the Python package in an empty venv, with Debian's NumPy and PyTorch
	python/test

release: export RELEASES := $(RELEASES)
release: ## build archives, wheels, Debian packages, SBOM and checksums for RELEASES into dist/; the same commit gives the same bytes
	deploy/release

ci: ## everything that must pass before a merge
	.ci/run
