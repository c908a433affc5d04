# Everything here works from a bare clone with Go, make and git: what is missing
# on the machine is installed where that is permitted, and named where it is not.

TOOL := go tool -modfile=go.tool.mod
.DEFAULT_GOAL := help

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## everything from a bare clone to a running demo
	@test -n "$$DATABASE_URL" || .ci/need postgresql
	@bin/loyalty serve

.PHONY: test
test: ## everything from a bare clone to all tests
	@.ci/need gcc postgresql chromium
	RAPID_STEPS=80 go run ./cmd/testdb -- $(TOOL) gotestsum --format pkgname --format-hide-empty-pkg --hide-summary skipped -- -race -timeout 20m ./...

.PHONY: screenshots
screenshots: ## pictures of every page in ./screenshots: at 1440 and 390 px, light and dark
	@.ci/need postgresql chromium
	go test -count=1 -run '^TestBrowser$$/^(Pages|Import|NewBusiness|TwoFactor|GoneCustomers|Send|VoucherPages|VoucherMail|RedeemVoucher|Card|Join|Claim|TillPages|Setup|Tenants|PlatformSignIn|PlatformInvoices)$$' ./cmd/loyalty -screenshots '$(CURDIR)/screenshots'

.PHONY: model
model: ## play at random against the model of core, for an hour or so
	@.ci/need postgresql
	RAPID_CHECKS=5000 RAPID_STEPS=200 go run ./cmd/testdb -- go test -v -timeout 5h -run '^TestModel$$' ./core/verify

.PHONY: sentences
sentences: ## the specification as a test, sentence by sentence; prints how many it covers
	@.ci/need postgresql
	go run ./cmd/testdb -- go test -v -run '^TestSpecification$$' ./cmd/loyalty

.PHONY: build
build: ## bin/loyalty
	@CGO_ENABLED=0 go build -trimpath -o bin/loyalty ./cmd/loyalty

.PHONY: generate
generate: ## write the generated files anew
	go tool templ generate
	$(TOOL) oapi-codegen -config cmd/loyalty/internal/apiclient/config.yaml api/openapi.json

.PHONY: dev
dev: ## serve, and build again whenever a page is edited
	@.ci/need postgresql
	go tool templ generate --watch --cmd "go run ./cmd/loyalty serve"

.PHONY: check
check: generate ## what must be so before the tests: generated files, format, lint, modules, known vulnerabilities
	@git diff --exit-code -- '*_templ.go' '*.gen.go' || { echo 'Generated files are stale: commit what make generate writes.'; exit 1; }
	go mod tidy -diff
	$(TOOL) golangci-lint fmt --diff
	$(TOOL) golangci-lint run
	.ci/vulnerabilities
	.ci/openapi/lint
	.ci/vendor --check

.PHONY: vendor
vendor: ## fetch the browser files of others again, at the versions listed beside them
	.ci/vendor

.PHONY: format
format: ## format the code
	$(TOOL) golangci-lint fmt

.PHONY: fuzz
fuzz: ## the fuzz tests, a minute each
	@.ci/need postgresql
	go test -run '^$$' -fuzz '^FuzzRequest$$' -fuzztime 60s ./api
	go test -run '^$$' -fuzz '^FuzzAmount$$' -fuzztime 60s ./web/page

.PHONY: bench
bench: build ## the load tests with pgbench beside them; one part: make bench only=panel
	@.ci/need postgresql
	go run ./cmd/bench -only '$(only)'

.PHONY: restore-test
restore-test: build ## try the backup scripts: a base backup, an accident, the moment before it, verify
	@.ci/need postgresql
	docs/operations/restore-test.sh bin/loyalty

.PHONY: psql
psql: build ## see the data as one tenant does: make psql tenant=demo
	@bin/loyalty psql --tenant "$(tenant)"

.PHONY: clean
clean: ## remove what was built (never data)
	rm -rf bin
