package main

import (
	"net/http"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/shoptest"
)

const (
	deprecates    = "Deprecation: affected responses carry the header `Deprecation: true` and a `Sunset` header with an HTTP-date of retirement."
	ownersTold    = "An e-mail goes to the owner address of tenants with active tokens."
	noticePeriod  = "The notice period is at least 90 days before removal."
	noticeAtLeast = "| Deprecation notice | at least 90 days |"
)

// deprecate deprecates a request as a super-admin, with this many days of notice.
func (s *scene) deprecate(t *testing.T, method, path string, days int) error {
	t.Helper()
	d, err := db.Open(t.Context(), s.database, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	admin := core.Actor{Kind: core.ByAdmin, ID: "1", Name: "Root", Role: core.SuperAdmin}
	sunset, link := time.Now().AddDate(0, 0, days), s.in.base+"/docs/changelog"
	_, err = core.Result(shoptest.Of(t, d, admin).Deprecations.
		Add(t.Context(), admin, deprecation.New{Method: method, Path: path, Sunset: &sunset, Link: link}, nil))
	return err
}

// deprecated calls GET /rewards, which is deprecated.
func deprecated(as string, check func(v *visit, got answer)) func(*visit) {
	return func(v *visit) {
		v.t.Helper()
		check(v, v.ask("GET", "/rewards?per_page=1", as, ""))
	}
}

// announced checks the headers, and returns the sunset.
func (v *visit) announced(got answer) time.Time {
	v.t.Helper()
	sunset, err := time.Parse(http.TimeFormat, got.header.Get("Sunset"))
	if err != nil || got.header.Get("Deprecation") != "true" {
		v.t.Errorf("%v %v", err, got.header)
	}
	return sunset
}

var deprecationSentences = []sentence{
	{says: deprecates, story: deprecated("rewards:read", func(v *visit, got answer) {
		v.is(got, 200, "<anything>")
		v.announced(got)
	})},
	{says: deprecates, with: "a refusal", story: deprecated("none", func(v *visit, got answer) {
		v.is(got, 403, forbidden)
		v.announced(got)
	})},
	{says: deprecates, with: "another response", story: func(v *visit) {
		if got := v.ask("GET", "/tokens", "rewards:read", ""); got.header.Get("Deprecation") != "" || got.header.Get("Sunset") != "" {
			v.t.Errorf("%v", got.header)
		}
	}},
	{says: ownersTold, story: func(v *visit) {
		d := connect(v.t, v.database)
		for _, tenant := range v.file.Tenants {
			await(v.t, "the owner is mailed", func() bool {
				return ask[int](d, "select count(*) from loyalty.mail where recipient = $1 and text like '%GET /api/v1/rewards%'", "owner@"+tenant.Slug+".example") == 1
			})
		}
	}},
	{says: noticePeriod, story: deprecated("rewards:read", func(v *visit, got answer) {
		if left := time.Until(v.announced(got)); left < 90*24*time.Hour {
			v.t.Errorf("it ends in %v", left)
		}
	})},
	{says: noticeAtLeast, with: "a shorter one is refused", story: func(v *visit) {
		if err := v.deprecate(v.t, "GET", "/api/v1/tokens", 89); !core.IsKind(err, core.KindInvalid) {
			v.t.Errorf("89 days: %v", err)
		}
	}},
}
