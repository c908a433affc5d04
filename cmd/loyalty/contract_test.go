package main

import (
	"context"
	"html"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/loyalty/cmd/loyalty/internal/apiclient"
	"example.com/loyalty/core/sandbox"
)

// testContract uses the API as integrators do: a client generated from openapi.json records and
// redeems, and the commands in the documents are pasted.
func testContract(t *testing.T, in *installation) {
	t.Helper()
	in = in.with("LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0")
	s := in.serve()
	f := in.sandbox(t)
	walkMainJob(t, s, f.Tenants[0])
	checkDescription(t, s)
	pasteGuide(t, s)
	pasteDocument(t, s, "../../docs/api.md")
	t.Run("Clients", func(t *testing.T) { testClients(t, s, f.Tenants[0]) })
	t.Run("QuickStart", func(t *testing.T) { testQuickStart(t, s) })
	s.stop()
}

// generated is a client generated from openapi.json, with a token.
func (s *server) generated(t *testing.T, token string) *apiclient.ClientWithResponses {
	t.Helper()
	c, err := apiclient.NewClientWithResponses(s.in.base, apiclient.WithHTTPClient(s.http),
		apiclient.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+token)
			return nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// walk makes requests and checks their statuses.
type walk struct{ t *testing.T }

type answered interface{ StatusCode() int }

func step[A answered](w walk, status int, got A, err error) A {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	if got.StatusCode() != status {
		w.t.Fatalf("%T: %d, want %d", got, got.StatusCode(), status)
	}
	return got
}

func walkMainJob(t *testing.T, s *server, shop sandbox.Tenant) {
	t.Helper()
	ctx, w := t.Context(), walk{t}
	c := s.generated(t, shop.Tokens["all"])

	elsa := apiclient.NewCustomer{FirstName: "Elsa", LastName: "Berg", Phone: "08-465 004 12", Email: new("elsa@example.com")}
	made, err := c.UpsertCustomerWithResponse(ctx, nil, elsa)
	customer := step(w, 201, made, err).JSON201.Data
	again, err := c.UpsertCustomerWithResponse(ctx, nil, elsa)
	if found := step(w, 200, again, err).JSON200.Data; found.Ulid != customer.Ulid || found.PointsBalance != 0 {
		t.Errorf("found %+v, made %+v", found, customer)
	}

	sale := apiclient.NewTransaction{CustomerUlid: customer.Ulid, TransactionTypeId: shop.TransactionTypeID, SpendAmountCents: 6000}
	var first apiclient.Transaction
	for _, key := range []string{"receipt-1", "receipt-2", "receipt-3"} {
		key := &apiclient.RecordTransactionParams{IdempotencyKey: &key}
		recorded, err := c.RecordTransactionWithResponse(ctx, key, sale)
		first = step(w, 201, recorded, err).JSON201.Data
		replayed, err := c.RecordTransactionWithResponse(ctx, key, sale)
		same := step(w, 201, replayed, err)
		if same.JSON201.Data.Ulid != first.Ulid || same.HTTPResponse.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("repeated: %+v, first %+v", same.JSON201.Data, first)
		}
	}
	if *first.PointsAwarded != 60 || first.StampsAwarded != nil || first.Status != apiclient.TransactionStatusCompleted || first.CreatedAt.IsZero() {
		t.Errorf("a sale of 60.00: %+v", first)
	}
	pages := readPages(w, c, customer.Ulid)
	if len(pages) != 3 || pages[0] != first.Ulid {
		t.Errorf("the sales, two a page: %v", pages)
	}

	order := apiclient.NewRedemption{CustomerUlid: customer.Ulid, RewardUlid: shop.Rewards.InStock.ULID.String()}
	redeemed, err := c.RedeemRewardWithResponse(ctx, nil, order)
	redemption := step(w, 201, redeemed, err).JSON201.Data
	fulfilled, err := c.FulfilRedemptionWithResponse(ctx, redemption.Ulid, nil)
	if r := step(w, 200, fulfilled, err).JSON200.Data; r.Status != apiclient.RedemptionStatusFulfilled || r.FulfilledAt == nil || r.PointsSpent != 50 {
		t.Errorf("fulfilled: %+v", r)
	}
	fulfilled, err = c.FulfilRedemptionWithResponse(ctx, redemption.Ulid, nil)
	w.refused("already-fulfilled", step(w, 422, fulfilled, err).ApplicationproblemJSON422)

	voided, err := c.VoidTransactionWithResponse(ctx, first.Ulid, nil)
	if v := step(w, 200, voided, err).JSON200.Data; v.Status != apiclient.TransactionStatusVoided || v.VoidedAt == nil {
		t.Errorf("voided: %+v", v)
	}
	voided, err = c.VoidTransactionWithResponse(ctx, first.Ulid, nil)
	w.refused("already-voided", step(w, 422, voided, err).ApplicationproblemJSON422)
	now, err := c.FindCustomerWithResponse(ctx, customer.Ulid)
	if balance := step(w, 200, now, err).JSON200.Data.PointsBalance; balance != 3*60-50-60 {
		t.Errorf("the balance is %d", balance)
	}

	wrong, err := c.UpsertCustomerWithResponse(ctx, nil, apiclient.NewCustomer{FirstName: "Elsa", LastName: "Berg", Phone: strings.Repeat("1", 31)})
	if p := step(w, 422, wrong, err).ApplicationproblemJSON422; p.Code != nil || p.Errors == nil || len((*p.Errors)["phone"]) != 1 {
		t.Errorf("a phone of 31: %+v", p)
	}
	missing, err := c.FindTransactionWithResponse(ctx, customer.Ulid)
	if p := step(w, 404, missing, err).ApplicationproblemJSON404; p.Title != "Not Found" {
		t.Errorf("of a customer's ULID: %+v", p)
	}
	forbidden, err := s.generated(t, shop.Tokens["none"]).ListRewardsWithResponse(ctx, nil)
	step(w, 403, forbidden, err)
	unknown, err := s.generated(t, shop.RevokedToken).ListTokensWithResponse(ctx, nil)
	step(w, 401, unknown, err)
}

// refused checks the rule of a problem.
func (w walk) refused(code string, p *apiclient.Problem) {
	w.t.Helper()
	if p.Code == nil || *p.Code != code || !strings.HasSuffix(p.Type, "/problems/"+code) || p.Status != 422 || p.Errors != nil {
		w.t.Errorf("%+v, want %s", p, code)
	}
}

// readPages reads a customer's sales, two a page.
func readPages(w walk, c *apiclient.ClientWithResponses, customer string) (ulids []string) {
	w.t.Helper()
	at := &apiclient.ListCustomerTransactionsParams{PerPage: new(int32(2))}
	for range 3 {
		got, err := c.ListCustomerTransactionsWithResponse(w.t.Context(), customer, at)
		page := step(w, 200, got, err).JSON200
		for _, t := range page.Data {
			ulids = append(ulids, t.Ulid)
		}
		if (page.Meta.NextCursor == nil) != (page.Links.Next == nil) || page.Meta.PerPage != 2 {
			w.t.Errorf("%+v, %+v", page.Links, page.Meta)
		}
		if at.Cursor = page.Meta.NextCursor; at.Cursor == nil {
			return ulids
		}
	}
	w.t.Error("the pages do not end")
	return ulids
}

// checkDescription compares openapi.json with the pages: each code has its page, which lists the
// same refused requests; the changelog lists every operation.
func checkDescription(t *testing.T, s *server) {
	t.Helper()
	text := s.expect(t, http.StatusOK, "GET", "/api/v1/openapi.json", "", "").body
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Servers) != 1 || doc.Servers[0].URL != s.in.base || strings.Contains(text, "localhost:8443") {
		t.Errorf("servers %v, want %s alone", doc.Servers, s.in.base)
	}
	changelog := textOf(s.expect(t, http.StatusOK, "GET", "/docs/changelog", "", "").body)
	refused := map[string][]string{} // operations by code
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if named := regexp.MustCompile(regexp.QuoteMeta(method+" "+path) + `(?:[^/\w{]|$)`); !named.MatchString(changelog) {
				t.Errorf("the changelog lacks %s %s", method, path)
			}
			if response := op.Responses.Status(http.StatusUnprocessableEntity); response != nil {
				for code := range response.Value.Content["application/problem+json"].Examples {
					refused[code] = append(refused[code], method+" "+path)
				}
			}
		}
	}
	request := regexp.MustCompile(`>([A-Z]+)</b>\s+<code>(/api/v1/[^<]+)</code>`)
	for code := range doc.Components.Examples {
		page := s.read(t, "/problems/"+code)
		var named []string
		for _, m := range request.FindAllStringSubmatch(page, -1) {
			named = append(named, m[1]+" "+m[2])
		}
		slices.Sort(named)
		slices.Sort(refused[code])
		if everything := strings.Contains(page, "/api/v1/…"); !everything && !slices.Equal(named, refused[code]) {
			t.Errorf("%s refuses %v by its page, and %v by openapi.json", code, named, refused[code])
		}
	}
}

// read returns a page's text.
func (s *server) read(t *testing.T, path string) string {
	t.Helper()
	return html.UnescapeString(s.expect(t, http.StatusOK, "GET", path, "", "").body)
}

// shell runs a script in the installation's directory, and stops at the first failing command.
func (s *server) shell(t *testing.T, script string, env ...string) string {
	t.Helper()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = s.in.top
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.in.top, "CURL_CA_BUNDLE=" + filepath.Join(s.in.data, "ca.pem")}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v: %s", script, err, out)
	}
	return string(out)
}

func hasCurl(t *testing.T) bool {
	t.Helper()
	_, curl := exec.LookPath("curl")
	_, bash := exec.LookPath("bash")
	if curl != nil || bash != nil {
		t.Log("the examples need curl and bash")
		return false
	}
	return true
}

// pasteGuide runs the requests of the guide to retries, each twice.
func pasteGuide(t *testing.T, s *server) {
	t.Helper()
	if !hasCurl(t) {
		return
	}
	shop := s.demoTill(t)
	before := shop.points()
	page := s.read(t, "/docs/retries")
	const earned = `"points_awarded":12`
	for id, wants := range map[string][2]string{
		"key":       {earned, earned},
		"loop":      {earned, earned},
		"reference": {earned, "The external reference has already been taken."},
		"look":      {`"per_page":1`, `"per_page":1`},
	} {
		_, block, _ := strings.Cut(page, `<pre aria-labelledby="`+id+`"><code>`)
		block, _, _ = strings.Cut(block, "</code></pre>")
		for _, want := range wants {
			if out := s.shell(t, block, "TOKEN="+s.token, "CUSTOMER="+shop.customer); !strings.Contains(out, want) {
				t.Errorf("%s\n%s\nwant %s", block, out, want)
			}
		}
	}
	if now := shop.points(); now != before+3*12 {
		t.Errorf("three sales, each sent twice: the balance was %d, is %d", before, now)
	}
}

// pasteDocument runs the commands of a document.
func pasteDocument(t *testing.T, s *server, file string) {
	t.Helper()
	if !hasCurl(t) {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		script.WriteString(block[1])
	}
	out := s.shell(t, strings.ReplaceAll(script.String(), "https://localhost:8443", s.in.base))
	for _, want := range []string{`"status":"fulfilled"`, `"status":"voided"`, `"code":"already-voided"`, "dempotent-replayed: true", `"points_awarded":12,`} {
		if !strings.Contains(strings.ReplaceAll(out, "Replayed", "replayed"), want) {
			t.Errorf("the output lacks %s:\n%s", want, out)
		}
	}
	read := 0
	for _, size := range regexp.MustCompile(`(?m)^\d+$`).FindAllString(out, -1) {
		n, _ := strconv.Atoi(size)
		read += n
	}
	const activeSQL = "select count(*) from loyalty.customer c join loyalty.tenant t on t.id = c.tenant_id where t.slug = 'demo' and c.status = 'active'"
	if active := ask[int](connect(t, s.in.url()), activeSQL); read != active {
		t.Errorf("%d customers on all pages, want %d", read, active)
	}
}
