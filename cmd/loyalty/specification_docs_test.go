package main

import (
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"example.com/loyalty/docs"
)

const (
	launchOmits     = "The launch endpoint list of the changelog omits it and lists it as a planned addition,"
	scopeTableOmits = "and the scope table does not name a scope for it."
	onlyPossible    = "Webhook delivery is listed only as an uncommitted future possibility."
	backOff         = "Recommended back-off is 1, 2, 4 and 8 seconds with 10 to 20 percent jitter, giving up after 4 attempts."
	versionOverlap  = "| Version overlap | at least 6 months |"
	inParallel      = "A breaking change goes into a new path version (`/api/v2/`) that runs in parallel with the old one for at least 6 months before the old one is retired."
	breaking        = "Breaking changes: removing an endpoint; removing or renaming a required request field; removing or renaming a documented response field; changing a response field's type; " +
		"changing an endpoint's authentication requirements; reducing or altering the rate limit in a way that affects current use; changing the `type`, `status` or `detail` structure of errors."
	nonBreaking = "Non-breaking, allowed in v1 without notice: new optional request fields, new response fields, new endpoints, new business-rule `detail` values, higher rate limits, " +
		"performance work without visible behaviour change."
	launched        = "v1 launch (2026-05) endpoints: the customers, transactions (get and void), rewards, redemptions, coupons, reports, tokens and platform endpoints listed in the Endpoints part."
	launchScopes    = "Launch scopes: customers:read, customers:write, transactions:write, rewards:read, coupons:read, reports:read."
	planned         = "Planned, not committed: PIN-less direct transaction recording, per-customer redemption history, webhook delivery, and a customer-portal read-only token."
	checkFirst      = "After a network timeout on a non-idempotent POST (transaction, redemption), check for an existing record before retrying."
	voidedIsSuccess = "A 422 `already voided` on a void retry may be treated as success."
	ignoreUnknown   = "Clients must ignore unknown response fields."
)

var (
	endOfBlock = regexp.MustCompile(`</(?:dt|dd|h\d|li|p|td|th)>`)
	tag        = regexp.MustCompile(`<[^>]*>`)
)

// page returns the text of a public page.
func (v *visit) page(path string) string {
	v.t.Helper()
	got := v.ask("GET", "{base}"+path, "anonymous", "")
	if got.status != http.StatusOK || !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
		v.t.Fatalf("%s: %d %s", path, got.status, got.header.Get("Content-Type"))
	}
	return textOf(got.body)
}

// textOf returns the text of a page.
func textOf(page string) string {
	return docs.Plain(html.UnescapeString(tag.ReplaceAllString(endOfBlock.ReplaceAllString(page, " "), "")))
}

// tells is a story of a page that has all of these texts.
func tells(path string, all ...string) func(*visit) {
	return func(v *visit) {
		v.t.Helper()
		page := v.page(path)
		for _, each := range all {
			if !strings.Contains(page, each) {
				v.t.Errorf("%s lacks: %s", path, each)
			}
		}
	}
}

// changelog returns the launch list of the changelog, and the rest of the page.
func (v *visit) changelog() (launch, rest string) {
	v.t.Helper()
	launch, rest, found := strings.Cut(v.page("/docs/changelog"), "Added to v1")
	if !found {
		v.t.Error("the changelog has nothing but the launch")
	}
	return launch, rest
}

// endpoints are those of the specification's tables: "GET /api/v1/customers".
var endpoints = func() (all []string) {
	for _, row := range docs.Sentences("specification", "## 4.") {
		if cells := strings.Split(strings.Trim(row, "| "), " | "); len(cells) > 1 && strings.HasPrefix(cells[1], "/api/v1/") {
			all = append(all, cells[0]+" "+cells[1])
		}
	}
	return all
}()

var docsSentences = []sentence{
	{says: launchOmits, with: "which it is, and not planned any more", story: func(v *visit) {
		launch, rest := v.changelog()
		if strings.Contains(launch, "POST /api/v1/transactions ") || !strings.Contains(rest, "POST /api/v1/transactions") {
			v.t.Errorf("launch %s, later %s", launch, rest)
		}
	}},
	{says: scopeTableOmits, story: func(v *visit) {
		for _, row := range docs.Sentences("specification", "## 5.") {
			if slices.Contains(strings.Split(strings.Trim(row, "| "), ", "), "POST /transactions") {
				v.t.Errorf("it does: %s", row)
			}
		}
		got := v.ask("GET", "/openapi.json", "anonymous", "")
		for _, e := range endpoints {
			_, path, _ := strings.Cut(e, " ")
			if !strings.Contains(got.body, `"`+path+`"`) {
				v.t.Errorf("the description lacks %s", e)
			}
		}
	}},
	{says: launched, with: "in the changelog", story: func(v *visit) {
		launch, _ := v.changelog()
		for _, e := range endpoints {
			if e != "POST /api/v1/transactions" && !strings.Contains(launch, e+" ") {
				v.t.Errorf("the launch lacks %s", e)
			}
		}
		if !strings.Contains(launch, "May 2026") {
			v.t.Errorf("the launch was not in 2026-05: %s", launch)
		}
	}},
	{says: launchScopes, with: "in the changelog", story: tells("/docs/changelog", "customers:read", "customers:write", "transactions:write", "rewards:read", "coupons:read", "reports:read")},
	{says: onlyPossible, story: tells("/docs/changelog", "Planned, not committed", "Webhooks")},
	{says: planned, with: "in the changelog", story: tells("/docs/changelog", "Planned, not committed", "GET /api/v1/customers/{ulid}/redemptions", "Webhooks", "read-only token")},

	{says: noRetry, with: "in the guide", story: tells("/docs/retries", "400, 401, 403, 404, 405, 412, 413, 415, 422, 431 No")},
	{says: retryLater, with: "in the guide", story: tells("/docs/retries", "429 Yes", "500 Yes", "503 Yes", "Retry-After")},
	{says: backOff, story: tells("/docs/retries", "1, 2, 4 and 8 seconds", "10 to 20 percent", "4 attempts")},
	{says: checkFirst, with: "in the guide", story: tells("/docs/retries", "look before you send it again", "customer_ulid=$CUSTOMER")},
	{says: voidedIsSuccess, with: "in the guide", story: tells("/docs/retries", "already-voided is success")},

	{says: versionPrefix, with: "in the policy", story: func(v *visit) { tells("/docs/versioning", "v1", v.in.base+"/api/v1")(v) }},
	{says: inParallel, story: tells("/docs/versioning", "/api/v2/", "at least 6 months")},
	{says: versionOverlap, story: tells("/docs/versioning", "at least 6 months")},
	{says: breaking, story: tells("/docs/versioning", "removing an endpoint", "removing or renaming a required request field", "removing or renaming a documented response field", "its type",
		"authentication", "rate limit", "type, status or detail of errors")},
	{says: nonBreaking, story: tells("/docs/versioning", "new optional request fields", "new response fields", "new endpoints", "of business rules", "higher rate limits", "performance")},
	{says: ignoreUnknown, story: tells("/docs/versioning", "unknown response fields")},
}
