package docs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/docs"
)

func TestSource(t *testing.T) {
	t.Parallel()
	for passage, want := range map[string]string{
		"All requests must use TLS; plain HTTP is rejected.":           "specification",
		"All requests  must use\nTLS; plain HTTP is\trejected.":        "specification",
		"A platform token on a tenant endpoint: 403.":                  "decisions",
		"a request is taken only from `LOYALTY_TRUSTED_PROXIES`":       "decisions", // across a line break
		"All requests must use TLS; plain HTTP is redirected to HTTPS": "",
	} {
		if got := docs.Source(passage); got != want {
			t.Errorf("%q is from %q, want %q", passage, got, want)
		}
	}
}

// Sentences, rows and list items, without headings and header rows.
func TestSentences(t *testing.T) {
	t.Parallel()
	events := []string{
		"The service sends no events to integrators: there is no webhook or push delivery, and clients poll.",
		"Webhook delivery is listed only as an uncommitted future possibility.",
		"Coupon sends produce e-mails to customers through the admin UI; these are not API events.",
	}
	if diff := cmp.Diff(events, docs.Sentences("specification", "## 6.")); diff != "" {
		t.Errorf("of the events (-want +got):\n%s", diff)
	}
	fields := docs.Sentences("specification", "## 2.")
	if fields[0] != "| ulid | string (ULID) | Permanent identifier. |" || slices.Contains(fields, "### Customer") {
		t.Errorf("the fields begin with %q", fields[0])
	}
	for _, want := range []string{
		"The rule that turns spend into points is part of the transaction type and is not exposed.",
		"- Invoice and full tenant record fields: not shown.",
	} {
		if !slices.Contains(fields, want) {
			t.Errorf("no sentence is %q", want)
		}
	}
	if first := docs.Sentences("specification", "## 5.")[0]; first != "1. Every tenant-scoped request carries a personal access token in the header `Authorization: Bearer <ACCESS_TOKEN>`." {
		t.Errorf("the first about authentication is %q", first)
	}
	if !slices.Contains(docs.Sentences("specification", "## 7."), "Retry guidance for clients: no retry on 400, 401, 403, 404 or 422.") {
		t.Error("a number at its end does not end a sentence")
	}
	// A document with line breaks in sentences.
	if !slices.ContainsFunc(docs.Sentences("decisions", "## 10."), func(s string) bool {
		return strings.HasPrefix(s, "From then on matching answers carry") && strings.HasSuffix(s, "gets one e-mail.")
	}) {
		t.Errorf("of the deprecations: %q", docs.Sentences("decisions", "## 10."))
	}
}

func TestUnquoted(t *testing.T) {
	t.Parallel()
	sentences := []string{"Every answer has an id.", "| 429 | Too Many Requests |", "It is a ULID."}
	for _, c := range []struct {
		quotations []string
		want       []string
	}{
		{nil, []string{"Every answer has an id. | 429 | Too Many Requests | It is a ULID."}},
		{[]string{"| 429 | Too Many\nRequests |"}, []string{"Every answer has an id.", "It is a ULID."}},
		{[]string{"Every answer has an id. | 429 |", "an id"}, []string{"Too Many Requests | It is a ULID."}},
		{[]string{"Every answer has", "an id", "Too Many Requests", "It is a ULID", ""}, nil}, // punctuation and numbers are not words
		{[]string{"another document"}, []string{"Every answer has an id. | 429 | Too Many Requests | It is a ULID."}},
	} {
		quotations := map[string]bool{}
		for _, q := range c.quotations {
			quotations[q] = true
		}
		if diff := cmp.Diff(c.want, docs.Unquoted(sentences, quotations)); diff != "" {
			t.Errorf("without %q (-want +got):\n%s", c.quotations, diff)
		}
	}
}
