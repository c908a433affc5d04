package main

import (
	"net/http"
	"slices"
	"strings"

	"example.com/loyalty/docs"
)

// endpoint is a row of the specification's tables of endpoints.
type endpoint struct {
	method, path string // below /api/v1
	scope        string // "" none, "platform", or toRecord
}

// toRecord is the scope of POST /transactions, which the operator chooses.
const toRecord = "see note"

func (e endpoint) String() string { return e.method + " " + e.path }

// endpoints reads all endpoints from the document.
var endpoints = func() (all []endpoint) {
	for _, row := range docs.Sentences("specification", "## 4.") {
		cells := strings.Split(row, " | ")
		path, below := strings.CutPrefix(cells[min(1, len(cells)-1)], "/api/v1")
		if !below {
			continue
		}
		e := endpoint{strings.TrimPrefix(cells[0], "| "), path, cells[2]}
		switch {
		case strings.HasPrefix(path, "/platform/"):
			e.scope = "platform"
		case e.scope == "none (authenticated only)":
			e.scope = ""
		}
		all = append(all, e)
	}
	return all
}()

// opens reports whether a token of the sandbox's file may call an endpoint.
func (v *visit) opens(e endpoint, as string) bool {
	switch e.scope {
	case "":
		return true
	case "platform":
		return as == "platform"
	case toRecord:
		return as == "all" || as == string(v.file.TransactionsPostScope)
	}
	return as == "all" || as == e.scope
}

// knocks calls an endpoint with unknown ids and without fields, which changes nothing even with
// access.
func (v *visit) knocks(e endpoint, token string, headers ...string) (got answer, inside int) {
	v.t.Helper()
	return v.knocksAt(v.in.base, e, token, headers...)
}

// host returns the URL of the tenant's host.
func (v *visit) host() string { return strings.TrimSuffix(v.shop.PanelURL, "/admin") }

func (v *visit) knocksAt(host string, e endpoint, token string, headers ...string) (got answer, inside int) {
	v.t.Helper()
	body, inside := "", http.StatusOK
	if e.method == "POST" || e.method == "PATCH" {
		body, inside = "{}", http.StatusUnprocessableEntity
	}
	if strings.Contains(e.path, "{") {
		inside = http.StatusNotFound
	}
	path := strings.NewReplacer("{ulid}", v.fill("{missing}"), "{id}", "9223372036854775807").Replace(e.path)
	got, err := v.call(e.method, host+"/api/v1"+path, token, body, headers...)
	if err != nil {
		v.t.Fatalf("%s: %v", e, err)
	}
	return got, inside
}

// lets checks that a token has access to an endpoint.
func (v *visit) lets(e endpoint, as string) {
	v.t.Helper()
	if got, inside := v.knocks(e, v.token(as)); got.status != inside {
		v.t.Errorf("%s with %s: %d, want %d: %s", e, as, got.status, inside, got.body)
	}
}

// refuses checks that it has no access.
func (v *visit) refuses(e endpoint, as string) {
	v.t.Helper()
	got, _ := v.knocks(e, v.token(as))
	v.is(got, http.StatusForbidden, forbidden)
	if got.status != http.StatusForbidden {
		v.t.Errorf("%s gave access to %s", e, as)
	}
}

// invalidCredentials returns headers that authenticate no caller.
func (v *visit) invalidCredentials() map[string]string {
	own, other := v.token("all"), v.other.token("all")
	id, secret, _ := strings.Cut(own, "|")
	otherID, _, _ := strings.Cut(other, "|")
	wrong := "0"
	if strings.HasSuffix(own, "0") {
		wrong = "1"
	}
	return map[string]string{
		"missing":                  "",
		"revoked":                  "Bearer " + v.token("revoked"),
		"another scheme":           "Basic " + own,
		"no scheme":                own,
		"no token":                 "Bearer",
		"misspelled":               "Bearer " + own[:len(own)-1] + wrong,
		"cut off":                  "Bearer " + own[:len(own)-1],
		"longer":                   "Bearer " + own + "0",
		"without a bar":            "Bearer " + id + secret,
		"without its id":           "Bearer |" + secret,
		"an unknown id":            "Bearer 9223372036854775807|" + secret,
		"another token's id":       "Bearer " + otherID + "|" + secret,
		"an id that is no integer": "Bearer x|" + secret,
		"a word":                   "Bearer secret",
		"two tokens":               "Bearer " + own + " " + other,
	}
}

// stops checks that invalid credentials have no access to an endpoint.
func (v *visit) stops(e endpoint, kinds ...string) {
	v.t.Helper()
	for kind, header := range v.invalidCredentials() {
		if len(kinds) > 0 && !slices.Contains(kinds, kind) {
			continue
		}
		var headers []string
		if header != "" {
			headers = []string{"Authorization: " + header}
		}
		got, _ := v.knocks(e, "", headers...)
		v.is(got, http.StatusUnauthorized, unauthorized)
		if got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") != "Bearer" {
			v.t.Errorf("%s, %s: %d, WWW-Authenticate %q", e, kind, got.status, got.header.Get("WWW-Authenticate"))
		}
	}
}

const (
	needsHeader     = "All endpoints require `Authorization: Bearer <ACCESS_TOKEN>` (see Authentication)."
	carriesToken    = "Every tenant-scoped request carries a personal access token in the header `Authorization: Bearer <ACCESS_TOKEN>`."
	badToken        = "A missing, malformed or revoked token gives 401."
	haveScopes      = "Tokens have scopes (also called abilities)."
	lacksScope      = "A request to a scope-protected endpoint with a token lacking the scope gives 403."
	tokensNeedNone  = "Token endpoints (list, create, revoke) need only authentication, no scope."
	needsSuperAdmin = "Platform endpoints need the caller to be a super-admin user; they do not use scopes."
	withoutIt       = "Without it: 403."
	launched        = "v1 launch (2026-05) endpoints: the customers, transactions (get and void), rewards, redemptions, coupons, reports, tokens and platform endpoints listed in the Endpoints part."
)

// accessSentences calls every endpoint with every kind of token.
func accessSentences() (all []sentence) {
	for _, e := range endpoints {
		add := func(says string, story func(v *visit)) {
			all = append(all, sentence{says: says, with: e.String(), story: story})
		}
		add(needsHeader, func(v *visit) { v.stops(e, "missing", "no token", "no scheme") })
		add(badToken, func(v *visit) { v.stops(e) })
		if e.scope == "platform" {
			add(needsSuperAdmin, func(v *visit) { v.lets(e, "platform") })
			add(withoutIt, func(v *visit) {
				for as := range v.shop.Tokens {
					v.refuses(e, as)
				}
			})
			continue
		}
		if e.scope == "" {
			add(tokensNeedNone, func(v *visit) {
				for as := range v.shop.Tokens {
					v.lets(e, as)
				}
				v.lets(e, "platform")
			})
			continue
		}
		add(carriesToken, func(v *visit) {
			v.stops(e, "missing")
			v.lets(e, "all")
		})
		add(haveScopes, func(v *visit) {
			for as := range v.shop.Tokens {
				if v.opens(e, as) {
					v.lets(e, as)
				}
			}
		})
		add(lacksScope, func(v *visit) {
			for as := range v.shop.Tokens {
				if !v.opens(e, as) {
					v.refuses(e, as)
				}
			}
		})
		add(noTenantScope, func(v *visit) { v.refuses(e, "platform") })
	}
	for _, row := range docs.Sentences("specification", "## 5.") {
		scope, covers, isRow := strings.Cut(strings.Trim(row, "| "), " | ")
		if !isRow {
			continue
		}
		for covered := range strings.SplitSeq(covers, ", ") {
			method, path, _ := strings.Cut(covered, " ")
			e := endpoint{method, path, scope}
			all = append(all, sentence{says: row, with: covered, story: func(v *visit) {
				if !slices.Contains(endpoints, e) {
					v.t.Errorf("the tables of endpoints don't have the scope of %s", covered)
				}
				v.lets(e, scope)
			}})
		}
	}
	return append(all, sentence{says: launched, story: func(v *visit) {
		if len(endpoints) != 25 {
			v.t.Errorf("the tables have %d endpoints", len(endpoints))
		}
		for _, e := range endpoints {
			as := "all"
			if e.scope == "platform" {
				as = "platform"
			}
			v.lets(e, as)
		}
	}})
}
