package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/sandbox"
)

// scene is the product serving with a sandbox in it.
type scene struct {
	*server
	file     sandbox.File
	database string // its owner's login
	visits   atomic.Int64
	limits   limits
	mending  sync.Mutex // of coupons
}

func newScene(t *testing.T, settings ...string) *scene {
	t.Helper()
	url := dbtest.OwnURL(t)
	in := newInstallationOn(t, url, append([]string{"LOYALTY_SANDBOX=1"}, settings...)...)
	s := &scene{server: in.serve(), file: in.sandbox(t), database: url}
	in.hidden = append(in.hidden, s.file.Platform.Token)
	for _, tenant := range s.file.Tenants {
		for _, token := range tenant.Tokens {
			in.hidden = append(in.hidden, token)
		}
	}
	return s
}

// visit is a client at the scene that tries one case, with the second business. (The first one's token has used up its
// requests.)
type visit struct {
	*scene
	t      *testing.T
	number int64
	shop   sandbox.Tenant
	named  map[string]string
}

func (s *scene) visit(t *testing.T) *visit {
	return &visit{scene: s, t: t, number: s.visits.Add(1), shop: s.file.Tenants[1], named: map[string]string{}}
}

// token is the one that a case asks for: by its name in the sandbox's file.
func (v *visit) token(as string) string {
	v.t.Helper()
	switch as {
	case "":
		return v.shop.Tokens["all"]
	case "anonymous":
		return ""
	case "platform":
		return v.file.Platform.Token
	}
	token, known := v.shop.Tokens[as]
	if !known {
		v.t.Fatalf("the file has no token %s", as)
	}
	return token
}

// ask makes a request; the names in path and body are filled in.
func (v *visit) ask(method, path, as, body string, headers ...string) answer {
	v.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = "/api/v1" + path
	}
	got, err := v.call(method, v.fill(path), v.token(as), v.fill(body), headers...)
	if err != nil {
		v.t.Fatalf("%s %s: %v", method, path, err)
	}
	return got
}

// with makes a request with a token that isn't in the file.
func (v *visit) with(token, method, path, body string) answer {
	v.t.Helper()
	return v.ask(method, path, "anonymous", body, "Authorization: Bearer "+token)
}

var blank = regexp.MustCompile(`\{[a-z_]+\}`)

// fill replaces the names of records in a text by their ids, and makes customers.
func (v *visit) fill(text string) string {
	v.t.Helper()
	return blank.ReplaceAllStringFunc(text, func(name string) string {
		if v.named[name] == "" {
			v.named[name] = v.make(name)
		}
		return v.named[name]
	})
}

func (v *visit) make(name string) string {
	v.t.Helper()
	switch name {
	case "{base}":
		return v.in.base
	case "{missing}": // no record's id
		random := make([]byte, 8)
		rand.Read(random)
		return "01JZZZZZZZ" + strings.ToUpper(hex.EncodeToString(random))
	case "{anna}":
		return v.made("/customers", fmt.Sprintf(`{"first_name":"Anna","last_name":"Lindqvist","phone":"0046-70-%07d"}`, v.number))
	case "{bo}":
		return v.made("/customers", fmt.Sprintf(`{"first_name":"Bo","last_name":"Ek","phone":"0046-73-%07d"}`, v.number))
	case "{points}":
		return strconv.FormatInt(v.shop.TransactionTypeID, 10)
	case "{stamps}":
		return strconv.FormatInt(v.shop.StampsTransactionTypeID, 10)
	case "{in_stock}":
		return v.shop.Rewards.InStock.ULID.String()
	case "{voucher}":
		return v.shop.Vouchers.Pending[0].ULID.String()
	}
	v.t.Fatalf("nothing is called %s", name)
	return ""
}

// made makes a record, or changes one, and returns its id.
func (v *visit) made(path, body string) string {
	v.t.Helper()
	got := v.ask("POST", path, "", body)
	if got.status >= http.StatusBadRequest {
		v.t.Fatalf("POST %s: %d %s", path, got.status, got.body)
	}
	return decode[single[saleRecord]](v.t, got.body).Data.ULID
}

// Kinds of values that a case cannot know.
var kinds = strings.NewReplacer(
	"<ulid>", `[0-7][0-9A-HJKMNP-TV-Z]{25}`,
	"<time>", `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`,
	"<anything>", `.*`,
)

func matches(text, pattern string) bool {
	return regexp.MustCompile(`(?s)\A` + kinds.Replace(regexp.QuoteMeta(pattern)) + `\z`).MatchString(text)
}

// is checks status, content type and body, and what every answer carries.
func (v *visit) is(got answer, status int, body string) {
	v.t.Helper()
	if want := v.fill(body); got.status != status || !matches(strings.TrimSuffix(got.body, "\n"), strings.TrimSuffix(want, "\n")) {
		v.t.Errorf("%d %s want %d %s", got.status, got.body, status, want)
	}
	contentType := "application/json"
	if status >= http.StatusBadRequest {
		contentType = problemJSON
	}
	if have := got.header.Get("Content-Type"); have != contentType {
		v.t.Errorf("content type %q, want %q", have, contentType)
	}
	got.carries(v.t, aYear)
}
