package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/demo"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/vault"
)

// keys are the installation's secrets.
func (in *installation) keys(t *testing.T) vault.Keys {
	t.Helper()
	secret, err := os.ReadFile(filepath.Join(in.data, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := vault.New([]string{strings.TrimSpace(string(secret))})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// sender is a business that sends vouchers, beside the product that serves.
type sender struct {
	cafe
	*loyalty.Services
	db *db.DB
	by core.Actor
}

func (c cafe) sender(t *testing.T, by func(*db.DB) core.Actor) *sender {
	t.Helper()
	d, err := db.Open(t.Context(), c.in.url(), db.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return (&sender{cafe: c}).on(t, d, by(d))
}

// on is the sender with another database handle, which may have another clock.
func (s *sender) on(t *testing.T, d *db.DB, by core.Actor) *sender {
	t.Helper()
	jobs, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return &sender{s.cafe, loyalty.New(d, jobs, shoptest.NewMails(d, jobs), s.in.keys(t), loyalty.Options{}), d, by}
}

// customer adds a customer.
func (s *sender) customer(t *testing.T, first, phone string) customer.Customer {
	t.Helper()
	made, err := core.Result(s.Customers.Upsert(t.Context(), s.by, customer.New{
		FirstName: first, LastName: "Lindqvist", Phone: phone, Email: strings.ToLower(first) + "@example.com",
	}, nil))
	if err != nil {
		t.Fatal(err)
	}
	return made.Customer
}

// coupon adds a coupon.
func (s *sender) coupon(t *testing.T, n coupon.New) core.ID {
	t.Helper()
	made, err := core.Result(s.Coupons.Add(t.Context(), s.by, n, nil))
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// send sends a coupon to a customer and returns their voucher and its link.
func (s *sender) send(t *testing.T, of core.ID, who customer.Customer) (coupon.SentVoucher, string) {
	t.Helper()
	send, err := s.Coupons.Send(t.Context(), s.by, of, coupon.Send{
		Segment: coupon.Manual, Customers: []string{who.ID.String()}, FormKey: core.NewID(s.db.Now()).String(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Coupons.Evaluate(t.Context(), s.by, send.ID); err != nil {
		t.Fatal(err)
	}
	l, err := s.Coupons.ListSent(t.Context(), s.by, send.ID, core.Page{Size: 1})
	if err != nil || len(l.Items) != 1 {
		t.Fatalf("%v %v", l.Items, err)
	}
	token, err := s.Links.Token(link.Voucher, s.by.Tenant.ID, l.Items[0].ID, who.LinkVersion)
	if err != nil {
		t.Fatal(err)
	}
	return l.Items[0], s.address(s.by.Tenant.Slug) + "/v/" + token
}

// redeem redeems a voucher at the till.
func (s *sender) redeem(t *testing.T, v coupon.SentVoucher) {
	t.Helper()
	if _, err := core.Result(s.Coupons.Redeem(t.Context(), s.by, v.ID, nil)); err != nil {
		t.Fatal(err)
	}
}

// emblem is a logo: a light ring on a colour.
func emblem(t *testing.T, fill color.Color) []byte {
	t.Helper()
	const side = 240
	picture := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			dx, dy := x-side/2, y-side/2
			if r := dx*dx + dy*dy; r > 60*60 && r < 85*85 {
				picture.Set(x, y, color.White)
			} else {
				picture.Set(x, y, fill)
			}
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// branded adds a business with a name, colour and logo.
func (c cafe) branded(t *testing.T, name, colour string, logo []byte) *sender {
	t.Helper()
	s := c.sender(t, func(d *db.DB) core.Actor { return dbtest.Tenant(t, d) })
	edit := tenant.SettingsEdit{Name: core.Set(name), Colour: core.Set(colour)}
	if logo != nil {
		edit.Logo = core.Set(logo)
	}
	if _, err := s.Tenants.EditSettings(t.Context(), s.by, edit); err != nil {
		t.Fatal(err)
	}
	s.by.Tenant.Name = name
	return s
}

func fiveOff() coupon.New {
	return coupon.New{
		Name: "A treat for the autumn", Description: "For one order of € 10.00 or more.",
		BenefitType: "amount", BenefitValue: new(int64(500)), VoucherValidDays: new(int64(39)), MaxPerCustomer: new(int64(9)),
	}
}

// "Voucher page on a phone viewport for each state, light and dark, axe clean, nothing wider
// than 360 px"; the same for unsubscribing, and for the colours that are hardest to read on.
func testVoucherPages(t *testing.T, c cafe) {
	green := color.RGBA{R: 0x16, G: 0x5c, B: 0x47, A: 0xff}
	s := c.branded(t, "Café Åro", "#165c47", emblem(t, green))
	anna, elsa := s.customer(t, "Anna", "+46 8 465 004 50"), s.customer(t, "Elsa", "+46 8 465 004 51")
	limited := fiveOff()
	limited.MaxRedemptions = new(int64(1))
	capped := s.coupon(t, limited)
	used, usedLink := s.send(t, capped, anna)
	_, fullLink := s.send(t, capped, elsa)
	s.redeem(t, used)
	_, validLink := s.send(t, s.coupon(t, fiveOff()), anna)
	inactive := s.coupon(t, fiveOff())
	_, inactiveLink := s.send(t, inactive, anna)
	if _, err := s.Coupons.SetActive(t.Context(), s.by, inactive, false); err != nil {
		t.Fatal(err)
	}
	past := s.on(t, s.db.At(s.db.Now().AddDate(0, -2, 0)), s.by)
	_, expiredLink := past.send(t, past.coupon(t, fiveOff()), anna)
	bun, err := core.Result(s.Rewards.Add(t.Context(), s.by, reward.New{Name: "A slice of the whole-grain cinnamon bun cake", PointsCost: new(int64(200))}, nil))
	if err != nil {
		t.Fatal(err)
	}
	free := coupon.New{Name: "On us", BenefitType: "reward", BenefitRewardID: new(bun.ID)}
	_, rewardLink := s.send(t, s.coupon(t, free), anna)
	token, err := s.Links.Token(link.Unsubscribe, s.by.Tenant.ID, anna.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	unsubscribe := s.address(s.by.Tenant.Slug) + "/unsubscribe/" + token

	p := s.browser.NewPage(t, s.address(s.by.Tenant.Slug))
	for name, v := range map[string]struct{ link, state string }{
		"voucher-page":          {validLink, "Valid"},
		"voucher-page-used":     {usedLink, "Used"},
		"voucher-page-expired":  {expiredLink, "Expired"},
		"voucher-page-inactive": {inactiveLink, "Not available now"},
		"voucher-page-limit":    {fullLink, "Not available now"},
		"voucher-page-reward":   {rewardLink, "Valid"},
	} {
		look(t, p, name, func() { p.Open(v.link) })
		if got := p.Text(".pass-state"); got != v.state {
			t.Errorf("%s is %q", name, got)
		}
	}
	p.Expect(http.StatusNotFound)
	look(t, p, "voucher-page-missing", func() { p.Open(validLink[:len(validLink)-1] + "!") })
	for name, colour := range map[string]string{"white": "#ffffff", "yellow": "#ffd400", "black": "#000000", "grey": "#767676"} {
		other := c.branded(t, "Bageri", colour, nil)
		_, link := other.send(t, other.coupon(t, fiveOff()), other.customer(t, "Aino", "+46 8 465 004 52"))
		look(t, p, "voucher-page-"+name, func() { p.Open(link) })
	}

	d := connect(t, c.in.url())
	subscribed := func(want bool) {
		t.Helper()
		if got := ask[bool](d, "select unsubscribed_at is null from loyalty.customer where id = $1", anna.ID); got != want {
			t.Errorf("subscribed: %t, want %t", got, want)
		}
	}
	look(t, p, "unsubscribe", func() { p.Open(unsubscribe) })
	p.Click(".button-primary")
	subscribed(false)
	look(t, p, "unsubscribe-done", func() { p.Open(unsubscribe) })
	p.Click("form:has([name=subscribe]) button")
	subscribed(true)
}

// "web/mailbox shows kept mails with data: pictures": the e-mail of a voucher, as a customer's
// mail program draws it.
func testVoucherMail(t *testing.T, c cafe) {
	s := c.branded(t, "Café Åro", "#165c47", emblem(t, color.RGBA{R: 0x16, G: 0x5c, B: 0x47, A: 0xff}))
	v, link := s.send(t, s.coupon(t, fiveOff()), s.customer(t, "Aino", "+46 8 465 004 53"))
	d := connect(t, c.in.url())
	await(t, "the e-mail is kept", func() bool {
		return ask[bool](d, "select exists (select from loyalty.mail where id = $1 and status = 'kept')", v.ID)
	})
	p := c.browser.NewPage(t, c.address(""))
	p.Expect(http.StatusForbidden)
	look(t, p, "mail-without-key", func() { p.Open("/mail") })
	c.mail(t, p.Open)
	look(t, p, "mail-voucher", func() { p.Open("/mail/" + v.ID.String()) })
	for _, width := range []int64{1440, 390} {
		p.Emulate(width, 900, false)
		p.Do(chromedp.Poll[chromedp.Void](`(() => {
			const frame = document.querySelector(".drawn"), mail = frame.contentDocument.documentElement;
			return mail.offsetHeight > 300 && frame.clientHeight === mail.offsetHeight;
		})()`))
	}
	_, path, _ := strings.Cut(link, "/v/") // another test's process may have sent it, with links to its own port
	if got := p.Text(".plain"); !strings.Contains(got, "/v/"+path) || !strings.Contains(got, "Aino") {
		t.Errorf("the plain text says %q, without the link %s or the name", got, link)
	}
	// Its own page lets no script run, axe included.
	html := ask[string](d, "select html from loyalty.mail where id = $1", v.ID)
	drawn := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:")
		_, _ = io.WriteString(w, html)
	}))
	defer drawn.Close()
	look(t, p, "mail-voucher-html", func() { p.Open(drawn.URL) })
	if got := p.Text("h1"); got != "A treat for the autumn" {
		t.Errorf("the mail says %q", got)
	}
}

// "Redeem in the panel by typing a link and Enter", with a confirmation and a message.
func testRedeemVoucher(t *testing.T, c cafe) {
	s := c.sender(t, func(d *db.DB) core.Actor {
		cafe, err := tenant.BySlug(t.Context(), d, demo.Slug)
		if err != nil {
			t.Fatal(err)
		}
		return core.System(cafe, "test")
	})
	tuva := s.customer(t, "Tuva", "+46 74 121 21 21")
	percent := coupon.New{Name: "Twenty off", BenefitType: "percent", BenefitValue: new(int64(20)), MaxPerCustomer: new(int64(9)), ExpiresAt: new(s.db.Now().Add(40 * 24 * time.Hour))}
	points := percent
	points.Name, points.BenefitType = "Twenty points", "points"
	treat := percent
	treat.Name, treat.BenefitType, treat.BenefitValue = "A treat", "reward", nil
	treat.BenefitRewardID = new(ask[core.ID](connect(t, c.in.url()), "select id from loyalty.reward where active and stock is null order by id limit 1"))
	twenty := s.coupon(t, percent)
	v, link := s.send(t, twenty, tuva)

	p := c.page(t)
	c.signIn(t, p, core.Cashier)
	p.Open("/admin/coupons")
	p.Click("main " + linkTo("/admin/vouchers"))
	look(t, p, "vouchers", nil)
	p.Fill("code", "https://example.com/v/nonsense")
	p.Press(kb.Enter)
	p.WaitFor("#field-code-error")
	look(t, p, "vouchers-refused", nil)
	p.Scan(link) // wherever the focus is
	p.WaitForText(".voucher-instruction", "20%")
	if at := p.Path(); at != "/admin/vouchers/"+v.ID.String() {
		t.Errorf("the link leads to %s", at)
	}
	look(t, p, "voucher", nil)
	p.Click(linkTo("/redeem"))
	p.WaitFor("#dialog form")
	look(t, p, "voucher-redeem-dialog", nil)
	p.Click(submitOf("/redeem"))
	p.WaitForText(done, "20%")
	look(t, p, "voucher-redeemed", nil)

	// The same with the code, and without scripts.
	code, _ := s.send(t, s.coupon(t, points), tuva)
	plain := c.page(t)
	plain.DisableScripts()
	c.signIn(t, plain, core.Cashier)
	plain.Open("/admin/vouchers")
	plain.Fill("code", strings.ToLower(code.ID.String()))
	plain.Press(kb.Enter)
	plain.WaitForText(".voucher-instruction", "20 ")
	plain.Click(linkTo("/redeem"))
	plain.Click(submitOf("/redeem"))
	plain.WaitForText(done, "20 ")

	// A voucher for a reward creates a redemption to fulfil.
	_, link = s.send(t, s.coupon(t, treat), tuva)
	manager := c.page(t)
	c.signIn(t, manager, core.Manager)
	manager.Open(link) // with the camera of a phone
	toPanel := "a[href*='/admin/vouchers/']"
	manager.WaitFor(toPanel)
	look(t, manager, "voucher-page-staff", nil)
	manager.Click(toPanel)
	look(t, manager, "voucher-manager", nil)
	manager.Click(linkTo("/redeem"))
	manager.Click(submitOf("/redeem"))
	manager.WaitFor(done)
	look(t, manager, "voucher-reward", nil)
	manager.Click(linkTo("/fulfil"))
	manager.Click(submitOf("/fulfil"))
	manager.WaitFor(done)

	manager.Open("/admin/customers/" + tuva.ID.String() + "?view=vouchers")
	look(t, manager, "customer-vouchers-held", nil)
	manager.Click(submitOf("/unsubscribe"))
	manager.WaitFor(linkTo("/subscribe"))
	look(t, manager, "customer-unsubscribed", nil)
	manager.Click(linkTo("/subscribe"))
	manager.WaitFor("#dialog form")
	look(t, manager, "customer-subscribe-dialog", nil)
	manager.Click(submitOf("/subscribe"))
	manager.WaitFor(done)
}

// voucherLink is the path of a pending voucher's page.
func (c cafe) voucherLink(t *testing.T, id core.ID) string {
	t.Helper()
	d := connect(t, c.in.url())
	token, err := link.New(c.in.keys(t)).Token(link.Voucher,
		core.TenantID(ask[int64](d, "select tenant_id from loyalty.voucher where id = $1", id)), id,
		ask[int64](d, "select k.link_version from loyalty.voucher v join loyalty.customer k on k.id = v.customer_id where v.id = $1", id))
	if err != nil {
		t.Fatal(err)
	}
	return "/v/" + token
}
