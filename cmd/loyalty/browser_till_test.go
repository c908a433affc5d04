package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skip2/go-qrcode"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/demo"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/browsertest"
)

// counter is the café's point of sale, and a customer in front of it.
type counter struct {
	*sender
	walkins *walkin.Service
	guest   customer.Customer
}

// counter is one with a new customer of that name and phone number.
func (c cafe) counter(t *testing.T, first, phone string) *counter {
	t.Helper()
	s := c.sender(t, func(d *db.DB) core.Actor {
		business, err := tenant.BySlug(t.Context(), d, demo.Slug)
		if err != nil {
			t.Fatal(err)
		}
		return core.System(business, "test")
	})
	jobs, err := job.New(s.db, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	walkins := walkin.NewService(s.db, jobs, dbtest.Mails(s.db, jobs), c.in.keys(t), transaction.NewService(s.db), func(a string) string { return a })
	return &counter{sender: s, walkins: walkins, guest: s.customer(t, first, phone)}
}

// card is the PIN that the customer's card shows.
func (c *counter) card(t *testing.T) walkin.Shown {
	t.Helper()
	shown, err := c.walkins.ShowCard(t.Context(), walkin.Card{Customer: c.guest}.Actor(c.by.Tenant, "192.0.2.7", ""), c.guest.ID)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// code is the address in the QR code of that PIN.
func (c *counter) code(t *testing.T) string {
	t.Helper()
	return c.address(demo.Slug) + "/till/c/" + c.card(t).Code
}

// sales counts the customer's.
func (c *counter) sales(t *testing.T) (n int64) {
	t.Helper()
	return ask[int64](connect(t, c.in.url()), "select count(*) from loyalty.transaction where customer_id = $1", c.guest.ID)
}

// till is a tablet at the café's point of sale.
func (c *counter) till(t *testing.T, b *browsertest.Browser) *browsertest.Page {
	t.Helper()
	p := b.NewPage(t, c.address(demo.Slug))
	p.Emulate(1180, 820, false)
	c.signIn(t, p, core.Cashier)
	p.Open("/till")
	return p
}

func press(p *browsertest.Page, keys string) {
	for _, k := range keys {
		p.Press(string(k))
	}
}

// "Large targets, no page reloads, every step reachable by keyboard": the amount, the customer
// by phone, and Enter; then the PIN on a customer's card, typed.
func testTillSale(t *testing.T, c cafe) {
	s := c.counter(t, "Astrid", "+46 8 465 004 70")
	p := s.till(t, c.browser)
	press(p, "24500")
	p.Press("Backspace")
	if got := p.Text("[data-digits]"); got != "24.50" {
		t.Fatalf("typed %q", got)
	}
	p.Press("/")
	p.Text("#phone:focus")
	p.Fill("Find by phone", "00470") // shorter than anything that a scanner reads
	p.Press("Enter")                 // takes the only match
	p.WaitFor("Astrid Lindqvist")
	p.WaitFor("+24 points")
	if got := p.Text("[data-digits]"); got != "24.50" {
		t.Errorf("the amount is now %q", got)
	}
	p.Press("Enter")
	p.WaitFor("Sale recorded")
	p.WaitFor("24 points")
	p.Press("Enter")
	p.WaitFor("Find the customer")
	if got := p.Text("[data-digits]"); got != "0.00" {
		t.Errorf("the next sale begins at %q", got)
	}

	// By touch: 7.00, the PIN, which submits at the sixth digit, and Record sale.
	p.Within(".keys").Click("7")
	p.Within(".keys").Click("00")
	p.Fill("Enter PIN", s.card(t).Digits)
	p.WaitFor("Astrid Lindqvist")
	p.Within(".keys").Click("00")
	p.Press("Backspace")
	p.Press("Backspace")
	p.Press("Enter") // records, whichever key was touched last
	p.WaitFor("Sale recorded")
	p.Click("Undo sale")
	p.WaitFor("Sale undone")
	p.Click("Next sale")
	p.WaitFor("Find the customer")

	// × takes the customer away, not the amount; Esc clears what is there, step by step.
	press(p, "950")
	p.Within(".recent").Click("Astrid L.")
	p.WaitFor("+46 8 465 004 70")
	p.Press("Escape")
	p.WaitFor("Find the customer")
	if got := p.Text("[data-digits]"); got != "9.50" {
		t.Errorf("without the customer, the amount is %q", got)
	}
	p.Press("Escape")
	if got := p.Text("[data-digits]"); got != "0.00" {
		t.Errorf("cleared, the amount is %q", got)
	}
	if got := s.sales(t); got != 2 {
		t.Errorf("%d sales were recorded, want 2", got)
	}
}

// "A scan to the customer wherever the focus is" and never into the amount or a field.
func testTillScanner(t *testing.T, c cafe) {
	s := c.counter(t, "Birgit", "+46 8 465 004 71")
	p := s.till(t, c.browser)
	press(p, "350")
	p.Scan(s.code(t))
	p.WaitFor("Birgit Lindqvist")
	if got := p.Text("[data-digits]"); got != "3.50" {
		t.Errorf("after a scan the amount is %q", got)
	}
	p.Press("Escape")
	p.WaitFor("Find the customer")

	// Six digits are a PIN, whatever has the focus; what was typed there stays.
	p.Fill("Find by phone", "08")
	p.Scan(s.card(t).Digits)
	p.WaitFor("Birgit Lindqvist")
	p.Press("Enter")
	p.WaitFor("Sale recorded")

	// On the receipt it begins the next sale.
	p.Scan(s.code(t))
	p.WaitFor("Birgit Lindqvist")
	if got := p.Text("[data-digits]"); got != "0.00" {
		t.Errorf("the next sale begins at %q", got)
	}
	p.Press("Escape")
	p.WaitFor("Find the customer")
	p.Scan("NOT-A-CODE")
	p.WaitFor(walkin.ErrPIN.Message)

	// A phone's own camera opens the point of sale at the customer.
	p.Open(s.code(t))
	p.WaitFor("Birgit Lindqvist")
}

// "Both directions end to end with two browser contexts": the till shows a sale, a phone claims
// it, and the till announces it by itself.
func testTillShows(t *testing.T, c cafe) {
	s := c.counter(t, "Cecilia", "+46 8 465 004 72")
	p := s.till(t, c.browser)
	press(p, "2450")
	p.Click("Let customer scan")
	p.WaitFor("Scan to collect")
	phone := c.page(t)
	phone.Emulate(390, 844, false)
	phone.Open("/w")
	phone.Fill("PIN", strings.Join(strings.Fields(p.Text(".show-digits")), ""))
	phone.Click("Continue")
	p.WaitFor("Customer is entering their details")
	phone.Fill("Phone", "+46 8 465 004 72")
	phone.Click("Collect 24 points")
	p.WaitFor("Cecilia collected 24 points")
	p.Press("Enter")
	p.WaitFor("Find the customer")

	press(p, "100")
	p.Click("Let customer scan")
	p.WaitFor("Scan to collect")
	first := p.Text(".show-digits")
	p.Click("New code")
	p.WaitFor("New code in")
	if again := p.Text(".show-digits"); again == first {
		t.Errorf("the new code is %s as well", again)
	}
	p.Click("Cancel")
	p.WaitFor("Find the customer")
	if got := p.Text("[data-digits]"); got != "1.00" {
		t.Errorf("cancelled, the amount is %q", got)
	}
}

// "The camera by a fake video of our own QR".
func testTillCamera(t *testing.T, c cafe) {
	s := c.counter(t, "Doris", "+46 8 465 004 73")
	video := filepath.Join(t.TempDir(), "camera.y4m")
	film(t, video, "")
	p := s.till(t, browsertest.StartWithCamera(t, video))
	p.Click("Scan customer’s code")
	p.WaitFor("Hold the customer’s code in front of the camera.")
	p.Press("Escape")
	film(t, video, s.code(t))
	p.Click("Scan customer’s code")
	p.WaitFor("Doris Lindqvist")
}

// film writes a video of a QR code on white, or of nothing.
func film(t *testing.T, file, text string) {
	t.Helper()
	const width, height, scale, frames = 640, 480, 8, 3
	light := bytes.Repeat([]byte{235}, width*height)
	if text != "" {
		code, err := qrcode.New(text, qrcode.Medium)
		if err != nil {
			t.Fatal(err)
		}
		rows := code.Bitmap()
		left, top := (width-len(rows)*scale)/2, (height-len(rows)*scale)/2
		if top < 0 {
			t.Fatalf("a code of %d modules is larger than the picture", len(rows))
		}
		for y := range len(rows) * scale {
			for x := range len(rows) * scale {
				if rows[y/scale][x/scale] {
					light[(top+y)*width+left+x] = 16
				}
			}
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "YUV4MPEG2 W%d H%d F10:1 Ip A1:1 C420mpeg2\n", width, height)
	for range frames {
		b.WriteString("FRAME\n")
		b.Write(light)
		b.Write(bytes.Repeat([]byte{128}, width*height/2))
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// "The page says plainly when it is offline and keeps the amount", also across a reload; "a
// confirm that got no answer can be pressed again and records one sale".
func testTillNetwork(t *testing.T, c cafe) {
	s := c.counter(t, "Elin", "+46 8 465 004 74")
	p := s.till(t, c.browser)
	press(p, "1250")
	p.Open("/till")
	if got := p.Text("[data-digits]"); got != "12.50" {
		t.Errorf("after a reload the amount is %q", got)
	}
	p.Fill("Find by phone", "00474")
	p.Click("Find customer")
	p.WaitFor("Elin Lindqvist")
	p.Offline(true)
	p.WaitFor("You’re offline. The amount is kept.")
	p.Click("Record sale")
	p.ConsoleErrors() // the browser's own, of the request that failed
	p.WaitFor("You’re offline. The amount is kept.")
	p.Offline(false)

	// Recorded, but the answer is lost: pressed again, also after a reload.
	p.Lose("/till/sale", func() { p.Click("Record sale") })
	p.WaitFor("No answer from the server. The amount is kept: try again.")
	p.Lose("/till/sale", func() { p.Click("Record sale") })
	if got := s.sales(t); got != 1 {
		t.Errorf("%d sales were recorded, want 1", got)
	}
	p.Open("/till")
	p.Fill("Find by phone", "00474")
	p.Click("Find customer")
	p.WaitFor("Elin Lindqvist")
	p.Click("Record sale")
	p.WaitFor("Sale recorded")
	if got := s.sales(t); got != 1 {
		t.Errorf("after a reload %d sales were recorded, want 1", got)
	}

	// The next sale is another one, of the same amount too.
	p.Click("Next sale")
	press(p, "1250")
	p.Within(".recent").Click("Elin L.")
	p.WaitFor("Elin Lindqvist")
	p.Click("Record sale")
	p.WaitFor("Sale recorded")
	if got := s.sales(t); got != 2 {
		t.Errorf("%d sales were recorded, want 2", got)
	}
}

// "JavaScript off for the typed-PIN path": ordinary fields and buttons, one form.
func testTillWithoutJavaScript(t *testing.T, c cafe) {
	s := c.counter(t, "Frida", "+46 8 465 004 75")
	p := c.page(t)
	p.WithoutJavaScript()
	c.signIn(t, p, core.Cashier)
	p.Open("/till")
	p.Fill("Amount", "24.50")
	p.Fill("Enter PIN", s.card(t).Digits)
	p.Click("Use PIN")
	p.WaitFor("Frida Lindqvist")
	p.Click("Record sale")
	p.WaitFor("Sale recorded")
	p.Click("Next sale")
	p.Fill("Amount", "7")
	p.Fill("Find by phone", "00475")
	p.Press("Enter")
	p.WaitFor("Frida Lindqvist")
	p.Click("Remove customer")
	p.Click("Let customer scan")
	p.WaitFor("Scan to collect")
	p.Click("Cancel")
	p.WaitFor("Find the customer")
}

// Every state of the point of sale: axe, the console, nothing wider than a phone; tablet too.
func testTillPages(t *testing.T, c cafe) {
	s := c.counter(t, "Greta", "+46 8 465 004 76")
	s.send(t, s.coupon(t, fiveOff()), s.guest)
	p := s.till(t, c.browser)
	customerPath := "/till/customers/" + s.guest.ID.String() + "?spend_amount_cents=2450"
	record := func() {
		p.Open(customerPath)
		p.Click("Record sale")
		p.WaitFor("Sale recorded")
	}
	for name, open := range map[string]func(){
		"till-customer": func() { p.Open(customerPath) },
		"till-refused": func() {
			p.Expect(http.StatusUnprocessableEntity)
			p.Open("/till")
			p.Fill("Find by phone", "1")
			p.Click("Find customer")
			p.WaitFor("Enter a phone number or its last 4 digits.")
		},
		"till-none": func() {
			p.Open("/till")
			p.Fill("Find by phone", "+46 8 000 000 00")
			p.Click("Find customer")
			p.WaitFor("No customers match")
		},
		"till-show": func() {
			p.Open("/till?spend_amount_cents=2450")
			p.Click("Let customer scan")
			p.WaitFor("Scan to collect")
		},
		"till-ceiling": func() {
			p.Open("/till/customers/" + s.guest.ID.String() + "?spend_amount_cents=1234500")
			p.Click("Record sale")
			p.WaitFor("Is € 12,345.00 right?")
		},
		"till-receipt": record,
		"till-undone": func() {
			record()
			p.Click("Undo sale")
			p.WaitFor("Sale undone")
		},
	} {
		look(t, p, name, "", open)
		for _, dark := range themes { // on the tablet that it is made for, lying down and upright
			p.Emulate(1180, 820, dark)
			for _, violation := range p.Axe() {
				t.Errorf("%s, tablet, dark %t: %s", name, dark, violation)
			}
			p.Emulate(820, 1180, dark)
			for _, wide := range p.Sideways() {
				t.Errorf("%s on an upright tablet scrolls sideways: %s", name, wide)
			}
		}
	}
}
