# Everything works from a bare clone with Go, make and git: missing programs are
# installed if that is permitted, otherwise listed.

TOOL := go tool -modfile=go.tool.mod
.DEFAULT_GOAL := help

# Everything is compiled as bin/loyalty is, so once.
export CGO_ENABLED := 0
export GOFLAGS := $(GOFLAGS) -trimpath

.PHONY: help
help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## run the demo, from a bare clone
	@test -n "$$DATABASE_URL" || .ci/need postgresql
	@bin/loyalty serve

.PHONY: test
test: ## run the tests, from a bare clone
	@.ci/need postgresql chromium redis-server
	@.ci/need curl nodejs npm python3 php && .ci/clients/run install || test -z "$$CI" # else tests of clients are skipped
	go run ./cmd/testdb -- .ci/tests

.PHONY: test-long
test-long: ## run the long tests: races, an upgrade, 100,000 rows
	@.ci/need gcc postgresql pgbouncer chromium redis-server haproxy promtool
	go run ./cmd/testdb -- .ci/tests long

.PHONY: screenshots
screenshots: ## write pictures of every page to ./screenshots
	@.ci/need postgresql chromium
	go test -count=1 -run '^TestBrowser$$/^(Pages|Import|NewBusiness|TwoFactor|GoneCustomers|Send|VoucherPages|VoucherMail|RedeemVoucher|Card|CardReplaced|Join|Claim|TillPages|Setup|Home|Tenants|PlatformSignIn|PlatformInvoices)$$' ./cmd/loyalty -screenshots '$(CURDIR)/screenshots'

.PHONY: model
model: ## compare random use of core with its model, for about an hour
	@.ci/need postgresql
	RAPID_CHECKS=5000 RAPID_STEPS=200 go run ./cmd/testdb -- go test -v -timeout 5h -run '^TestModel$$' ./core/verify

.PHONY: sentences
sentences: ## test the specification over TLS, and count its sentences
	@.ci/need postgresql
	go run ./cmd/testdb -- go test -v -run '^Test(Quotations|Specification)$$' ./api ./cmd/loyalty

.PHONY: build
build: ## build bin/loyalty
	@CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/loyalty ./cmd/loyalty

.PHONY: generate
generate: ## regenerate the generated files
	go tool templ generate
	go run ./api/clients/python/generate
	.ci/clients/run generate
	@$(MAKE) -s statements

.PHONY: statements
statements: ## write every SQL statement to docs/statements
	go test -count=1 ./core/dbtest -run '^TestStatementsAreWritten$$' -args -update

.PHONY: dev
dev: ## serve, and rebuild when a page is edited
	@.ci/need postgresql
	go tool templ generate --watch --cmd "go run ./cmd/loyalty serve"

.PHONY: check
check: generate ## check generated files, format, lint, words, modules and known vulnerabilities
	@git diff --exit-code -- '*_templ.go' api/clients docs/statements || { echo 'Generated files are stale: commit what make generate writes.'; exit 1; }
	go mod tidy -diff
	$(TOOL) golangci-lint fmt --diff
	$(TOOL) golangci-lint run
	.ci/wording
	.ci/vulnerabilities
	.ci/openapi/lint
	.ci/openapi/generators
	.ci/clients/run check
	.ci/vendor --check

.PHONY: vendor
vendor: ## download the vendored browser files at their listed versions
	.ci/vendor

.PHONY: format
format: ## format the code
	$(TOOL) golangci-lint fmt

.PHONY: fuzz
fuzz: ## run the fuzz tests, a minute each
	@.ci/need postgresql
	go test -run '^$$' -fuzz '^FuzzRequest$$' -fuzztime 60s ./api
	go test -run '^$$' -fuzz '^FuzzAmount$$' -fuzztime 60s ./web/forms

.PHONY: bench
bench: build ## run the load tests, compared with pgbench; one part: make bench only=panel
	@.ci/need postgresql
	go run ./cmd/bench -only '$(only)' -against '$(against)'

.PHONY: restore-test
restore-test: build ## test the backup scripts: back up, restore to a moment, verify
	@.ci/need postgresql
	docs/operations/restore-test.sh bin/loyalty

.PHONY: psql
psql: build ## open psql inside a tenant: make psql tenant=demo
	@bin/loyalty psql --tenant "$(tenant)"

.PHONY: clean
clean: ## remove build results, not data
	rm -rf bin
