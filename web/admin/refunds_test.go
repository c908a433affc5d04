package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

// refunding is the form that refunds an amount.
func refunding(amount string) url.Values {
	return webtest.Form("amount_cents", amount, "reason", "Goods returned")
}

// "Refund a part" says what is left and what will be taken, and the sale's page lists what was refunded.
func TestRefundAPartOfASale(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	path := s.sold(manager, "24.50") // 24 points
	if got := manager.Get(path).Attr("main a[href$=refund]", "href"); got != path+"/refund" {
		t.Errorf("the sale's page leads to %q", got)
	}
	asked := manager.Get(path+"/refund", "Hx-Request", "true")
	if asked.Find("#dialog-title").Length() != 1 || asked.Find("form[action='"+path+"/refund'] input[name=amount_cents]").Length() != 1 {
		t.Errorf("asked %q", asked.Text("form"))
	}
	for amount, want := range map[string]string{
		"6": "6 of its 24 points will be taken back.", "1": "1 of its 24 points will be taken back.", "24.50": "This is the whole sale. Void it instead.", "24.51": "", "x": "", "": "",
	} {
		if got := manager.Get(path + "/refund/takes?amount_cents=" + amount).Text("#takes"); got != want {
			t.Errorf("%s takes %q, want %q", amount, got, want)
		}
	}
	if got := manager.Get(path + "/refund?amount_cents=6").Text("main #takes"); !strings.HasPrefix(got, "6 of") {
		t.Errorf("without scripts: %q", got)
	}
	if s.balance() != 24 {
		t.Error("asking alone took points")
	}

	done := manager.Submit(path+"/refund", refunding("6"))
	if got := done.Text("#flashes"); !strings.Contains(got, "€ 6.00 refunded and 6 points taken back") {
		t.Errorf("flash = %q", got)
	}
	if got := done.Text("#refunds"); !strings.HasPrefix(got, "€ 6.00 6 points taken back Goods returned") || !strings.Contains(got, "Bo Ek") {
		t.Errorf("refunds = %q", got)
	}
	if got := done.Text("main"); !strings.Contains(got, "Refunded in part € 6.00 refunded, 6 of 24 points taken back") || !strings.Contains(got, "−6 18") {
		t.Errorf("detail = %q", got)
	}
	if got := manager.Get(path + "/refund").Text("form p"); !strings.Contains(got, "€ 6.00 refunded, € 18.50 left to refund.") {
		t.Errorf("asked again: %q", got)
	}
	if got := manager.Get("/admin/transactions").Text("tbody"); !strings.Contains(got, "Refunded in part") {
		t.Errorf("list = %q", got)
	}
	if got := manager.Get("/admin/audit").Text("main"); !strings.Contains(got, "Bo Ek refunded € 6.00 of Elsa Berg <b> 's € 24.50 sale") {
		t.Errorf("audit log = %q", got)
	}

	if got := manager.Get(path + "/void").Text("form p"); !strings.Contains(got, "Its remaining 18 points will be reversed") {
		t.Errorf("asked to void: %q", got)
	}
	voided := manager.Submit(path+"/void", because)
	if got := voided.Text("#flashes"); !strings.Contains(got, "18 points reversed") || s.balance() != 0 {
		t.Errorf("voided: %q, balance %d", got, s.balance())
	}
	if voided.Find("main a[href$=refund]").Length() > 0 {
		t.Error("a voided sale can be refunded")
	}
}

// What a form refuses stays on it.
func TestRefusedRefundForms(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager, cashier := s.signedIn(core.Manager), s.signedIn(core.Cashier)
	path := s.sold(cashier, "10")
	dbtest.Tick(s.DB)
	last := s.sold(cashier, "10")
	refused := func(b *browser, path, amount, reason, want string) {
		t.Helper()
		a := b.Post(path+"/refund", webtest.Form("amount_cents", amount, "reason", reason))
		if got := a.Text("form"); a.Code != http.StatusUnprocessableEntity || !strings.Contains(got, want) {
			t.Errorf("%q for %q: %d %q, want %q", amount, reason, a.Code, got, want)
		}
	}
	refused(manager, path, "10.01", "x", "Enter € 10.00 or less")
	refused(manager, path, "0", "x", "Enter € 0.01 or more")
	refused(manager, path, "", "", "Enter a reason")
	refused(manager, path, "twelve", "x", "amount")
	refused(manager, path, "10", "x", transaction.ErrRefundIsVoid.Message)
	refused(cashier, path, "5", "x", transaction.ErrRefundNotAllowed.Message)
	if cashier.Get(path).Find("main a[href$=refund]").Length() > 0 {
		t.Error("a cashier is offered to refund an earlier sale")
	}
	if a := cashier.Submit(last+"/refund", refunding("5")); !a.Flashed(ui.Done, "5 points taken back") {
		t.Errorf("the last sale: %q", a.Text("#flashes"))
	}
	manager.Submit(path+"/void", because)
	refused(manager, path, "5", "x", transaction.ErrAlreadyVoided.Message)
	if got := s.balance(); got != 5 {
		t.Errorf("balance = %d, want 5", got)
	}
}

// Two clicks are one refund; two tabs are two, as far as the sale has money.
func TestTwoRefundForms(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	manager := s.signedIn(core.Manager)
	path := s.sold(manager, "10")
	tab := func() url.Values {
		form := refunding("6")
		form.Set("form_key", manager.Get(path+"/refund").Attr("input[name=form_key]", "value"))
		return form
	}
	one, other := tab(), tab()
	var clicks sync.WaitGroup
	for range 8 {
		again := manager.Clone()
		clicks.Go(func() {
			if a := again.Post(path+"/refund", one); a.Code != http.StatusSeeOther || a.Header().Get("Location") != path {
				t.Errorf("a click is answered %d to %q", a.Code, a.Header().Get("Location"))
			}
		})
	}
	clicks.Wait()
	if a := manager.Post(path+"/refund", other); a.Code != http.StatusUnprocessableEntity || !strings.Contains(a.Text("form"), "Enter € 4.00 or less") {
		t.Errorf("the other tab: %d %q", a.Code, a.Text("form"))
	}
	if got := s.balance(); got != 4 {
		t.Errorf("balance = %d, want 4", got)
	}
}

// "12 of its 40 points had expired; the balance falls by 28."
func TestAVoidSaysWhatHadExpired(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	s.Exec("insert into loyalty.programme (tenant_id, unit, expiry, months, round_to, begun_at, updated_at) values ($1, 'points', 'after', 1, 'month', now(), now())", s.By.Tenant.ID)
	past := s.At(s.DB.Now().Add(-70 * 24 * time.Hour))
	past.By.Tenant.PointsExpiry = core.Expiry{Rule: core.ExpireAfter, Months: 1, RoundTo: core.ToMonth}
	kind := past.Points(100)
	sale := past.Sale(s.elsa.ID, kind, 4000)
	past.Adjust(s.elsa.ID, ledger.Points, -28)
	now := s.Shop
	now.By = past.By
	now.Adjust(s.elsa.ID, ledger.Points, 1) // so that something is left to deduct
	now.Adjust(s.elsa.ID, ledger.Points, -1)

	manager := s.signedIn(core.Manager)
	path := "/admin/transactions/" + sale.ID.String()
	if got := manager.Get(path + "/void").Text("form p"); !strings.Contains(got, "Its 40 points will be reversed, even if already spent: 12 of them had expired, so the balance falls by 28.") {
		t.Errorf("asked to void: %q", got)
	}
	for amount, want := range map[string]string{
		"10": "10 of its 40 points will be taken back: all of it had expired, so the balance doesn't change.",
		"20": "20 of its 40 points will be taken back: 12 of them had expired, so the balance falls by 8.",
	} {
		if got := manager.Get(path + "/refund/takes?amount_cents=" + amount).Text("#takes"); got != want {
			t.Errorf("%s takes %q, want %q", amount, got, want)
		}
	}
	done := manager.Submit(path+"/refund", refunding("20"))
	if got := done.Text("table"); !strings.Contains(got, "Returned after expiry") || !strings.Contains(got, "Refunded") || s.balance() != -8 {
		t.Errorf("entries %q, balance %d", got, s.balance())
	}
}

// A stranger gets the answer of a missing sale.
func TestAnotherTenantsSaleIsNotRefunded(t *testing.T) {
	t.Parallel()
	s, other := newTill(t), newTill(t)
	path := s.sold(s.signedIn(core.Manager), "10")
	stranger := other.signedIn(core.Manager)
	for _, p := range []string{path + "/refund", path + "/refund/takes?amount_cents=5"} {
		if a := stranger.Ask(http.MethodGet, p); a.Code != http.StatusNotFound {
			t.Errorf("GET %s: %d", p, a.Code)
		}
	}
	if a := stranger.Post(path+"/refund", refunding("5")); a.Code != http.StatusNotFound {
		t.Errorf("POST: %d", a.Code)
	}
	if got := s.balance(); got != 10 {
		t.Errorf("balance = %d, want 10", got)
	}
}
