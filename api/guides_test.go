package api_test

import (
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/token"
)

// reader pastes the requests of a guide of /docs into a shell. The page is the one that a test of web/docs compares
// with what is served.
type reader struct {
	*shop
	page   string
	scopes []token.Ability   // that the page asks for: its requests have no others
	vars   map[string]string // of the shell
	left   map[string]string // requests that weren't pasted yet, by the ids of their headings
}

var (
	pasted = regexp.MustCompile(`(?s)<pre data-copy aria-labelledby="([^"]*)"><code>(.*?)</code></pre>`)
	needed = regexp.MustCompile(`(?s)Scopes of the token:(.*?)</aside>`)
	inCode = regexp.MustCompile(`<code>(.*?)</code>`)
)

func newReader(t *testing.T, page string) *reader {
	t.Helper()
	for _, program := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	text, err := os.ReadFile("../web/docs/testdata/" + page + ".html")
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{shop: newShop(t), page: page, left: map[string]string{}}
	for _, scopes := range needed.FindAllString(string(text), -1) {
		for _, scope := range inCode.FindAllStringSubmatch(scopes, -1) {
			r.scopes = append(r.scopes, token.Ability(scope[1]))
		}
	}
	r.vars = map[string]string{"TOKEN": r.makeToken(r.scopes...).Secret, "CUSTOMER": r.fill("{anna}")}
	for _, found := range pasted.FindAllStringSubmatch(string(text), -1) {
		r.left[found[1]] = strings.ReplaceAll(html.UnescapeString(found[2]), `"transaction_type_id": 1`, `"transaction_type_id": `+r.fill("{points}"))
	}
	return r
}

// paste runs the request below a heading, whose output must have some texts, and returns the output.
func (r *reader) paste(id string, wants ...string) string {
	r.T.Helper()
	request := r.left[id]
	if request == "" {
		r.T.Fatalf("%s has no request with the id %s, or it was pasted before", r.page, id)
	}
	delete(r.left, id)
	return r.run(request, wants...)
}

func (r *reader) run(request string, wants ...string) string {
	r.T.Helper()
	dir := r.T.TempDir()
	config := fmt.Sprintf("silent\nshow-error\ninsecure\nconnect-to = \"%s:443:%s\"\n", domain, r.address)
	r.Check(os.WriteFile(filepath.Join(dir, ".curlrc"), []byte(config), 0o600))
	shell := exec.CommandContext(r.T.Context(), "bash", "-euo", "pipefail", "-c", request)
	shell.Dir, shell.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	for name, value := range r.vars {
		shell.Env = append(shell.Env, name+"="+value)
	}
	out, err := shell.CombinedOutput()
	if err != nil {
		r.T.Errorf("%s: %s\n%v: %s", r.page, request, err, out)
	}
	for _, want := range wants {
		if !strings.Contains(string(out), want) {
			r.T.Errorf("%s: %s\n%s\nlacks %s", r.page, request, out, want)
		}
	}
	return string(out)
}

// keep has a shell variable hold what is between two texts of an output.
func (r *reader) keep(name, out, from, to string) {
	r.T.Helper()
	_, rest, found := strings.Cut(out, from)
	value, _, ended := strings.Cut(rest, to)
	if !found || !ended {
		r.T.Fatalf("%s: no %s…%s in %s", r.page, from, to, out)
	}
	r.vars[name] = value
}

// balance returns Anna's points.
func (r *reader) balance() int64 {
	r.T.Helper()
	return r.Account(r.id("{anna}")).Points
}

// Each request is sent twice, and is one sale. "The quick start's token can do what the retry page advises".
func retriesStory(r *reader) {
	if want := []token.Ability{token.CustomersWrite, token.TransactionsWrite}; !slices.Equal(r.scopes, want) {
		r.T.Errorf("the scopes are %v, want those of the quick start's token", r.scopes)
	}
	const earned = `"points_awarded":12`
	for id, wants := range map[string][2]string{
		"key":       {earned, earned},
		"loop":      {earned, earned},
		"reference": {earned, `"code":"reference-taken"`},
	} {
		request := r.left[id]
		r.paste(id, wants[0])
		r.run(request, wants[1])
	}
	r.paste("look", earned, `"per_page":1,`)
	if got := r.balance(); got != 3*12 {
		r.T.Errorf("three sales, each sent twice: the balance is %d", got)
	}
}

func syncStory(r *reader) {
	r.fill("{bo}")
	out := r.paste("load", r.vars["CUSTOMER"], r.fill("{bo}"), `"per_page":1000`)
	if !strings.Contains(out, `"next":null`) {
		r.T.Errorf("there is a further page: %s", out)
	}
	r.vars["START"] = r.db.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	sale := r.fill("{sale}")
	// "A change appears about two seconds after it was made".
	begin := r.left["begin"]
	r.paste("begin")
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		out = r.run(begin, `"next":null`, `"retry_after":5`)
		if strings.Contains(out, sale) {
			break
		}
		if time.Now().After(end) {
			r.T.Fatalf("the sale doesn't appear: %s", out)
		}
	}
	r.keep("CURSOR", out, `"resume_cursor":"`, `"`)
	r.paste("continue", `"data":[]`, `"resume_cursor":"`)
	r.paste("records", r.vars["CUSTOMER"], `"points_balance":12`, `"resume_cursor":"`)
}

// "looks for the customer by external_id, then by phone, then by email"
func customersStory(r *reader) {
	r.paste("find", `"data":[]`)
	r.vars["START"] = r.db.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	upsert := r.left["upsert"]
	r.paste("upsert", r.vars["CUSTOMER"], `"external_id":"shop-1001"`, `"email":"Anna@example.com"`) // had the number, and gets the ID
	r.run(strings.ReplaceAll(upsert, "070-174 06 05", "08 1"), r.vars["CUSTOMER"])
	r.run(strings.ReplaceAll(upsert, "shop-1001", "other"), r.vars["CUSTOMER"], `"external_id":"shop-1001"`) // keeps its own
	bo := r.fill("{bo}")
	both := strings.NewReplacer("shop-1001", "third", "070-174 06 05", "+46 8 123 456 78").Replace(upsert)
	r.run(both, bo) // the number is Bo's, the address Anna's

	guest := r.left["guests"]
	r.paste("guests", `"phone":["The phone field is required."]`)
	r.Exec("update loyalty.tenant set phone_optional = true where id = $1", r.By.Tenant.ID)
	r.run(guest, `"phone":""`)

	r.Must(core.Result(r.Merging.Merge(r.T.Context(), r.By, r.id("{bo}"), r.id("{anna}"), nil, nil)))
	merged := r.left["merged"]
	r.paste("merged")
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		if out := r.run(merged); strings.Contains(out, `"change":"merged","kept_ulid":"`+bo+`"`) {
			break
		}
		if time.Now().After(end) {
			r.T.Fatal("the merge doesn't appear")
		}
	}
	got := r.call("GET", "/api/v1/customers?order=updated&per_page=1000", r.token, "") // "Merged customers are in no list"
	if !strings.Contains(got.body, bo) || strings.Contains(got.body, `"ulid":"`+r.vars["CUSTOMER"]) {
		r.T.Errorf("the customers after the merge: %s", got.body)
	}
	r.run(upsert, bo) // the duplicate's ID, number and address find who is kept
	got = r.call("GET", "/api/v1/customers?external_id=shop-1001", r.token, "")
	got.is(r.T, 200, `<anything>`+bo+`<anything>`)

	r.Must(r.Privacy.Erase(r.T.Context(), r.By, r.id("{bo}")))
	got = r.call("GET", "/api/v1/customers/"+bo, r.token, "")
	got.is(r.T, 200, `{"data":{"ulid":"`+bo+`","first_name":"Erased","last_name":"Erased","phone":"","email":null,"status":"inactive",<anything>"external_id":null,"metadata":{},"tags":[]<anything>`)
}

func scanningStory(r *reader) {
	r.fill("{voucher}")
	anna, err := r.Customers.Find(r.T.Context(), r.By, r.id("{anna}"))
	r.Check(err)
	token, err := r.Walkins.CardToken(r.By.Tenant.ID, anna)
	r.Check(err)
	scanned := "https://cafe." + domain + "/card/" + token
	card := r.left["card"]
	for _, text := range []string{scanned, strings.ToUpper(scanned), strings.ToLower(scanned)} {
		r.vars["SCANNED"] = text
		r.run(card, r.vars["CUSTOMER"])
	}
	delete(r.left, "card")

	voucher, err := r.Coupons.FindVoucher(r.T.Context(), r.By, r.id("{voucher}"))
	r.Check(err)
	token, err = r.Coupons.VoucherToken(r.By.Tenant.ID, voucher)
	r.Check(err)
	request := r.left["voucher"]
	ulid := voucher.ID.String()
	for _, text := range []string{
		"https://cafe." + domain + "/v/" + token, strings.ToUpper("https://cafe." + domain + "/v/" + token), ulid, strings.ToLower(ulid),
		ulid[:5] + " " + ulid[5:10] + "-" + ulid[10:],
	} {
		r.vars["SCANNED"] = text
		r.run(request, `"ulid":"`+ulid+`"`, `"redeemable":true`, r.vars["CUSTOMER"])
		// as other languages encode it
		r.call("GET", "/api/v1/vouchers/"+url.PathEscape(text), r.token, "").is(r.T, 200, `<anything>`+ulid+`<anything>`)
	}
	delete(r.left, "voucher")
	// "a card that was replaced still finds its customer", but not a voucher's earlier link
	r.Must(r.Customers.ReplaceLinks(r.T.Context(), r.By, r.id("{anna}")))
	r.vars["SCANNED"] = scanned
	r.run(card, r.vars["CUSTOMER"])
	r.vars["SCANNED"] = "https://cafe." + domain + "/v/" + token
	r.run(request, `"status":404`)
	r.vars["SCANNED"] = ulid
	r.run(request, `"redeemable":true`)

	r.Must(r.Privacy.Erase(r.T.Context(), r.By, r.id("{anna}")))
	r.vars["SCANNED"] = scanned
	r.run(card, `"first_name":"Erased"`)
}

func tillsStory(r *reader) {
	r.paste("tokens", `"abilities":["customers:read","customers:write","transactions:write"]`, `"token":"`)
	r.vars["LOCATION"] = r.fill("{harbour}")
	r.paste("locations", `"id":`+r.vars["LOCATION"], `"active":true`)
	sale := r.left["sale"]
	r.paste("sale", `"location_id":`+r.vars["LOCATION"], `"points_awarded":12`)
	r.run(strings.Replace(sale, "Idempotency-Key: till-3", "Idempotency-Key: till-4", 1), `"code":"reference-taken"`, `"transaction_ulid":"`)

	offline := r.left["offline"]
	for _, c := range []struct {
		ago        time.Duration
		want, then string
	}{
		{73 * time.Hour, `"occurred_at":["`, `"status":422`},
		{-2 * time.Minute, `"occurred_at":["`, `"status":422`},
		{2 * time.Hour, `"points_awarded":8`, `"points_awarded":4`},
		{2 * time.Hour, `"code":"reference-taken"`, `"status":422`}, // a second time
	} {
		r.vars["SOLD_AT"] = r.db.Now().Add(-c.ago).UTC().Format(time.RFC3339)
		r.run(offline, c.want, c.then)
	}
	r.vars["SOLD_AT"] = time.Now().Add(-time.Hour).In(time.FixedZone("", 2*3600)).Format(time.RFC3339)
	r.run(strings.ReplaceAll(offline, "till-3", "till-5"), `"points_awarded":8`)
	delete(r.left, "offline")
	if got := r.balance(); got != 12+2*(8+4) {
		r.T.Errorf("the balance is %d", got)
	}
}

func vouchersStory(r *reader) {
	r.vars["CODE"] = r.fill("{voucher}") // of 5 points
	find := r.left["find"]
	r.paste("find", `"redeemable":true`, `"benefit":{"type":"points","points":5}`)
	r.keep("SALE", r.paste("sale", `"points_awarded":45`), `"ulid":"`, `"`)
	r.paste("redeem", `"status":"redeemed"`, `"transaction_ulid":"`+r.vars["SALE"]+`"`)
	r.run(find, `"redeemable":false`, `"not_redeemable":{"code":"voucher-redeemed","detail":"This voucher has already been redeemed."}`)
	if got := r.balance(); got != 45+5 {
		r.T.Errorf("the balance is %d", got)
	}
	restore := r.left["restore"]
	r.paste("restore", `"status":"pending"`)
	r.run(restore, `"code":"voucher-already-restored"`)
	if got := r.balance(); got != 45 {
		r.T.Errorf("after the restore, the balance is %d", got)
	}
	r.run(find, `"redeemable":true`)

	r.vars["REWARD"] = r.fill("{espresso}")
	r.paste("rewards", r.vars["REWARD"], `"value_cents":`)
	r.keep("REDEMPTION", r.paste("spend", `"status":"pending"`, `"points_spent":10`), `"ulid":"`, `"`)
	r.paste("unspend", `"status":"voided"`)
	if got := r.balance(); got != 45 {
		r.T.Errorf("after the void, the balance is %d", got)
	}
}

func promotionsStory(r *reader) {
	first, _ := r.levels()
	id := r.promotion("Double points", "", "")
	r.paste("list", `"name":"Double points"`, `"on_now":true`)
	r.paste("preview", `"points_awarded":90`, `"base_points":45`, `"promotion_name":"Double points"`, `"tier_reached":{"id":`)
	record := r.left["record"]
	r.paste("record", `"points_awarded":90`, `"promotion_id":`+id, `"category":"cakes"`)
	r.rules("update loyalty.promotion set active = false where tenant_id = $1")
	r.run(record, `"points_awarded":90`, `"promotion_id":`+id) // the first response
	r.run(strings.ReplaceAll(record, "4712", "4713"), `"points_awarded":45`, `"promotion_id":null`)
	r.paste("tier", `"name":"Gold"`)
	r.paste("birthday", `"birthday":"05-21"`)
	r.call("GET", "/api/v1/customers/{bo}", r.token, "").has(r.T, 200, first)
}

func refundsStory(r *reader) {
	sell := func(reference string) answer {
		return r.call("POST", "/api/v1/transactions", r.token, fmt.Sprintf(`{"customer_ulid":"%s","transaction_type_id":%s,"spend_amount_cents":1250,"external_reference":"%s"}`,
			r.vars["CUSTOMER"], r.fill("{points}"), reference))
	}
	sell("order-1001").is(r.T, 201, `<anything>`)
	r.keep("SALE", r.paste("find", `"external_reference":"order-1001"`), `"ulid":"`, `"`)
	part := r.left["part"]
	r.run(strings.ReplaceAll(part, "300", "1250"), `"code":"refund-is-void"`)
	r.paste("part", `"points_refunded":3`)
	r.run(part, `"code":"reference-taken"`, `"refund_ulid":"`)
	r.run(strings.NewReplacer("300", "951", "-17", "-18").Replace(part), `"amount_cents":["`)
	r.Redeem(r.id("{anna}"), r.Reward(9, nil)) // all that is left
	void := r.left["void"]
	r.paste("void", `"status":"voided"`)
	r.run(void, `"code":"already-voided"`)
	r.run(strings.ReplaceAll(part, "-17", "-18"), `"code":"already-voided"`)
	if got := r.balance(); got != -9 {
		r.T.Errorf("the balance is %d, want −9: 12 earned, 12 taken back, 9 spent", got)
	}
	if got := sell("order-1001"); got.status != 422 || !strings.Contains(got.body, `"code":"reference-taken"`) {
		r.T.Errorf("the reference of a voided sale: %d %s", got.status, got.body)
	}
	corrected := sell("order-1001-2")
	corrected.is(r.T, 201, `<anything>`)
	if got := r.balance(); got != 3 {
		r.T.Errorf("the balance is %d, want 3: the next sale pays the debt", got)
	}
	r.vars["SALE"] = ulidOf(corrected)
	r.run(strings.ReplaceAll(part, "credit-note-17", "order-1001"), `"points_refunded":3`) // the number of an order
}

func browsersStory(r *reader) {
	out := strings.ToLower(r.paste("preflight", "405", "application/problem+json"))
	if strings.Contains(out, "access-control") || !strings.Contains(out, "allow: get, head, post") {
		r.T.Errorf("the response to a preflight: %s", out)
	}
	for _, path := range []string{"/customers", "/transactions/" + r.fill("{sale}"), "/nope"} {
		if got := r.call("GET", "/api/v1"+path, r.token, "", "Origin: https://shop.example"); got.header.Get("Access-Control-Allow-Origin") != "" {
			r.T.Errorf("GET %s: %v", path, got.header)
		}
	}
}

// Every request of the guides works when it is pasted, and does what its page says.
func TestRequestsOfTheGuides(t *testing.T) {
	t.Parallel()
	for page, story := range map[string]func(*reader){
		"retries": retriesStory, "sync": syncStory, "customers": customersStory, "scanning": scanningStory, "tills": tillsStory,
		"vouchers": vouchersStory, "promotions": promotionsStory, "refunds": refundsStory, "browsers": browsersStory,
	} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			r := newReader(t, page)
			story(r)
			for id := range r.left {
				t.Errorf("the request %s was not pasted", id)
			}
		})
	}
}
