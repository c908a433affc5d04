package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

const (
	unauthorized = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.2","title":"Unauthorized","status":401,"detail":"Authentication required."}`
	forbidden    = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.4","title":"Forbidden","status":403,"detail":"Invalid ability provided."}`
	notAllowed   = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.6","title":"Method Not Allowed","status":405,"detail":"The method is not allowed for this resource."}`
	notJSON      = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.5.16","title":"Unsupported Media Type","status":415,"detail":"The request body must be JSON."}`
	tooMany      = `{"type":"https://www.rfc-editor.org/rfc/rfc6585#section-4","title":"Too Many Requests","status":429,"detail":"Too Many Attempts."}`
	internal     = `{"type":"https://www.rfc-editor.org/rfc/rfc9110#section-15.6.1","title":"Internal Server Error","status":500,"detail":"An error occurred."}`

	bodiesAreJSON   = "Bodies are JSON (`Content-Type: application/json`)."
	onlyTLS         = "All requests must use TLS; plain HTTP is rejected."
	problemShape    = "All errors use the RFC 7807 problem-details shape with `Content-Type: application/problem+json`."
	problemType     = "| type | string (URI) | A link to a reference for the HTTP status; business-rule errors may carry a service-specific error URI. |"
	problemErrors   = "| errors | object | Map of field name to array of messages; present only on validation 422. |"
	malformed       = "| 400 | Error | `An error occurred.` | Malformed request, e.g. invalid JSON. |"
	notKnown        = "| 401 | Unauthorized | `Authentication required.` | Missing, misspelled, revoked or malformed token. |"
	notAble         = "| 403 | Forbidden | `Invalid ability provided.` | Token lacks the scope, or a platform endpoint is called without super-admin rights. |"
	notValid        = "| 422 | Validation Error | `The given data was invalid.` plus `errors` | Field validation failed (for example a bad e-mail, or a phone longer than 30 characters). |"
	againstTheRules = "| 422 | Unprocessable Entity (one guide shows Business Rule Violation) | rule message, no `errors` | Business rule violated. |"
	unexpected      = "| 500 | - | - | Unexpected server error. |"
	noRetry         = "Retry guidance for clients: no retry on 400, 401, 403, 404 or 422."
	retryLater      = "Retry on 429 after `Retry-After` seconds and on 5xx after a delay."
)

// problems gets one problem of each kind. Repeating it gets the same.
func (v *visit) problems() map[string]answer {
	v.t.Helper()
	return map[string]answer{
		"400":            v.ask("POST", "/customers", "", `{"first_name":`),
		"401":            v.ask("GET", "/customers", "anonymous", ""),
		"403":            v.ask("GET", "/customers", "none", ""),
		"404":            v.ask("GET", "/customers/{missing}", "", ""),
		"405":            v.ask("DELETE", "/customers", "", ""),
		"415":            v.ask("POST", "/customers", "", `{}`, "Content-Type: text/plain"),
		"422 validation": v.ask("POST", "/customers", "", `{"first_name":"A","last_name":"B","phone":"{phone}","email":"invalid"}`),
		"422 rule":       v.ask("POST", "/transactions/{voided}/void", "", ""),
	}
}

// problem is a document as the specification describes it.
type problem struct {
	Type, Title string
	Status      int
	Detail      string
	Errors      map[string][]string
}

// eachProblem checks one document of each kind.
func eachProblem(look func(v *visit, kind string, got answer, p problem)) func(*visit) {
	return func(v *visit) {
		v.t.Helper()
		for kind, got := range v.problems() {
			look(v, kind, got, decode[problem](v.t, got.body))
		}
	}
}

// rules gets a refusal of each business rule.
func (v *visit) rules() map[string]answer {
	v.t.Helper()
	v.fill("{hundred_points}")
	return map[string]answer{
		"already-voided":      v.ask("POST", "/transactions/{voided}/void", "", ""),
		"insufficient-points": v.ask("POST", "/redemptions", "", redeemsDear),
		"out-of-stock":        v.ask("POST", "/redemptions", "", redeemsSoldOut),
		"already-fulfilled":   v.ask("POST", "/redemptions/{fulfilled}/fulfil", "", ""),
		"redemption-voided":   v.ask("POST", "/redemptions/{taken_back}/fulfil", "", ""),
		"voucher-redeemed":    v.ask("POST", "/coupons/{redeemed}/redeem", "", ""),
		"voucher-expired":     v.ask("POST", "/coupons/{expired}/redeem", "", ""),
		"coupon-inactive":     v.ask("POST", "/coupons/{switched_off}/redeem", "", ""),
		"coupon-cap-reached":  v.ask("POST", "/coupons/{too_late}/redeem", "", ""),
	}
}

var errorSentences = []sentence{
	{says: bodiesAreJSON, with: "of requests", story: func(v *visit) {
		v.is(v.ask("POST", "/customers", "", newAnna, "Content-Type: text/plain"), 415, notJSON)
		v.is(v.ask("POST", "/customers", "", newAnna, "Content-Type: application/x-www-form-urlencoded"), 415, notJSON)
		v.is(v.ask("POST", "/customers", "", newAnna, "Content-Type: application/json"), 201, madeAnna)
	}},
	{says: bodiesAreJSON, with: "of answers", method: "GET", path: "/customers/{anna}", status: 200, want: one(annaIs), header: []string{"Content-Type: application/json"}},
	{says: "Errors follow the Errors part.", story: eachProblem(func(v *visit, kind string, got answer, p problem) {
		if got.header.Get("Content-Type") != problemJSON || p.Type == "" || p.Title == "" || p.Status != got.status || p.Detail == "" {
			v.t.Errorf("%s: %s %s", kind, got.header.Get("Content-Type"), got.body)
		}
	})},
	{says: onlyTLS, story: func(v *visit) {
		for _, as := range []string{"", "anonymous", "platform"} {
			for _, endpoint := range []string{"GET /customers", "POST /transactions", "GET /tokens"} {
				method, path, _ := strings.Cut(endpoint, " ")
				got, err := v.call(method, "http"+strings.TrimPrefix(v.in.base, "https")+"/api/v1"+path, v.token(as), "")
				if err != nil {
					v.t.Fatal(err)
				}
				got.is(v.t, 400, problemJSON, badRequest)
				if got.header.Get("Location") != "" {
					v.t.Errorf("%s over plain HTTP redirects to %s", endpoint, got.header.Get("Location"))
				}
			}
		}
	}},

	{says: problemShape, story: eachProblem(func(v *visit, kind string, got answer, _ problem) {
		members := decode[map[string]json.RawMessage](v.t, got.body)
		for _, member := range []string{"type", "title", "status", "detail"} {
			if members[member] == nil {
				v.t.Errorf("%s has no %s: %s", kind, member, got.body)
			}
		}
		if got.header.Get("Content-Type") != problemJSON {
			v.t.Errorf("%s is %s", kind, got.header.Get("Content-Type"))
		}
	})},
	{says: problemType, with: "of the status", story: eachProblem(func(v *visit, kind string, got answer, p problem) {
		if kind != "422 rule" && !strings.HasPrefix(p.Type, "https://www.rfc-editor.org/rfc/rfc9110#section-15.5.") {
			v.t.Errorf("%s: %s", kind, got.body)
		}
	})},
	{says: problemType, with: "of a rule, and there is a page", story: func(v *visit) {
		for code, got := range v.rules() {
			p := decode[problem](v.t, got.body)
			if p.Type != v.in.base+"/problems/"+code {
				v.t.Errorf("%s: %s", code, got.body)
			}
			if page := v.ask("GET", p.Type, "anonymous", ""); page.status != http.StatusOK || !strings.Contains(page.body, p.Detail) {
				v.t.Errorf("%s: %d", p.Type, page.status)
			}
		}
	}},
	{says: "| title | string | Short name of the error class. |", story: eachProblem(func(v *visit, kind string, got answer, p problem) {
		want := map[string]string{
			"400": "Error", "401": "Unauthorized", "403": "Forbidden", "404": "Not Found", "405": "Method Not Allowed", "415": "Unsupported Media Type",
			"422 validation": "Validation Error", "422 rule": "Unprocessable Entity",
		}
		if p.Title != want[kind] {
			v.t.Errorf("%s: %s", kind, got.body)
		}
	})},
	{says: "| status | integer | Same as the HTTP status. |", story: eachProblem(func(v *visit, kind string, got answer, p problem) {
		if p.Status != got.status || !strings.HasPrefix(kind, strconv.Itoa(got.status)) {
			v.t.Errorf("%s: %d %s", kind, got.status, got.body)
		}
	})},
	{says: "| detail | string | Message for this occurrence. |", story: eachProblem(func(v *visit, kind string, got answer, p problem) {
		want := map[string]string{
			"400": "An error occurred.", "401": "Authentication required.", "403": "Invalid ability provided.", "404": "The requested resource was not found.",
			"405": "The method is not allowed for this resource.", "415": "The request body must be JSON.", "422 validation": "The given data was invalid.", "422 rule": alreadyVoided,
		}
		if p.Detail != want[kind] {
			v.t.Errorf("%s: %s", kind, got.body)
		}
	})},
	{says: problemErrors, story: eachProblem(func(v *visit, kind string, got answer, p problem) {
		switch messages := p.Errors["email"]; {
		case kind != "422 validation":
			if strings.Contains(got.body, `"errors"`) {
				v.t.Errorf("%s: %s", kind, got.body)
			}
		case len(p.Errors) != 1 || len(messages) != 1 || messages[0] != "The email field must be a valid email address.":
			v.t.Errorf("%s: %s", kind, got.body)
		}
	})},
	{says: malformed, with: "invalid JSON", method: "POST", path: "/customers", body: `{"first_name":`, status: 400, want: badRequest},
	{says: malformed, with: "no JSON object", method: "POST", path: "/customers", body: `[]`, status: 400, want: badRequest},
	{says: malformed, with: "nothing", method: "POST", path: "/transactions", status: 400, want: badRequest},
	{says: malformed, with: "more than JSON", method: "POST", path: "/redemptions", body: `{}{}`, status: 400, want: badRequest},
	{says: notKnown, with: "missing", method: "GET", path: "/customers", as: "anonymous", status: 401, want: unauthorized, header: []string{"WWW-Authenticate: Bearer"}},
	{says: notKnown, with: "revoked", method: "GET", path: "/customers", as: "revoked", status: 401, want: unauthorized, header: []string{"WWW-Authenticate: Bearer"}},
	{says: notKnown, with: "misspelled or malformed", story: func(v *visit) { v.stops(endpoints[0], "misspelled", "without a bar", "a word") }},
	{says: notAble, with: "lacks the scope", method: "GET", path: "/customers", as: "customers:write", status: 403, want: forbidden, header: []string{"WWW-Authenticate:"}},
	{
		says: notValid, with: "a bad e-mail", method: "POST", path: "/customers", body: `{"first_name":"A","last_name":"B","phone":"{phone}","email":"invalid"}`,
		status: 422, want: invalid(`"email":["The email field must be a valid email address."]`),
	},
	{
		says: notValid, with: "a phone of 31 characters", before: at30, method: "POST", path: "/customers", body: `{"first_name":"A","last_name":"B","phone":"1{phone}"}`,
		status: 422, want: invalid(`"phone":["The phone field must not be greater than 30 characters."]`),
	},
	{says: againstTheRules, method: "POST", path: "/transactions/{voided}/void", status: 422, want: ruled("already-voided", alreadyVoided)},
	{says: unexpected, story: withCoupons("revoke select on loyalty.coupon from loyalty_app", "grant select on loyalty.coupon to loyalty_app", func(v *visit, coupons func() answer) {
		v.is(coupons(), 500, internal)
	})},
	{says: "Business-rule messages (422):", story: func(v *visit) {
		for code, got := range v.rules() {
			v.is(got, 422, ruled(code, "<anything>"))
		}
	}},
	{says: noRetry, with: "the answer stays the same", story: func(v *visit) {
		first := v.problems()
		for kind, again := range v.problems() {
			if again.status != first[kind].status || again.body != first[kind].body {
				v.t.Errorf("%s: %d %s, then %d %s", kind, first[kind].status, first[kind].body, again.status, again.body)
			}
		}
	}},
	{says: retryLater, with: "5xx", story: withCoupons("alter table loyalty.coupon rename to elsewhere", "alter table loyalty.elsewhere rename to coupon", func(v *visit, coupons func() answer) {
		if got := coupons(); !got.isUnavailable() {
			v.t.Errorf("%d %v %s", got.status, got.header, got.body)
		}
	})},
}

// withCoupons runs a story between two statements of the database's owner, which break the coupons
// and repair them. No other case uses coupons in this scene.
func withCoupons(broken, mended string, meanwhile func(v *visit, coupons func() answer)) func(*visit) {
	return func(v *visit) {
		v.t.Helper()
		v.limited.mending.Lock()
		defer v.limited.mending.Unlock()
		limited := v.limited.visit(v.t)
		coupons := func() answer { return limited.ask("GET", "/coupons", "coupons:read", "") }
		d := connect(v.t, v.limited.database)
		d.exec(broken)
		meanwhile(limited, coupons)
		d.exec(mended)
		limited.is(coupons(), 200, "<anything>")
	}
}
