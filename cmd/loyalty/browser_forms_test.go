package main

import (
	"context"
	"fmt"
	"image/color"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/loyalty/core"
	"example.com/loyalty/core/demo"
	"example.com/loyalty/web/browsertest"
)

// evaluate returns the value of an expression in the page.
func evaluate[T any](p *browsertest.Page, expression string) T {
	return browsertest.Run(p, chromedp.Evaluate[T](expression))
}

// "One summary with links to the fields, the message once, red cleared while it is corrected, the €
// prefix's border whole", on a phone in the dark.
func testRefusedForm(t *testing.T, c cafe) {
	p := c.page(t)
	c.signIn(t, p, core.Manager)
	p.Emulate(390, 900, true)
	p.Open("/admin/customers/new")
	p.Fill("email", "not an address")
	p.Click(submitOf("/admin/customers/new"))
	p.WaitForText("[data-refusal]", "4 fields need attention")
	if at := p.Path(); at != "/admin/customers/new" {
		t.Errorf("the refused form is at %s", at)
	}
	if said := p.Text("#field-first_name-error"); evaluate[int](p, fmt.Sprintf("document.body.innerText.split(%q).length", said)) != 2 {
		t.Errorf("%q isn't on the page once", said)
	}

	p.Press(kb.Tab) // the summary has the focus
	p.Press(kb.Enter)
	if got := evaluate[string](p, "document.activeElement.id"); got != "field-first_name" {
		t.Errorf("the summary's first link leads to %q", got)
	}
	p.Press("Elsa")
	p.WaitForText("[data-refusal]", "3 fields need attention")
	if red := evaluate[int](p, "document.querySelectorAll('#field-first_name.is-invalid, #field-first_name[aria-invalid], #field-first_name-error, [data-refusal] [href$=first_name]').length"); red != 0 {
		t.Error("a field is red while it is corrected")
	}
	p.Fill("last_name", "Quist")
	p.Fill("phone", "+46 8 465 004 91")
	p.Fill("email", "elsa.quist@example.com")
	p.WaitUntilGone("[data-refusal]")
	p.Click(submitOf("/admin/customers/new"))
	p.WaitForText(done, "Elsa Quist")

	p.Click("main a[href*='/transactions/new']")
	p.Fill("spend_amount_cents", "x")
	p.Click(submitOf("/admin/transactions/new"))
	p.WaitFor("#field-spend_amount_cents.is-invalid")
	look(t, p, "form-refused", nil)
	p.Emulate(390, 900, true)
	const borders = `(() => {
		const input = document.querySelector("#field-spend_amount_cents");
		return [input, input.previousElementSibling].map((el) => getComputedStyle(el).borderTopColor);
	})()`
	if got := evaluate[[]string](p, borders); got[0] != got[1] {
		t.Errorf("the border of a refused amount is %s, its prefix's %s", got[0], got[1])
	}
}

// "A page that could not be sent keeps what was typed even when the server is down": the process is
// killed before forms are sent to it. Sent again to the next one, they arrive once.
func testUnsentForm(t *testing.T, c cafe) {
	made := decode[single[customerRecord]](t, c.expect(t, http.StatusCreated, "POST", "/api/v1/customers", c.token,
		`{"first_name":"Unsent","last_name":"Guest","phone":"+46 8 465 004 93"}`).body).Data
	guide := c.invited(t, "unsent", "Unsent Flowers")
	in := c.in.onItsOwnPort(t)
	in.t = t
	killed := in.served()
	second := c
	second.server = killed
	tabs := func(as core.Role, path string) *browsertest.Page {
		p := c.browser.NewPage(t, second.address(demo.Slug))
		if as != "" {
			second.signIn(t, p, as)
		}
		p.Open(path)
		return p
	}
	adding := tabs(core.Owner, "/admin/customers/new")
	adding.Fill("first_name", "Unsent")
	adding.Fill("last_name", "Customer")
	adding.Fill("phone", "+46 8 465 004 92")
	picture := filepath.Join(t.TempDir(), "mug.png")
	if err := os.WriteFile(picture, emblem(t, color.Black), 0o600); err != nil {
		t.Fatal(err)
	}
	uploading := tabs(core.Manager, "/admin/rewards/new")
	uploading.Fill("name", "Unsent mug")
	uploading.Fill("points_cost", "75")
	uploading.Upload("picture", picture)
	joining := tabs("", "/join")
	joining.Fill("name", "Unsent Joiner")
	offering := tabs(core.Manager, "/admin/coupons/new")
	offering.Fill("name", "Unsent coupon")
	offering.Click(choice("benefit_type", "percent"))
	offering.Fill("percent", "25")
	const business, step = "/admin/settings/business", "/admin/setup/reward"
	settings := guide.NewTab(t)
	settings.Open(second.address("unsent") + business)
	settings.Fill("name", "Unsent Tulips")
	settings.Fill("country", "NO")
	guide.Open(second.address("unsent") + step)
	guide.Fill("name", "Unsent bouquet")
	guide.Fill("points_cost", "90")
	selling := tabs(core.Manager, "/till")
	selling.Press("4712")
	selling.Fill("phone", "00493")
	selling.Click("[data-find]")
	selling.WaitForText(customerName, "Unsent Guest")

	killed.signal(syscall.SIGKILL)
	<-killed.exited
	forms := map[*browsertest.Page]string{
		adding: submitOf("/admin/customers/new"), uploading: submitOf("/admin/rewards/new"), joining: submitOf("/join"),
		offering: submitOf("/admin/coupons/new"), settings: submitOf(business), guide: "#setup-form .btn-primary",
	}
	for p, submit := range forms {
		p.Click(submit)
		p.WaitForText("#trouble", "Your input is still here")
		p.Faults() // the browser's own, of the request that failed
	}
	look(t, adding, "unsent", nil)
	selling.Click(recordSale)
	selling.WaitForText("#offline", "Your input is still here")
	selling.Faults() // likewise
	look(t, selling, "till-unsent", nil)
	for p, want := range map[*browsertest.Page]map[string]string{
		joining: {"name": "Unsent Joiner"}, offering: {"name": "Unsent coupon", "percent": "25"},
		settings: {"name": "Unsent Tulips", "country": "NO"}, guide: {"name": "Unsent bouquet", "points_cost": "90"},
		selling: {"spend_amount_cents": "4712", "customer_ulid": made.ULID},
	} {
		for name, value := range want {
			if got := evaluate[string](p, fmt.Sprintf("document.querySelector('form [name=%s]:not([type=radio])').value", name)); got != value {
				t.Errorf("the form that wasn't sent has the %s %q, want %q", name, got, value)
			}
		}
	}

	in.served()
	adding.Click(submitOf("/admin/customers/new"))
	adding.WaitForText(done, "Unsent Customer")
	uploading.Click(submitOf("/admin/rewards/new"))
	uploading.WaitForText(done, "Unsent mug")
	uploading.WaitFor("main img[src*='/admin/rewards/']")

	offering.Click(forms[offering])
	offering.WaitForText(done, "Unsent coupon")
	settings.Click(forms[settings])
	settings.WaitFor(done)
	guide.Click(forms[guide])
	guide.WaitFor("[name=first_name]") // the next step
	selling.Click(recordSale)
	selling.WaitFor(receipt)
	d := connect(t, c.in.url())
	for what, sql := range map[string]string{
		"customers": "select count(*) from loyalty.customer where first_name = 'Unsent' and last_name = 'Customer'",
		"coupons":   "select count(*) from loyalty.coupon where name = 'Unsent coupon'",
		"settings":  "select count(*) from loyalty.audit_entry where action = 'tenant.edit' and new ->> 'name' = 'Unsent Tulips'",
		"rewards":   "select count(*) from loyalty.reward where name = 'Unsent bouquet'",
		"sales":     "select count(*) from loyalty.transaction where spend_amount_cents = 4712 and customer_id = (select id from loyalty.customer where last_name = 'Guest' and first_name = 'Unsent')",
	} {
		if got := ask[int](d, sql); got != 1 {
			t.Errorf("%d %s arrived, want 1", got, what)
		}
	}

	// Recorded, but the response is lost: sent again with the same key, it is one sale.
	adding.Click("main a[href*='/transactions/new']")
	typeAmount("47.11", amountRead)(adding)
	sales := func() int {
		return ask[int](d, "select count(*) from loyalty.transaction t join loyalty.customer c on c.id = t.customer_id where c.first_name = 'Unsent' and c.last_name = 'Customer'")
	}
	loseResponse(t, adding, "*/admin/transactions/new", submitOf("/admin/transactions/new"))
	adding.WaitForText("#trouble", "Your input is still here")
	adding.Faults() // the browser's own, of that request
	if got := sales(); got != 1 {
		t.Fatalf("%d sales were recorded before the response was lost", got)
	}
	adding.Click(submitOf("/admin/transactions/new"))
	adding.WaitFor(done)
	if got := sales(); got != 1 {
		t.Errorf("sent again, there are %d sales", got)
	}
}

// loseResponse clicks what sends a request, has the server answer it, and the page see a broken connection.
func loseResponse(t *testing.T, p *browsertest.Page, url, selector string) {
	t.Helper()
	lost := make(chan error, 1)
	browsertest.Run(p, chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		answers := chromedp.Events(ctx, fetch.RequestPaused)
		go func() {
			for answer, err := range answers {
				if err == nil {
					_, err = cdp.Call(ctx, tab, fetch.FailRequest, fetch.FailRequestParams{RequestID: answer.RequestID, ErrorReason: network.ErrorReasonConnectionReset})
				}
				lost <- err
				return
			}
		}()
		_, err := cdp.Call(ctx, tab, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: url, RequestStage: fetch.RequestStageResponse}}})
		if err == nil {
			p.Click(selector)
			select {
			case err = <-lost:
			case <-ctx.Done(): // nothing was sent
				err = ctx.Err()
			}
		}
		if err == nil {
			_, err = cdp.Call(ctx, tab, fetch.Disable, cdp.Empty{})
		}
		return err
	}))
}
