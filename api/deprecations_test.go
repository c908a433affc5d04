package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/api"
	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/deprecation"
	"example.com/loyalty/core/limit"
)

const (
	deprecates = "Deprecations are data, entered in the platform panel: method and path pattern, sunset date at least 90 days ahead, link."
	announces  = "From then on matching answers carry `Deprecation: true`, `Sunset: <HTTP-date>` and `Link: <…>; rel=\"deprecation\"`, " +
		"and the owner address of every tenant with an active token gets one e-mail."
	tellsOfEnd = "Deprecation: affected responses carry the header `Deprecation: true` and a `Sunset` header with an HTTP-date of retirement. " +
		"An e-mail goes to the owner address of tenants with active tokens. The notice period is at least 90 days before removal."
)

// deprecate deprecates a request, with 1 May of the year after next as its sunset.
func (s *shop) deprecate(method, path string) (sunset string) {
	s.T.Helper()
	admin := core.Actor{Kind: core.ByAdmin, ID: "1", Name: "Root", Role: core.SuperAdmin}
	end := time.Date(s.db.Now().Year()+2, 5, 1, 0, 0, 0, 0, time.UTC)
	s.must(core.Result(s.deprecations.Add(s.T.Context(), admin, deprecation.New{
		Method: method, Path: path, Sunset: &end, Link: "https://" + domain + "/docs/changelog",
	}, nil)))
	return end.Format(http.TimeFormat)
}

const changelog = `<https://` + domain + `/docs/changelog>; rel="deprecation", <https://` + domain + `/docs/versioning>; rel="sunset"`

// All responses of deprecated requests have the headers, and no others.
func TestDeprecatedRequests(t *testing.T) {
	t.Parallel()
	proves(t, deprecates, announces, tellsOfEnd, "| Deprecation notice | at least 90 days |")
	s := shopAt(t, newServer(t, dbtest.OwnDB(t), nil))
	s.fill("{anna}{bo}{sale}")
	plain := s.call("GET", "/api/v1/customers?per_page=1", s.token, "")
	var sunset string
	for _, request := range []string{"GET /api/v1/customers", "POST /api/v1/transactions/{ulid}/void", "DELETE /api/v1/tokens/{id}"} {
		method, path, _ := strings.Cut(request, " ")
		sunset = s.deprecate(method, path)
	}
	reader := s.makeToken().Secret
	for _, request := range []struct {
		method, path, token string
		status              int
		told                bool
	}{
		{"GET", "/customers", s.token, 200, true},
		{"GET", "/customers?per_page=0", s.token, 422, true},
		{"GET", "/customers?a=%zz", s.token, 400, true},
		{"GET", "/customers", "", 401, true},
		{"GET", "/customers", reader, 403, true},
		{"POST", "/transactions/{missing}/void", s.token, 404, true},
		{"POST", "/transactions/x/void", s.token, 404, true},
		{"POST", "/transactions/{sale}/void", s.token, 200, true},
		{"POST", "/transactions/{sale}/void", s.token, 422, true},
		{"DELETE", "/tokens/{spare_token}", s.token, 204, true},
		{"POST", "/customers", s.token, 400, false},
		{"GET", "/customers/{anna}", s.token, 200, false},
		{"GET", "/customers/{anna}/transactions", s.token, 200, false},
		{"GET", "/transactions/{sale}", s.token, 200, false},
		{"GET", "/tokens", s.token, 200, false},
		{"PUT", "/customers", s.token, 405, false},
		{"HEAD", "/customers", s.token, 200, true},
		{"GET", "/customer", s.token, 404, false},
	} {
		got := s.call(request.method, "/api/v1"+request.path, request.token, "")
		if got.status != request.status {
			t.Errorf("%s %s: %d, want %d", request.method, request.path, got.status, request.status)
		}
		want := map[string]string{}
		if request.told {
			want = map[string]string{"Deprecation": "true", "Sunset": sunset, "Link": changelog}
		}
		for _, name := range []string{"Deprecation", "Sunset"} {
			if have := got.header.Get(name); have != want[name] {
				t.Errorf("%s %s, %d: %s is %q, want %q", request.method, request.path, got.status, name, have, want[name])
			}
		}
		if strings.Contains(got.header.Get("Link"), changelog) != request.told {
			t.Errorf("%s %s, %d: Link is %q", request.method, request.path, got.status, got.header.Values("Link"))
		}
	}
	// The links of a page stay.
	page := s.call("GET", "/api/v1/customers?per_page=1", s.token, "")
	if links := page.header.Values("Link"); !slices.Equal(links, []string{plain.header.Get("Link") + ", " + changelog}) {
		t.Errorf("the links of a page are %q, were %q", links, plain.header.Values("Link"))
	}
	if page.body != plain.body {
		t.Errorf("the body is %s, was %s", page.body, plain.body)
	}
}

func TestLimitedRequestsAreDeprecatedToo(t *testing.T) {
	t.Parallel()
	proves(t, announces)
	s := shopAt(t, newServer(t, dbtest.OwnDB(t), func(c *api.Config) { c.PerToken = limit.NewWindow(1, time.Minute, time.Now) }))
	sunset := s.deprecate("GET", "/api/v1/tokens")
	s.call("GET", "/api/v1/customers", s.token, "")
	got := s.call("GET", "/api/v1/tokens", s.token, "")
	got.is(t, 429, tooMany)
	if got.header.Get("Deprecation") != "true" || got.header.Get("Sunset") != sunset {
		t.Errorf("headers %v", got.header)
	}
	if other := s.call("GET", "/api/v1/customers", s.token, ""); other.status != 429 || other.header.Get("Deprecation") != "" {
		t.Errorf("another: %d %v", other.status, other.header)
	}
}

func TestSunsetExample(t *testing.T) {
	t.Parallel()
	proves(t, deprecates)
	example, _ := described().Components.Headers["Sunset"].Value.Example.(string)
	at, err := time.Parse(http.TimeFormat, example)
	if err != nil || at.Format(http.TimeFormat) != example || !at.Equal(at.Truncate(24*time.Hour)) {
		t.Errorf("no example of Sunset: %s, %v", example, err)
	}
}
