# Everything here is a short name for a go command; "make help" lists them.

GO       ?= go
TOOL      = $(GO) tool -modfile=tools/go.mod
FUZZTIME ?= 10s
KERNEL    = ../internal/kernel

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c

.DEFAULT_GOAL := help
.PHONY: help build test lint race portable arm64 fuzz bench generate ci

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## compile every package, and the program into bin/
	$(GO) build ./...
	$(GO) build -o bin/ ./cmd/...

test: ## run the tests
	$(GO) test ./...

lint: ## check format, modules, vet and staticcheck
	@unformatted="$$(gofmt -l .; $(TOOL) gofumpt -l .)"; \
	if [ -n "$$unformatted" ]; then \
		echo "not formatted:"; echo "$$unformatted" | sort -u; \
		echo "Try: $(TOOL) gofumpt -w ."; exit 1; \
	fi
	$(GO) mod tidy -diff
	$(GO) -C tools mod tidy -diff
	$(GO) vet ./...
	$(GO) -C tools vet ./...
	$(TOOL) staticcheck ./...

race: ## run the tests under the race detector
	$(GO) test -race ./...

portable: ## run the tests with the assembly off, at run time and at build time
	GODEBUG=cpu.avx2=off WDGNN_KERNELS=portable $(GO) test -count=1 ./...
	WDGNN_KERNELS=portable $(GO) test -tags purego ./...

arm64: ## run the tests for arm64 under qemu-aarch64 (Debian package qemu-user)
	GOARCH=arm64 WDGNN_KERNELS=portable $(GO) test -exec qemu-aarch64 ./...

fuzz: ## run each fuzz target for FUZZTIME (10s)
	@targets="$$($(GO) test -list '^Fuzz' ./... \
	| awk '/^Fuzz/ { name[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, name[i]; n = 0 }')"; \
	if [ -z "$$targets" ]; then echo "no fuzz targets found"; exit 1; fi; \
	while read -r package name; do \
		echo "$$package $$name"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$package" </dev/null; \
	done <<< "$$targets"

bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

generate: ## write the assembly of internal/kernel again
	$(GO) -C tools run ./kernelgen -out $(KERNEL)/avx2_amd64.s -stubs $(KERNEL)/avx2_stub_amd64.go -pkg kernel

ci: ## everything that must pass before a merge
	.ci/run
