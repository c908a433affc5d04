package main

import (
	"image/color"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/browsertest"
)

// cardLink returns the path of a customer's card.
func (c cafe) cardLink(t *testing.T, customer core.ID) string {
	t.Helper()
	d := connect(t, c.in.url())
	token, err := link.New(c.in.keys(t)).Token(link.Card,
		core.TenantID(ask[int64](d, "select tenant_id from loyalty.customer where id = $1", customer)), customer,
		ask[int64](d, "select link_version from loyalty.customer where id = $1", customer))
	if err != nil {
		t.Fatal(err)
	}
	return "/card/" + token
}

// walkins is a business with a till, beside the product that serves.
type walkins struct {
	*sender
	cashier core.Actor
	kind    int64
	place   int64
}

const thisTill = "the till of a test"

func (c cafe) walkins(t *testing.T, name, colour string) walkins {
	t.Helper()
	var logo []byte
	if colour == "#165c47" {
		logo = emblem(t, color.RGBA{R: 0x16, G: 0x5c, B: 0x47, A: 0xff})
	}
	s := c.branded(t, name, colour, logo)
	kind, err := core.Result(s.Transactions.AddType(t.Context(), s.by, transaction.NewType{Name: "Drinks", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1}}, nil))
	if err != nil {
		t.Fatal(err)
	}
	place, err := core.Result(s.Locations.Add(t.Context(), s.by, location.New{Name: "Nybrogatan"}, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []reward.New{
		{Name: "Filter coffee", PointsCost: new(int64(80))}, {Name: "Cinnamon bun", PointsCost: new(int64(200))},
	} {
		if _, err := core.Result(s.Rewards.Add(t.Context(), s.by, n, nil)); err != nil {
			t.Fatal(err)
		}
	}
	return walkins{s, dbtest.Person(t, s.db, s.by, core.Cashier), kind.ID, place.ID}
}

func (w walkins) home() string { return w.address(w.by.Tenant.Slug) }

// card is the address of a customer's card.
func (w walkins) card(t *testing.T, who customer.Customer) string {
	t.Helper()
	token, err := w.Walkins.CardToken(w.by.Tenant.ID, who)
	if err != nil {
		t.Fatal(err)
	}
	return w.home() + "/card/" + token
}

// take has the till take the PIN that a page shows.
func (w walkins) take(t *testing.T, p *browsertest.Page) walkin.TakenCard {
	t.Helper()
	held, err := w.Walkins.TakeCard(t.Context(), w.cashier, thisTill, walkin.Key{Digits: strings.ReplaceAll(p.Text(".pin-digits"), "\u00a0", "")})
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// complete has the till record a sale.
func (w walkins) complete(t *testing.T, pin *core.ID, who core.ID, cents int64) {
	t.Helper()
	_, err := core.Result(w.Walkins.Complete(t.Context(), w.cashier, thisTill, walkin.Sale{PIN: pin, CustomerID: who, LocationID: &w.place, Sold: &transaction.Sale{TransactionTypeID: w.kind, SpendAmountCents: cents}}, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
}

// offers has the till show a sale.
func (w walkins) offers(t *testing.T, cents int64) walkin.Shown {
	t.Helper()
	shown, err := w.Walkins.ShowSale(t.Context(), w.cashier, thisTill, walkin.Offer{TransactionTypeID: w.kind, SpendAmountCents: cents, LocationID: &w.place}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// States of the code on a card.
const (
	showCode = "[data-pin-form] button"
	pinWaits = "[data-pin][data-state=waiting]"
	pinTaken = "[data-pin][data-state=taken]"
)

// "On request a QR and PIN with a 90-second ring that renews itself and reports at once when
// it was used (“+12 points”)."
func testCard(t *testing.T, c cafe) {
	w := c.walkins(t, "Café Åro", "#165c47")
	anna := w.customer(t, "Anna", "+46 8 465 004 60")
	w.complete(t, nil, anna.ID, 12_450)
	w.send(t, w.coupon(t, fiveOff()), anna)
	p := w.browser.NewPage(t, w.home())
	look(t, p, "card", func() { p.Open(w.card(t, anna)) })
	look(t, p, "card-menu", func() { p.Open(w.card(t, anna)); p.Click("[data-menu] summary") })
	look(t, p, "card-code", func() {
		p.Open(w.card(t, anna))
		p.Click(showCode)
		p.WaitFor(pinWaits)
	})
	held := w.take(t, p)
	p.WaitFor(pinTaken)
	look(t, p, "card-taken", nil)
	w.complete(t, &held.PIN, core.ID{}, 1250)
	p.WaitForText(".code-earned", "+12 ")
	p.WaitForText(".wallet-next", "64 ")
	p.WaitForText(".wallet-next", "Cinnamon bun")
	look(t, p, "card-used", nil)

	plain := w.browser.NewPage(t, w.home())
	plain.DisableScripts()
	plain.Open(w.card(t, anna))
	plain.Click(showCode)
	plain.WaitForText("[data-pin-left]", "90")
	held = w.take(t, plain)
	plain.Click("noscript a")
	plain.WaitFor(pinTaken)
	w.complete(t, &held.PIN, core.ID{}, 300)
	plain.Click("noscript a")
	plain.WaitForText(".code-earned", "+3 ")

	for name, colour := range map[string]string{"white": "#ffffff", "yellow": "#ffd400", "black": "#000000", "grey": "#767676"} {
		other := c.walkins(t, "Bageri", colour)
		aino := other.customer(t, "Aino", "+46 8 465 004 61")
		other.complete(t, nil, aino.ID, 9_999_900)
		look(t, p, "card-"+name, func() {
			p.Open(other.card(t, aino))
			p.Click(showCode)
			p.WaitFor(pinWaits)
		})
		look(t, p, "join-"+name, func() { p.Open(other.home() + "/join") })
	}
}

// "`/join` …: name, phone, e-mail, consent; lands on the card page; existing customers are
// found, and learn nothing about the account of anyone else."
func testJoin(t *testing.T, c cafe) {
	w := c.walkins(t, "Café Åro", "#165c47")
	if _, err := w.Tenants.EditSettings(t.Context(), w.by, tenant.SettingsEdit{PrivacyURL: core.Set("https://example.com/privacy")}); err != nil {
		t.Fatal(err)
	}
	p := w.browser.NewPage(t, w.home())
	p.DisableScripts()
	p.Open("/join")
	p.Click(submitOf("/join"))
	p.WaitFor("#field-name-error")
	script := w.browser.NewPage(t, w.home())
	look(t, script, "start", func() { script.Open("/") })
	lost := c.browser.NewPage(t, c.address("nosuch"))
	look(t, lost, "start-of-no-business", func() { lost.Expect(http.StatusNotFound); lost.Open("/") })
	look(t, script, "join-branded", func() { script.Open("/join") })
	look(t, script, "join-refused", func() { script.Open("/join"); script.Click(submitOf("/join")) })
	fill := func() {
		p.Fill("name", "Elsa Berg")
		p.Fill("phone", "70 412 88 19")
		p.Fill("email", "elsa@card.example")
		p.Click("[name=agreed]")
	}
	fill()
	p.Click(submitOf("/join"))
	p.WaitForText(".wallet-next", "80 ")
	p.WaitForText(".wallet-next", "Filter coffee")
	if got := p.Text(".wallet-name"); got != "Elsa Berg" {
		t.Errorf("the card is %s's", got)
	}
	p.Open("/join")
	fill()
	p.Click(submitOf("/join")) // answered by e-mail: the card of another person is not shown
	p.WaitUntilGone("form, .wallet")
	p.Open("/join")
	p.Click(linkTo("/join/find"))
	p.Fill("contact", "elsa@card.example")
	p.Click(submitOf("/join/find"))
	p.WaitUntilGone("form, .wallet")
	await(t, "both e-mails are delivered", func() bool {
		return ask[int](connect(t, c.in.url()), "select count(*) from loyalty.mail where status = 'kept' and recipient = 'elsa@card.example'") >= 2
	})
}

// A stranger joins with another person's phone number. At the till, the cashier is told to check it and replaces the link. The
// stranger's link says so and shows nothing. The card shows twenty codes in five minutes, and then says when to go on.
func testCardReplaced(t *testing.T, c cafe) {
	w := c.walkins(t, "Café Åro", "#165c47")
	c.hiredAt(t, w.by.Tenant.ID, core.Owner, "Ture Till", "ture@replaced.example")
	stranger, till := w.browser.NewPage(t, w.home()), w.browser.NewPage(t, w.home())
	stranger.Open("/join")
	stranger.Fill("name", "Elsa Berg")
	stranger.Fill("phone", "70 412 88 21")
	stranger.Click("[name=agreed]")
	stranger.Click(submitOf("/join"))
	stranger.WaitFor(".wallet")
	old := stranger.Path()

	c.fillSignIn(t, till, "ture@replaced.example")
	who := ask[core.ID](connect(t, c.in.url()), "select id from loyalty.customer where tenant_id = $1 and first_name = 'Elsa'", w.by.Tenant.ID)
	look(t, till, "customer-unchecked", func() {
		till.Open("/admin/customers/" + who.String())
		till.WaitForText("#customer-unchecked", "check the phone number")
	})
	look(t, till, "till-unchecked", func() {
		till.Open("/till/customers/" + who.String())
		till.WaitForText("#till", "New card: check the phone number")
	})
	till.Open("/till/customers/" + who.String() + "/card")
	till.Click(linkTo("/card/replace"))
	till.Click(submitOf("/card/replace"))
	look(t, till, "till-card-replaced", func() { till.WaitFor(".show-done") })

	stranger.Expect(http.StatusGone)
	look(t, stranger, "card-replaced", func() { stranger.Open(old); stranger.WaitForText("main", "This card was replaced. Ask at the till.") })

	anna := w.customer(t, "Anna", "+46 8 465 004 62")
	phone := w.browser.NewPage(t, w.home())
	phone.Open(w.card(t, anna))
	for range 20 {
		browsertest.Run(phone, chromedp.Evaluate[string]("fetch(location.pathname + '/pin', { method: 'POST' }).then((answer) => answer.text())", chromedp.EvalAwaitPromise))
	}
	phone.Expect(http.StatusTooManyRequests)
	look(t, phone, "card-too-many", func() {
		phone.Open(w.card(t, anna))
		phone.Click(showCode)
		phone.WaitForText("#card", "Too many codes. Wait 5 minutes")
	})
}

// "The customer scans with an own phone, or opens `/w` and types the PIN"; "JavaScript off for
// the typed-PIN path".
func testClaim(t *testing.T, c cafe) {
	w := c.walkins(t, "Café Åro", "#165c47")
	p := w.browser.NewPage(t, w.home())
	p.DisableScripts()
	p.Open("/w")
	p.Fill("pin", "12")
	p.Click(submitOf("/w"))
	p.WaitFor("#field-pin-error")
	shown := w.offers(t, 2450)
	p.Fill("pin", shown.Digits)
	p.Click(submitOf("/w"))
	p.WaitForText(".hero-spend", "24.50")
	p.WaitForText(".hero-spend", "Nybrogatan")
	p.Fill("phone", "70 412 88 20")
	p.Fill("name", "Elsa Berg")
	p.Click("[name=agreed]")
	p.Click(submitOf("/w/claim"))
	p.WaitForText(".claimed-middle .hero-words", "Elsa")
	p.Click(".claimed a.button")
	p.WaitForText(".wallet-next", "56 ")

	// With a camera: the address of the QR code takes nothing until the button does.
	phone := w.browser.NewPage(t, w.home())
	scan := func() { phone.Open("/w/" + w.offers(t, 2450).Code) }
	look(t, phone, "walkin-scanned", scan)
	take := func() {
		scan()
		phone.Click("main form [type=submit]")
		phone.WaitFor("[name=agreed]")
	}
	look(t, phone, "walkin-claim", take)
	look(t, phone, "walkin-claimed", func() {
		take()
		phone.Fill("phone", "70 412 89 01")
		phone.Fill("name", "Bo Ek")
		phone.Click("[name=agreed]")
		phone.Click(submitOf("/w/claim"))
		phone.WaitFor(".claimed a.button")
	})
	look(t, phone, "walkin-claimed-known", func() {
		take()
		phone.Fill("phone", "70 412 88 20")
		phone.Fill("name", "Elsa Berg")
		phone.Click("[name=agreed]")
		phone.Click(submitOf("/w/claim"))
		phone.WaitFor(".claimed-middle")
		phone.WaitUntilGone(".claimed a.button")
	})
}
