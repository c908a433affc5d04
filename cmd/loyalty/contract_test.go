package main

import (
	"fmt"
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
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/loyalty/core/sandbox"
)

// testContract uses the API as integrators do: a client records and redeems, and the commands in
// the documents are pasted.
func testContract(t *testing.T, in *installation) {
	t.Helper()
	in = in.with("LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0")
	s := in.serve()
	f := in.sandbox(t)
	walkMainJob(t, s, f.Tenants[0])
	checkDescription(t, s)
	pasteDocument(t, s, "../../docs/api.md")
	t.Run("Clients", func(t *testing.T) { testClients(t, s, f.Tenants[0], f.Tenants[1]) })
	t.Run("QuickStart", func(t *testing.T) { testQuickStart(t, s) })
	s.stop()
}

// walk makes requests with a token, and checks their statuses.
type walk struct {
	*server
	t     *testing.T
	token string
}

// walked has the fields of customers, sales and redemptions that the walk reads.
type walked struct {
	ULID          string     `json:"ulid"`
	Status        string     `json:"status"`
	PointsBalance int64      `json:"points_balance"`
	PointsAwarded *int64     `json:"points_awarded"`
	StampsAwarded *int64     `json:"stamps_awarded"`
	PointsSpent   int64      `json:"points_spent"`
	CreatedAt     time.Time  `json:"created_at"`
	VoidedAt      *time.Time `json:"voided_at"`
	FulfilledAt   *time.Time `json:"fulfilled_at"`
}

// step makes a request below /api/v1 and returns the record of its response.
func (w walk) step(status int, request, body string) walked {
	w.t.Helper()
	return decode[single[walked]](w.t, w.ask(status, request, body).body).Data
}

func (w walk) ask(status int, request, body string, headers ...string) answer {
	w.t.Helper()
	method, path, _ := strings.Cut(request, " ")
	return w.expect(w.t, status, method, "/api/v1"+path, w.token, body, headers...)
}

// refused makes a request and returns the problem of its response.
func (w walk) refused(status int, request, body string) problem {
	w.t.Helper()
	return decode[problem](w.t, w.ask(status, request, body).body)
}

// refusedBy makes a request that a rule refuses.
func (w walk) refusedBy(code, request string) {
	w.t.Helper()
	if p := w.refused(422, request, ""); p.Code != code || !strings.HasSuffix(p.Type, "/problems/"+code) || p.Status != 422 || p.Errors != nil {
		w.t.Errorf("%s: %+v, want %s", request, p, code)
	}
}

func walkMainJob(t *testing.T, s *server, shop sandbox.Tenant) {
	t.Helper()
	w := walk{s, t, shop.Tokens["all"]}

	const elsa = `{"first_name":"Elsa","last_name":"Berg","phone":"08-465 004 12","email":"elsa@example.com"}`
	customer := w.step(201, "POST /customers", elsa)
	if found := w.step(200, "POST /customers", elsa); found.ULID != customer.ULID || found.PointsBalance != 0 {
		t.Errorf("found %+v, made %+v", found, customer)
	}

	sale := fmt.Sprintf(`{"customer_ulid":%q,"transaction_type_id":%d,"spend_amount_cents":6000}`, customer.ULID, shop.TransactionTypeID)
	var first walked
	for _, key := range []string{"receipt-1", "receipt-2", "receipt-3"} {
		recorded := w.ask(201, "POST /transactions", sale, "Idempotency-Key: "+key)
		first = decode[single[walked]](t, recorded.body).Data
		replayed := w.ask(201, "POST /transactions", sale, "Idempotency-Key: "+key)
		if replayed.body != recorded.body || replayed.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("repeated: %s, first %s", replayed.body, recorded.body)
		}
	}
	if first.PointsAwarded == nil || *first.PointsAwarded != 60 || first.StampsAwarded != nil || first.Status != "completed" || first.CreatedAt.IsZero() {
		t.Errorf("a sale of 60.00: %+v", first)
	}
	pages := w.readPages(customer.ULID)
	if len(pages) != 3 || pages[0] != first.ULID {
		t.Errorf("the sales, two a page: %v", pages)
	}

	redemption := w.step(201, "POST /redemptions", fmt.Sprintf(`{"customer_ulid":%q,"reward_ulid":%q}`, customer.ULID, shop.Rewards.InStock.ULID))
	fulfil := "POST /redemptions/" + redemption.ULID + "/fulfil"
	if r := w.step(200, fulfil, ""); r.Status != "fulfilled" || r.FulfilledAt == nil || r.PointsSpent != 50 {
		t.Errorf("fulfilled: %+v", r)
	}
	w.refusedBy("already-fulfilled", fulfil)
	void := "POST /transactions/" + first.ULID + "/void"
	if v := w.step(200, void, ""); v.Status != "voided" || v.VoidedAt == nil {
		t.Errorf("voided: %+v", v)
	}
	w.refusedBy("already-voided", void)
	if balance := w.step(200, "GET /customers/"+customer.ULID, "").PointsBalance; balance != 3*60-50-60 {
		t.Errorf("the balance is %d", balance)
	}

	if p := w.refused(422, "POST /customers", strings.Replace(elsa, "08-465 004 12", strings.Repeat("1", 31), 1)); p.Code != "" || len(p.Errors["phone"]) != 1 {
		t.Errorf("a phone of 31: %+v", p)
	}
	if p := w.refused(404, "GET /transactions/"+customer.ULID, ""); p.Title != "Not Found" {
		t.Errorf("of a customer's ULID: %+v", p)
	}
	w.token = shop.Tokens["none"]
	w.refused(403, "GET /rewards", "")
	w.token = shop.RevokedToken
	w.refused(401, "GET /tokens", "")
}

// readPages reads a customer's sales, two a page.
func (w walk) readPages(customer string) (ulids []string) {
	w.t.Helper()
	path := "GET /customers/" + customer + "/transactions?per_page=2"
	cursor := ""
	for range 3 {
		page := decode[struct {
			Data  []walked
			Links struct{ Next *string }
			Meta  struct {
				PerPage    int     `json:"per_page"`
				NextCursor *string `json:"next_cursor"`
			}
		}](w.t, w.ask(200, path+cursor, "").body)
		for _, sale := range page.Data {
			ulids = append(ulids, sale.ULID)
		}
		if (page.Meta.NextCursor == nil) != (page.Links.Next == nil) || page.Meta.PerPage != 2 {
			w.t.Errorf("%+v, %+v", page.Links, page.Meta)
		}
		if page.Meta.NextCursor == nil {
			return ulids
		}
		cursor = "&cursor=" + *page.Meta.NextCursor
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
	for code, example := range doc.Components.Examples {
		if code == "invalid" { // of no rule
			continue
		}
		page := s.read(t, "/problems/"+code)
		if detail, _ := example.Value.Value.(map[string]any)["detail"].(string); !strings.Contains(page, detail) {
			t.Errorf("the page of %s lacks: %s", code, detail)
		}
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
	for _, want := range []string{`"status":"fulfilled"`, `"status":"voided"`, `"code":"already-voided"`, "HTTP/2 304", `"status":412`, "dempotent-replayed: true", `"points_awarded":12,`} {
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
