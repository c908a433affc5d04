package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/webtest"
)

const vouchers = "/admin/vouchers"

// held creates a coupon by its form, sends it to every customer and returns Elsa's voucher.
func (s *counter) held(f url.Values) coupon.ShownVoucher {
	s.T.Helper()
	s.send(s.made(f), core.NewID(s.DB.Now()).String())
	return s.newest()
}

// newest is Elsa's latest voucher.
func (s *counter) newest() coupon.ShownVoucher {
	s.T.Helper()
	l, err := s.Coupons.ListByCustomer(s.T.Context(), s.By, s.elsa.ID, core.Page{Size: 1})
	if err != nil || len(l.Items) != 1 {
		s.T.Fatalf("%v %v", l.Items, err)
	}
	v, err := s.Coupons.FindVoucher(s.T.Context(), s.By, l.Items[0].ID)
	if err != nil {
		s.T.Fatal(err)
	}
	return v
}

func (s *shop) token(v coupon.ShownVoucher) string {
	s.T.Helper()
	token, err := s.Coupons.VoucherToken(s.By.Tenant.ID, v)
	if err != nil {
		s.T.Fatal(err)
	}
	return token
}

func benefitForm(kind, field, value string) url.Values {
	return webtest.Form("name", "Treat <b>", "benefit_type", kind, field, value, "max_per_customer", "9")
}

// spaced replaces no-break spaces by ordinary ones.
func spaced(text string) string { return strings.ReplaceAll(text, "\u00a0", " ") }

// "Accepts a ULID, a link (from a hand-held scanner which types it and presses Enter) or a
// token; leads to the voucher."
func TestFindVoucher(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	v := s.held(percentOff("Spring", "20"))
	code, token := v.ID.String(), s.token(v)
	search := s.cashier.Get(vouchers)
	if _, focus := search.Find("#field-code").Attr("autofocus"); !focus {
		t.Errorf("the page: %q", search.Text("main"))
	}
	for name, typed := range map[string]string{
		"code":                   code,
		"code in small letters":  strings.ToLower(code),
		"code in groups":         " " + code[:5] + " " + code[5:10] + " - " + code[10:] + "\t",
		"code with O for 0":      strings.Replace(code, "0", "O", 1),
		"link":                   s.origin() + "/v/" + token,
		"link by another port":   "https://" + s.By.Tenant.Slug + ".localhost:8443/v/" + token + "/?utm_source=mail#top",
		"link in capitals":       strings.ToUpper(s.origin() + "/v/" + token)[:len(s.origin())] + "/v/" + strings.ToLower(token),
		"path of a link":         "/v/" + token,
		"token":                  token,
		"code as printed":        strings.Join(format.CodeGroups(v.ID), " "),
		"code with odd spaces":   strings.Join(format.CodeGroups(v.ID), "\u00a0") + "\u200b",
		"code with odd hyphens":  strings.Join(format.CodeGroups(v.ID), "–"),
		"code in wide letters":   "０" + code[1:],
		"link, a sentence's end": s.origin() + "/v/" + token + ").",
		"link, escaped":          s.origin() + "/v/" + strings.Replace(token, "-", "%2D", 1),
		"link, wrapped":          "https://safe.example.com/?url=https%3A%2F%2Fshop.example%2Fv%2F" + token + "&data=x",
		"token, with line break": token + "\r\n",
	} {
		a := s.cashier.Post(vouchers, webtest.Form("code", typed))
		if to := a.Header().Get("Location"); a.Code != http.StatusSeeOther || to != vouchers+"/"+code {
			t.Errorf("%s %q: %d to %q", name, typed, a.Code, to)
		}
	}
}

// "Unknown ones get a clear message on the field with what was typed kept. A link of another
// business: the same."
func TestUnknownVoucher(t *testing.T) {
	t.Parallel()
	s, other := newCounter(t), newCounter(t)
	v, theirs := s.held(percentOff("Spring", "20")), other.held(percentOff("Spring", "20"))
	revoked := s.origin() + "/v/" + s.token(v)
	s.Exec("update loyalty.customer set link_version = link_version + 1 where id = $1", s.elsa.ID)
	forged := s.token(s.newest())
	last := "0"
	if strings.HasSuffix(forged, last) {
		last = "1"
	}
	forged = forged[:len(forged)-1] + last
	for name, typed := range map[string]string{
		"nonsense":                    "<b>nonsense",
		"an unused ULID":              "01JZZZZZZZZZZZZZZZZZZZZZZZ",
		"another business's code":     theirs.ID.String(),
		"another business's link":     other.origin() + "/v/" + other.token(theirs),
		"another business's token":    other.token(theirs),
		"forged":                      s.origin() + "/v/" + forged,
		"revoked":                     revoked,
		"a link to something else":    "https://example.com/",
		"a link of another purpose":   s.origin() + "/unsubscribe/" + s.token(s.newest()),
		"a link without its token":    s.origin() + "/v/",
		"letters no browser can send": "\xff\xfe",
	} {
		a := s.cashier.Post(vouchers, webtest.Form("code", typed))
		said := a.Text(".invalid-feedback")
		if a.Code != http.StatusUnprocessableEntity || said != webtest.Message("Voucher", core.Violation{Rule: "unknown_voucher"}) {
			t.Errorf("%s: %d %q", name, a.Code, said)
		}
		if kept := a.Value("#field-code"); kept != strings.ToValidUTF8(typed, "\uFFFD") {
			t.Errorf("%s: typed is now %q", name, kept)
		}
		// The field keeps the focus, since the next scan goes there.
		if _, focus := a.Find("#field-code[data-select]").Attr("autofocus"); !focus || a.Find("[data-focus]").Length() != 0 {
			t.Errorf("%s: the field doesn't have the focus", name)
		}
	}
	garbled := strings.NewReplacer(":", "Ö", "/", "-", "-", "ß").Replace(s.origin() + "/v/" + core.NewID(s.DB.Now()).String())
	if a := s.cashier.Post(vouchers, webtest.Form("code", garbled)); a.Code != http.StatusUnprocessableEntity || !strings.Contains(a.Text(".invalid-feedback, .alert"), "keyboard layout") {
		t.Errorf("typed by a scanner with another keyboard layout: %d %q", a.Code, a.Text("main"))
	}
	if a := s.cashier.Post(vouchers, webtest.Form("code", " ")); a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") == "" {
		t.Errorf("nothing: %d %q", a.Code, a.Text(".invalid-feedback"))
	}
	for _, path := range []string{"", "/redeem"} {
		if a := s.cashier.Ask(http.MethodGet, vouchers+"/"+theirs.ID.String()+path); a.Code != http.StatusNotFound {
			t.Errorf("GET %s of another business = %d", path, a.Code)
		}
	}
	if a := s.cashier.Post(vouchers+"/"+theirs.ID.String()+"/redeem", nil); a.Code != http.StatusNotFound {
		t.Errorf("redeemed at another business: %d", a.Code)
	}
	if got := other.newest().Status; got != coupon.VoucherPending {
		t.Errorf("the other business's voucher is %s", got)
	}
}

// "It says plainly what the cashier takes off; asks once; two clicks are one; then says what
// happened."
func TestRedeemVoucher(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct{ field, value, benefit, done string }{ // done: the figures of the flash
		"percent": {"percent", "20", "20%", "20"},
		"amount":  {"amount_cents", "5", "€ 5.00", "5.00"},
		"points":  {"points", "20", "20 points", "20 120"},
		"stamps":  {"stamps", "1", "1 stamp", "1 1"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newCounter(t)
			v := s.held(benefitForm(kind, c.field, c.value))
			path := vouchers + "/" + v.ID.String()
			shown := s.cashier.Get(path)
			if got := spaced(shown.Text(".voucher-instruction")); !strings.Contains(got, c.benefit) || !strings.Contains(spaced(shown.Text(".voucher-benefit")), c.benefit) {
				t.Errorf("the page: %q", shown.Text("main"))
			}
			if got := shown.Text("main"); !strings.Contains(got, "Elsa Berg <b>") || !strings.Contains(got, "Treat <b>") {
				t.Errorf("customer and coupon: %q", got)
			}
			if got := shown.Links(".page-header .btn-primary"); len(got) != 1 || got[0] != path+"/redeem" {
				t.Errorf("the primary button leads to %q", got)
			}
			asked := s.cashier.Get(path+"/redeem", "Hx-Request", "true")
			if got := spaced(asked.Text("form p")); !strings.Contains(got, c.benefit) || !strings.Contains(got, "Elsa Berg <b>") || asked.Find("#dialog-title").Length() != 1 {
				t.Errorf("asked %q", got)
			}
			if got := s.newest().Status; got != coupon.VoucherPending {
				t.Errorf("asking alone made it %s", got)
			}

			sent := webtest.Form("form_key", s.cashier.Get(path+"/redeem").Value("main input[name=form_key]"))
			var clicks sync.WaitGroup
			answers := make([]webtest.Page, 8)
			for i := range answers {
				again := s.cashier.Clone()
				clicks.Go(func() { answers[i] = again.Post(path+"/redeem", sent) })
			}
			clicks.Wait()
			for _, a := range answers {
				if to := a.Header().Get("Location"); a.Code != http.StatusSeeOther || to != path {
					t.Errorf("a click leads to %d %q", a.Code, to)
				}
			}
			done := s.cashier.Get(path)
			if got := spaced(done.Text("#flashes .alert:first-child")); figures(got) != c.done {
				t.Errorf("then: %q, want the figures %q", got, c.done)
			}
			now := s.newest()
			when := now.RedeemedAt.In(s.By.Tenant.TimeZone).Format("2 Jan 2006, 15:04")
			if got := done.Text(".voucher-refusal"); !strings.Contains(got, when) || done.Find("a[href$=redeem]").Length() != 0 || done.Find(".voucher-instruction").Length() != 0 {
				t.Errorf("afterwards: %q", done.Text("main"))
			}
			late := s.cashier.Post(path+"/redeem", webtest.Form("form_key", core.NewID(s.DB.Now()).String()), "Hx-Request", "true")
			if got := late.Text(".alert"); late.Code != http.StatusUnprocessableEntity || !strings.Contains(got, when) {
				t.Errorf("by a colleague as well: %d %q", late.Code, got)
			}
			if got := s.coupon("/admin/coupons/" + v.CouponID.String()).RedemptionsCount; got != 1 {
				t.Errorf("redeemed %d times", got)
			}
		})
	}
}

// "For a reward: the pending redemption with a link and Fulfil", from where the cashier comes
// back to the voucher.
func TestRedeemVoucherForReward(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	bun := s.offer("Bun <b>", 75, 1)
	f := benefitForm("reward", "reward_ulid", idOf(t, bun).String())
	first, second := s.held(f), s.held(f)
	path := vouchers + "/" + first.ID.String()
	if got := s.cashier.Get(path).Text(".voucher-benefit, .voucher-instruction"); strings.Count(got, "Bun <b>") != 2 {
		t.Errorf("to do: %q", got)
	}
	done := s.cashier.Submit(path+"/redeem", webtest.Form("form_key", core.NewID(s.DB.Now()).String()))
	if got := done.Text("#flashes"); !strings.Contains(got, "Bun <b>") {
		t.Errorf("then: %q", got)
	}
	redemption := done.Attr("main .card-body a[href*=redemptions]", "href")
	fulfil := done.Attr("main a[href$=fulfil]", "href")
	if s.status(redemption) != reward.Pending || fulfil != redemption+"/fulfil" {
		t.Fatalf("the redemption is at %q, fulfilled at %q", redemption, fulfil)
	}
	a := s.cashier.Post(fulfil, s.cashier.Get(fulfil, "Referer", s.origin()+path).Fields("main form"), "Referer", s.origin()+path)
	if to := a.Header().Get("Location"); to != path {
		t.Errorf("fulfilling leads to %q", to)
	}
	if got := s.cashier.Get(path); s.status(redemption) != reward.Fulfilled || got.Find("main form").Length() != 0 {
		t.Errorf("it is %s: %q", s.status(redemption), got.Text("main"))
	}

	none := s.cashier.Post(vouchers+"/"+second.ID.String()+"/redeem", nil, "Hx-Request", "true")
	if got := none.Text(".alert"); none.Code != http.StatusUnprocessableEntity || !strings.Contains(got, "Bun <b>") {
		t.Errorf("out of stock: %d %q", none.Code, none.Text("body"))
	}
	if got := s.newest().Status; got != coupon.VoucherPending {
		t.Errorf("the refused voucher is %s", got)
	}
}

// "Refusals in the panel's plain words", also after the confirmation was shown.
func TestRefusedVoucher(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	tomorrow := s.DB.Now().In(s.By.Tenant.TimeZone).AddDate(0, 0, 1)
	limited := webtest.With(percentOff("Summer", "20"), "max_redemptions", "1", "expires_at", tomorrow.Format(time.DateOnly))
	s.add("Åke", "Ahl", "070 174 06 05")
	path := s.made(limited)
	s.send(path, "form")
	v := s.newest()
	at := vouchers + "/" + v.ID.String()
	asked := s.cashier.Get(at + "/redeem")
	refused := func(want string) {
		t.Helper()
		for _, header := range [][]string{{"Hx-Request", "true"}, nil} {
			sent := s.cashier.Post(at+"/redeem", asked.Fields("main form"), header...)
			if got := sent.Text(".alert"); sent.Code != http.StatusUnprocessableEntity || !strings.Contains(got, want) || sent.Attr("form a.btn-primary", "href") != at {
				t.Errorf("sent: %d %q, want %q", sent.Code, sent.Text("main, body > .modal-header ~ form"), want)
			}
		}
		if got := s.cashier.Get(at + "/redeem").Text("main .alert"); !strings.Contains(got, want) {
			t.Errorf("asked again: %q, want %q", got, want)
		}
		if shown := s.cashier.Get(at); !strings.Contains(shown.Text(".voucher-refusal"), want) || shown.Find("a[href$=redeem]").Length() != 0 {
			t.Errorf("the page: %q, want %q", shown.Text("main"), want)
		}
	}
	s.manager.Submit(path+"/active", webtest.Form("active", "0"))
	refused("inactive")
	s.manager.Submit(path+"/active", webtest.Form("active", "1"))

	s.RedeemVoucher(shoptest.Query[core.ID](s.Shop, "select id from loyalty.voucher where tenant_id = $1 and id <> $2", s.By.Tenant.ID, v.ID))
	refused("limit")
	s.Exec("update loyalty.voucher set expires_at = $2 where id = $1", v.ID, s.DB.Now().Add(-time.Minute))
	expired := s.newest().ExpiresAt.In(s.By.Tenant.TimeZone).Format("2 Jan 2006, 15:04")
	refused(expired)
}

// "A button “Redeem voucher” on the coupons list and redemptions page", and on the customer's
// page each voucher.
func TestLinksToVouchers(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	v := s.held(percentOff("Spring", "20"))
	for _, page := range []string{"/admin/coupons", "/admin/redemptions"} {
		if s.cashier.Get(page).Find(".page-header a[href='"+vouchers+"']").Length() != 1 {
			t.Errorf("%s doesn't lead to redeeming a voucher", page)
		}
	}
	path := vouchers + "/" + v.ID.String()
	row := func() string {
		shown := s.cashier.Get(s.path() + "?view=vouchers")
		return shown.Text("#history tbody .badge") + ", " + shown.Text("#history tbody a.btn[href='"+path+"']")
	}
	if got := row(); got != "Pending, Redeem" {
		t.Errorf("a pending one: %q", got)
	}
	coupon := "/admin/coupons/" + v.CouponID.String()
	s.manager.Submit(coupon+"/active", webtest.Form("active", "0"))
	if got := row(); got != "Pending, " {
		t.Errorf("of an inactive coupon: %q", got)
	}
	s.manager.Submit(coupon+"/active", webtest.Form("active", "1"))
	s.cashier.Submit(path+"/redeem", nil)
	if got := row(); got != "Redeemed, " {
		t.Errorf("a redeemed one: %q", got)
	}
}

// "Managers can copy/open the customer's voucher link from there."
func TestVoucherLinkForManagers(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	v := s.held(percentOff("Spring", "20"))
	path, link := vouchers+"/"+v.ID.String(), s.origin()+"/v/"+s.token(v)
	for who, want := range map[*browser]bool{s.cashier: false, s.manager: true, s.signedIn(core.Owner): true} {
		shown := who.Get(path)
		if got := shown.Text("#voucher-link") == link && shown.Find("a[href='"+link+"']").Length() == 1; got != want {
			t.Errorf("as %s: %q", who.Person.Role, shown.Text("#voucher-link"))
		}
		if !want && strings.Contains(shown.Body.String(), s.token(v)[27:]) {
			t.Errorf("as %s the page has the link all the same", who.Person.Role)
		}
	}
}
