package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
)

const (
	listsAre = "List: cursor pagination, constant cost at any depth: `{\"data\": […], \"links\": {\"first\": null, \"last\": null, \"prev\": url|null, \"next\": url|null}, " +
		"\"meta\": {\"path\": url, \"per_page\": 15, \"next_cursor\": string|null, \"prev_cursor\": string|null}}`, plus an RFC 8288 `Link` header with `next`/`prev`."
	perPage  = "`per_page`: default 15, above 1,000 is treated as 1,000 (`meta.per_page` says so); not an integer or below 1 is 422."
	cursorIs = "`cursor` is opaque, holds position and direction only; one that does not parse is 422."
)

// page is a page of a list.
type page struct {
	Data []struct {
		ULID string `json:"ulid"`
		ID   int64  `json:"id"`
	} `json:"data"`
	Links struct{ First, Last, Prev, Next *string } `json:"links"`
	Meta  struct {
		Path       string  `json:"path"`
		PerPage    int     `json:"per_page"`
		NextCursor *string `json:"next_cursor"`
		PrevCursor *string `json:"prev_cursor"`
	} `json:"meta"`
}

func (a answer) page(t testing.TB) (p page) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.status != 200 {
		t.Fatalf("status %d, no page: %s", a.status, a.body)
	}
	return p
}

// records are the ids on a page.
func (p page) records() (ids []string) {
	for _, r := range p.Data {
		ids = append(ids, r.ULID+strconv.FormatInt(r.ID, 10))
	}
	return ids
}

func TestPageSizes(t *testing.T) {
	must := func(what string) string { return invalid(`"per_page":["The per page field must be ` + what + `."]`) }
	var table []scenario
	for query, want := range map[string]string{
		"per_page=0": must("at least 1"), "per_page=-1": must("at least 1"), "per_page=-99999999999999999999": must("at least 1"),
		"per_page=abc": must("an integer"), "per_page=1.5": must("an integer"), "per_page=1e1": must("an integer"), "per_page=%2B5": must("an integer"), "per_page=%2B99999999999999999999": must("an integer"),
		"per_page=0x10": must("an integer"), "per_page=%2010": must("an integer"), "per_page=1_0": must("an integer"), "per_page=%00": must("an integer"),
		"per_page=null": must("an integer"), "per_page=٣": must("an integer"),
	} {
		for _, path := range []string{"/customers", "/tokens", "/customers/{anna}/transactions"} {
			table = append(table, scenario{says: perPage, with: query + path, method: "GET", path: path + "?" + query, status: 422, want: want})
		}
	}
	for query, size := range map[string]string{
		"": "15", "per_page=": "15", "per_page=1": "1", "per_page=1000": "1000", "per_page=1001": "1000", "per_page=99999999999999999999": "1000",
	} {
		for _, path := range []string{"/customers", "/customers/{bo}/transactions"} {
			want := strings.Replace(only(path), `"per_page":15`, `"per_page":`+size, 1)
			if path == "/customers" {
				want = strings.Replace(want, `[]`, `[`+boIs+`]`, 1)
			}
			table = append(table, scenario{says: perPage, with: query + path, method: "GET", path: path + "?" + query, before: func(s *shop) { s.fill("{bo}") }, status: 200, want: want})
		}
	}
	position := func(size int, fill byte) string {
		return base64.RawURLEncoding.EncodeToString(append([]byte{0}, []byte(strings.Repeat(string(fill), size-1))...))
	}
	good := position(25, 0)
	for _, garbage := range []string{
		"x", "null", "0", "=", "%00", good[:33], good + "A", position(24, 1), position(26, 1), position(25, 0xff), position(25, 0x7f),
		"Ag" + good[2:], good[:33] + "B", strings.Repeat("A", 5000), base64.StdEncoding.EncodeToString([]byte("{}")), good + "%3D",
	} {
		for _, path := range []string{"/customers", "/tokens", "/customers/{anna}/transactions"} {
			table = append(table, scenario{
				says: cursorIs, with: path + " " + garbage[:min(len(garbage), 40)], method: "GET", path: path + "?cursor=" + garbage,
				status: 422, want: invalid(`"cursor":["The selected cursor is invalid."]`),
			})
		}
	}
	runScenarios(t, table)
}

// walks are the lists that there are, and what adds a record to each.
var walks = map[string]func(s *shop, i int){
	"/customers": func(s *shop, i int) {
		s.customer(customer.New{FirstName: "N", LastName: strconv.Itoa(i), Phone: "07017" + strconv.Itoa(10000+i)})
	},
	"/customers?search=n&status=active": func(s *shop, i int) {
		s.customer(customer.New{FirstName: "N", LastName: strconv.Itoa(i), Phone: "07017" + strconv.Itoa(10000+i)})
	},
	"/tokens":                         func(s *shop, _ int) { s.makeToken() },
	"/customers/{anna}/transactions":  func(s *shop, i int) { s.sale("{anna}", "{points}", int64(i)) },
	"/platform/tenants":               func(s *shop, i int) { s.addTenant(i) },
	"/platform/invoices?status=draft": func(s *shop, _ int) { s.bill() },
}

// Pages read forward and then back are the same, while records are added meanwhile
// and half of them were made in one instant.
func TestPagesForwardAndBack(t *testing.T) {
	t.Parallel()
	proves(t, listsAre, "Lists are newest first; the ULID (or integer id) breaks ties; filters survive in `links`.", cursorIs)
	for path, add := range walks {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			const count, size = 23, 5
			const inOneInstant = "created_at = '2026-05-01T10:00:00Z'"
			const half = "mod(extract(milliseconds from created_at at time zone 'UTC')::bigint, 2) = 0"
			s := newShop(t)
			if strings.HasPrefix(path, "/platform") {
				platform, admin := newPlatform(t)
				s, platform.token = platform, admin
			}
			s.T, s.Run = t, t
			for i := range count {
				add(s, i)
			}
			for _, table := range []string{"customer", "token", "invoice"} {
				s.change(table, inOneInstant, half)
			}
			if path == "/platform/tenants" {
				s.must(dbtest.Owner(s.db).Exec(t.Context(), "update loyalty.tenant set "+inOneInstant+" where "+half))
			}
			first := "/api/v1" + s.fill(path)
			join := "?"
			if strings.Contains(first, "?") {
				join = "&"
			}
			whole := s.call("GET", first+join+"per_page=100", s.token, "").page(t)
			if whole.Links.Next != nil || whole.Links.Prev != nil || len(whole.Data) < count {
				t.Fatalf("the whole list: %d records, links %+v", len(whole.Data), whole.Links)
			}
			var forward [][]string
			at := first + join + "per_page=" + strconv.Itoa(size)
			var last page
			for steps := 0; at != "" && steps < 20; steps++ {
				got := s.call("GET", at, s.token, "")
				last = got.page(t)
				s.links(t, got, last)
				forward = append(forward, last.records())
				at = follow(last.Links.Next)
				add(s, count+steps) // newer than every page from here
			}
			if read := slices.Concat(forward...); !slices.Equal(read, whole.records()) {
				t.Errorf("read forward\n%v, want\n%v", read, whole.records())
			}
			var back [][]string
			for at = follow(last.Links.Prev); at != "" && len(back) < 20; {
				got := s.call("GET", at, s.token, "")
				last = got.page(t)
				s.links(t, got, last)
				back = append(back, last.records())
				at = follow(last.Links.Prev)
			}
			// What was added meanwhile lies before the page that was the first.
			slices.Reverse(back)
			added := len(forward)
			newer := len(slices.Concat(back...)) - len(whole.Data) + len(forward[added-1])
			if earlier := len(back) - (added - 1); newer != added || !slices.EqualFunc(back[earlier:], forward[:added-1], slices.Equal) {
				t.Errorf("read back\n%v, %d of them new; read forward\n%v, then %d were added", back, newer, forward, added)
			}
			// The end of the way back knows the way on.
			if next := s.call("GET", follow(last.Links.Next), s.token, "").page(t); !slices.Equal(next.records(), back[1]) {
				t.Errorf("after the first page: %v, want %v", next.records(), back[1])
			}
		})
	}
}

func follow(link *string) string {
	if link == nil {
		return ""
	}
	return strings.TrimPrefix(*link, "https://"+domain)
}

var linkHeader = regexp.MustCompile(`^<([^<>]+)>; rel="(prev|next)"$`)

// links checks that the links of a page, its cursors and the Link header agree.
func (s *shop) links(t *testing.T, got answer, p page) {
	t.Helper()
	named := map[string]string{}
	// One line, with the next page first.
	var rels string
	for link := range strings.SplitSeq(got.header.Get("Link"), ", ") {
		if link == "" {
			continue
		}
		parts := linkHeader.FindStringSubmatch(link)
		if parts == nil {
			t.Fatalf("Link: %s", link)
		}
		named[parts[2]] = parts[1]
		rels += parts[2]
	}
	if !slices.Contains([]string{"", "next", "prev", "nextprev"}, rels) || len(got.header.Values("Link")) > 1 {
		t.Fatalf("Link: %q", got.header.Values("Link"))
	}
	for rel, link := range map[string]*string{"prev": p.Links.Prev, "next": p.Links.Next} {
		cursor := map[string]*string{"prev": p.Meta.PrevCursor, "next": p.Meta.NextCursor}[rel]
		if (link == nil) != (cursor == nil) || (link != nil && named[rel] != *link) || (link == nil && named[rel] != "") {
			t.Fatalf("%s: link %v, cursor %v, header %q", rel, link, cursor, named[rel])
		}
		if link == nil {
			continue
		}
		u, err := url.Parse(*link)
		if err != nil || u.Query().Get("cursor") != *cursor || "https://"+domain+u.Path != p.Meta.Path || u.Query().Get("per_page") == "" {
			t.Errorf("%s: %s, %v; cursor %s, path %s", rel, *link, err, *cursor, p.Meta.Path)
		}
	}
	if !strings.Contains(got.body, `"links":{"first":null,"last":null,"prev":`) {
		t.Errorf("links: %s", got.body)
	}
}

// The tenant's host, and any port, stay in the links.
func TestLinksKeepTheHost(t *testing.T) {
	t.Parallel()
	proves(t, "URLs in answers keep the host that was called")
	s := newShop(t)
	s.fill("{anna}{bo}")
	for _, called := range []string{s.By.Tenant.Slug + "." + domain, domain + ":8443"} {
		got := s.call("GET", "/api/v1/customers?per_page=1", s.token, "", "Host: "+called).page(t)
		if got.Meta.Path != "https://"+called+"/api/v1/customers" || !strings.HasPrefix(*got.Links.Next, got.Meta.Path+"?cursor=") {
			t.Errorf("on %s: %s, %s", called, got.Meta.Path, *got.Links.Next)
		}
	}
}

// "The API takes any Host and echoes it in links: only hosts of the base URL." Others get a 404
// that doesn't repeat them, for any caller and any request.
func TestOtherHosts(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.fill("{anna}{bo}")
	for _, other := range []string{"evil.example", domain + ".evil.example", "127.0.0.1:443", "evil" + domain} {
		for _, path := range []string{"/api/v1/customers?per_page=1", "/api/v1/openapi.json", "/api/v1/nope"} {
			for _, token := range []string{s.token, ""} {
				w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
				r.Host = other
				r.Header.Set("Authorization", "Bearer "+token)
				s.handler().ServeHTTP(w, r)
				if h := w.Header(); w.Code != 404 || strings.Contains(w.Body.String(), "evil") || h.Get("Content-Type") != "application/problem+json" || h.Get("Link") != "" {
					t.Errorf("%s on %s: %d %s", path, other, w.Code, w.Body)
				}
			}
		}
	}
}

// "JSON answers carry a Content-Security-Policy of default-src 'none'": records, problems and
// the description.
func TestResponsesHaveAPolicy(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for path, status := range map[string]int{"/api/v1/rewards": 200, "/api/v1/nope": 404, "/api/v1/openapi.json": 200, "/api/v1/platform/tenants": 403} {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", "https://"+domain+path, nil)
		r.Header.Set("Authorization", "Bearer "+s.token)
		s.handler().ServeHTTP(w, r)
		if policy := w.Header().Get("Content-Security-Policy"); w.Code != status || policy != "default-src 'none'; frame-ancestors 'none'" {
			t.Errorf("%s: %d with the policy %q", path, w.Code, policy)
		}
	}
}

// A cursor that a client made up names a place, even where nothing is.
func TestInventedCursors(t *testing.T) {
	t.Parallel()
	proves(t, cursorIs)
	s := newShop(t)
	s.fill("{sale}")
	for _, path := range []string{"/customers", "/tokens", "/customers/{anna}/transactions", "/customers?search=a"} {
		for _, bytes := range []string{"\x00" + strings.Repeat("\x00", 24), "\x01" + strings.Repeat("\x00", 24), "\x00" + "\x00\x00\xe6\x77\xcc\xf9\x80\x00" + strings.Repeat("\xff", 16), "\x01" + "\x00\x00\xe6\x77\xcc\xf9\x80\x00" + strings.Repeat("\xff", 16)} {
			join := "?"
			if strings.Contains(path, "?") {
				join = "&"
			}
			cursor := base64.RawURLEncoding.EncodeToString([]byte(bytes))
			got := s.call("GET", "/api/v1"+path+join+"cursor="+cursor, s.token, "").page(t)
			s.links(t, s.call("GET", "/api/v1"+path+join+"per_page=3&cursor="+cursor, s.token, ""), s.call("GET", "/api/v1"+path+join+"per_page=3&cursor="+cursor, s.token, "").page(t))
			if len(got.Data) > 1 {
				t.Errorf("%s at %x: %v", path, bytes, got.records())
			}
		}
	}
}
