package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
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
	shops    [2]*business
	spare    chan *business // for those who want one to themselves
	visits   atomic.Int64

	limited *scene // another, with the limits of the specification
	limits  limits // of that one
	mending sync.Mutex
}

// business is a tenant of the sandbox. What can be used once only is handed out.
type business struct {
	sandbox.Tenant
	pending chan sandbox.Voucher
	last    chan sandbox.Reward // with a stock of one
}

func newScene(t *testing.T, settings ...string) *scene {
	t.Helper()
	url := dbtest.OwnURL(t)
	in := newInstallationOn(t, url, append([]string{"LOYALTY_SANDBOX=1"}, settings...)...)
	s := &scene{server: in.serve(), file: in.sandbox(t), database: url, spare: make(chan *business, 100)}
	in.hidden = append(in.hidden, s.file.Platform.Token)
	for i, tenant := range s.file.Tenants {
		s.shops[i] = s.opened(tenant)
	}
	return s
}

// enlarge makes spare tenants, two at a time.
func (s *scene) enlarge(t *testing.T) {
	t.Helper()
	for _, tenant := range s.in.sandbox(t).Tenants {
		s.spare <- s.opened(tenant)
	}
}

func (s *scene) opened(tenant sandbox.Tenant) *business {
	shop := &business{Tenant: tenant, pending: make(chan sandbox.Voucher, 100), last: make(chan sandbox.Reward, 100)}
	for _, v := range append(slices.Clip(tenant.Vouchers.Pending), tenant.Race.Vouchers[1:]...) { // the first one is raced for
		shop.pending <- v
	}
	for _, r := range tenant.Rewards.LastOne {
		shop.last <- r
	}
	for _, token := range tenant.Tokens {
		s.in.hidden = append(s.in.hidden, token)
	}
	return shop
}

// visit is a client at the scene that tries one case. Its records are made, through
// the API, when a case first names them: fill("{anna}").
type visit struct {
	*scene
	t      *testing.T
	number int64
	shop   *business
	named  map[string]string
	other  *visit // in the other tenant
}

func (s *scene) visit(t *testing.T) *visit {
	v := &visit{scene: s, t: t, number: s.visits.Add(1), shop: s.shops[0], named: map[string]string{}}
	v.other = &visit{scene: s, t: t, number: s.visits.Add(1), shop: s.shops[1], named: map[string]string{}, other: v}
	return v
}

// quiet is a visit to a tenant without other visits.
func (v *visit) quiet() *visit {
	v.t.Helper()
	return &visit{scene: v.scene, t: v.t, number: v.visits.Add(1), shop: handedOut(v.t, v.spare), named: map[string]string{}}
}

// token is the one that a case asks for: by its name in the sandbox's file.
func (v *visit) token(as string) string {
	v.t.Helper()
	switch as {
	case "":
		return v.shop.Tokens["all"]
	case "anonymous":
		return ""
	case "revoked":
		return v.shop.RevokedToken
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

var blank = regexp.MustCompile(`\{[a-z_]+\}`)

// fill replaces the names of records in a text by their ids, and makes the records.
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
	if theirs, foreign := strings.CutPrefix(name, "{other_"); foreign {
		return v.other.fill("{" + theirs)
	}
	switch name {
	case "{base}":
		return v.in.base
	case "{missing}": // no record's id
		random := make([]byte, 8)
		rand.Read(random)
		return "01JZZZZZZZ" + strings.ToUpper(hex.EncodeToString(random))
	case "{phone}", "{bos_phone}":
		return fmt.Sprintf("0046-70-%07d-%d", v.number, len(name))
	case "{email}":
		return fmt.Sprintf("anna.%d@example.com", v.number)
	case "{anna}":
		return v.made("/customers", `{"first_name":"Anna","last_name":"Lindqvist","phone":"{phone}","email":"{email}"}`)
	case "{bo}":
		return v.made("/customers", `{"first_name":"Bo","last_name":"Ek","phone":"{bos_phone}"}`)
	case "{points}":
		return strconv.FormatInt(v.shop.TransactionTypeID, 10)
	case "{stamps}":
		return strconv.FormatInt(v.shop.StampsTransactionTypeID, 10)
	case "{sale}":
		return v.made("/transactions", `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":1250}`)
	case "{stamp_sale}":
		return v.made("/transactions", `{"customer_ulid":"{anna}","transaction_type_id":{stamps},"spend_amount_cents":300}`)
	case "{voided}":
		return v.made("/transactions/"+v.made("/transactions", `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":700}`)+"/void", "")
	case "{hundred_points}":
		return v.made("/transactions", `{"customer_ulid":"{anna}","transaction_type_id":{points},"spend_amount_cents":10000}`)
	case "{in_stock}":
		return v.shop.Rewards.InStock.ULID.String()
	case "{sold_out}":
		return v.shop.Rewards.OutOfStock.ULID.String()
	case "{too_dear}":
		return v.shop.Rewards.TooDear.ULID.String()
	case "{withdrawn}":
		return v.shop.Rewards.Inactive.ULID.String()
	case "{last_one}":
		return handedOut(v.t, v.shop.last).ULID.String()
	case "{redemption}", "{fulfilled}":
		v.fill("{hundred_points}")
		made := v.made("/redemptions", `{"customer_ulid":"{anna}","reward_ulid":"{in_stock}"}`)
		if name == "{fulfilled}" {
			v.made("/redemptions/"+made+"/fulfil", "")
		}
		return made
	case "{taken_back}":
		return v.shop.VoidedRedemption.String()
	case "{coupon}":
		return v.shop.Coupon.String()
	case "{voucher}", "{holder}":
		voucher := handedOut(v.t, v.shop.pending)
		v.named["{voucher}"], v.named["{holder}"] = voucher.ULID.String(), voucher.Customer.String()
		return v.named[name]
	case "{redeemed}":
		return v.shop.Vouchers.Redeemed.ULID.String()
	case "{redeemed_holder}":
		return v.shop.Vouchers.Redeemed.Customer.String()
	case "{expired}":
		return v.shop.Vouchers.Expired.ULID.String()
	case "{switched_off}":
		return v.shop.Vouchers.InactiveCoupon.ULID.String()
	case "{too_late}":
		return v.shop.Vouchers.CapReached.ULID.String()
	case "{tenant}":
		return strconv.FormatInt(int64(v.shop.ID), 10)
	case "{slug}":
		return v.shop.Slug
	case "{new_slug}":
		return fmt.Sprintf("visit-%d", v.number)
	case "{new_tenant}":
		got := v.ask("POST", "/platform/tenants", "platform", newTenant)
		v.is(got, http.StatusCreated, one(madeIs))
		return got.identity(v.t)
	case "{token}":
		return v.made("/tokens", `{"name":"Spare","scopes":["reports:read"]}`)
	}
	v.t.Fatalf("nothing is called %s", name)
	return ""
}

// identity is how a record is named: by a ULID or by a number.
type identity struct {
	ULID string      `json:"ulid"`
	ID   json.Number `json:"id"`
}

func (a answer) identity(t *testing.T) string {
	t.Helper()
	one := decode[single[identity]](t, a.body).Data
	return one.ULID + one.ID.String()
}

// made makes a record, or changes one, and returns its id.
func (v *visit) made(path, body string) string {
	v.t.Helper()
	got := v.ask("POST", path, "", body)
	if got.status >= http.StatusBadRequest {
		v.t.Fatalf("POST %s: %d %s", path, got.status, got.body)
	}
	return got.identity(v.t)
}

func handedOut[T any](t *testing.T, from chan T) T {
	t.Helper()
	select {
	case one := <-from:
		return one
	default:
		t.Fatal("the sandbox has no more of these")
		panic("unreachable")
	}
}

// Kinds of values that a case cannot know.
var kinds = strings.NewReplacer(
	"<ulid>", `[0-7][0-9A-HJKMNP-TV-Z]{25}`,
	"<time>", `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`,
	"<date>", `\d{4}-\d\d-\d\d`,
	"<id>", `[1-9]\d*`,
	"<number>", `-?\d+`,
	"<secret>", `[1-9]\d*\|[A-Za-z0-9]{40}[0-9a-f]{8}`,
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
	switch {
	case status >= http.StatusBadRequest:
		contentType = problemJSON
	case status == http.StatusNoContent:
		contentType = ""
	}
	if have := got.header.Get("Content-Type"); have != contentType {
		v.t.Errorf("content type %q, want %q", have, contentType)
	}
	got.carries(v.t, aYear)
}

// has checks a customer's balances.
func (v *visit) has(customer string, points, stamps int64) {
	v.t.Helper()
	got := v.ask("GET", "/customers/"+customer, "", "")
	balances := fmt.Sprintf(`"points_balance":%d,"stamps_balance":%d,`, points, stamps)
	if !strings.Contains(got.body, balances) {
		v.t.Errorf("%s want %s", got.body, balances)
	}
}

// balance is what Anna has afterwards.
func balance(points, stamps int64) func(*visit, answer) {
	return func(v *visit, _ answer) {
		v.t.Helper()
		v.has("{anna}", points, stamps)
	}
}

// race posts many requests at once, and counts their answers by status.
func (v *visit) race(n int, request func(i int) (path, body string)) map[int]int {
	v.t.Helper()
	var all sync.WaitGroup
	answers := make([]answer, n)
	start := make(chan struct{})
	for i := range n {
		path, body := request(i)
		path, body = v.fill("{base}/api/v1"+path), v.fill(body)
		all.Go(func() {
			<-start
			var err error
			if answers[i], err = v.call("POST", path, v.token(""), body); err != nil {
				v.t.Error(err)
			}
		})
	}
	close(start)
	all.Wait()
	counts := map[int]int{}
	for _, got := range answers {
		counts[got.status]++
	}
	return counts
}

// lacks finds none of these ids in an answer.
func (v *visit) lacks(got answer, ids ...string) {
	v.t.Helper()
	for _, id := range ids {
		if strings.Contains(got.body, `"`+v.fill(id)+`"`) {
			v.t.Errorf("%s is in %s", id, got.body)
		}
	}
}

// nowhere finds that there are no such endpoints.
func (v *visit) nowhere(endpoints ...string) {
	v.t.Helper()
	for _, endpoint := range endpoints {
		method, path, _ := strings.Cut(endpoint, " ")
		v.is(v.ask(method, path, "", ""), http.StatusNotFound, notFound)
	}
}
