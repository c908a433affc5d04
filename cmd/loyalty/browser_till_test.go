package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/skip2/go-qrcode"
	"golang.org/x/text/width"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/demo"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/browsertest"
)

// counter is the café's point of sale, and a customer in front of it.
type counter struct {
	*sender
	guest customer.Customer
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
	return &counter{sender: s, guest: s.customer(t, first, phone)}
}

// card is the PIN that the customer's card shows.
func (c *counter) card(t *testing.T) walkin.Shown {
	t.Helper()
	shown, err := c.Walkins.ShowCard(t.Context(), walkin.Card{Customer: c.guest}.Actor(c.by.Tenant, "192.0.2.7", ""), c.guest.ID)
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
	return c.tillOf(t, b, addresses[core.Cashier])
}

// newCashiersTill is one where a sale can be undone: that is only possible for the cashier's last
// sale, and the tests that share a cashier record sales at the same time.
func (c *counter) newCashiersTill(t *testing.T, name, email string) *browsertest.Page {
	t.Helper()
	c.hired(t, core.Cashier, name, email)
	return c.tillOf(t, c.browser, email)
}

func (c *counter) tillOf(t *testing.T, b *browsertest.Browser, email string) *browsertest.Page {
	t.Helper()
	p := b.NewPage(t, c.address(demo.Slug))
	p.Emulate(1180, 820, false)
	c.signInAs(t, p, email)
	p.Open("/till")
	return p
}

// Parts of the point of sale.
const (
	amount       = "[data-digits]"
	finding      = "[data-side=find]" // the side column, without a customer
	customerName = "#who-name"
	recordSale   = "[data-record]"
	letScan      = "[data-let]"
	receipt      = "[data-receipt]"
	undo         = "[action$='/undo'] button"
	nextSale     = "[data-next]"
)

// "Large targets, no page reloads, every step reachable by keyboard": the amount, the customer
// by phone, and Enter; then the PIN on a customer's card, typed.
func testTillSale(t *testing.T, c cafe) {
	s := c.counter(t, "Astrid", "+46 8 465 004 70")
	p := s.newCashiersTill(t, "Vera Lund", "vera@cafearo.example")
	p.Press("24500")
	p.Press(kb.Backspace)
	if got := p.Text(amount); got != "24.50" {
		t.Fatalf("typed %q", got)
	}
	p.Press("/")
	p.WaitFor("#phone:focus")
	p.Fill("phone", "00470") // shorter than anything that a scanner reads
	p.Press(kb.Enter)        // takes the only match
	p.WaitForText(customerName, "Astrid Lindqvist")
	p.WaitForText("#earns", "+24 ")
	if got := p.Text(amount); got != "24.50" {
		t.Errorf("the amount is now %q", got)
	}
	p.Press(kb.Enter)
	p.WaitForText(receipt, "24 ")
	p.Press(kb.Enter)
	p.WaitFor(finding)
	if got := p.Text(amount); got != "0.00" {
		t.Errorf("the next sale begins at %q", got)
	}

	// By touch: 7.00, the PIN, which submits at the sixth digit, and Record sale.
	p.Click("[data-key='7']")
	p.Click("[data-key='00']")
	p.Fill("pin", s.card(t).Digits)
	p.WaitForText(customerName, "Astrid Lindqvist")
	p.Click("[data-key='00']")
	p.Press(kb.Backspace)
	p.Press(kb.Backspace)
	p.Press(kb.Enter) // records, whichever key was touched last
	p.WaitFor(receipt)
	p.Click(undo)
	p.WaitFor(".receipt-voided")
	p.Click(nextSale)
	p.WaitFor(finding)

	// × takes the customer away, not the amount; Esc clears what is there, step by step.
	p.Press("950")
	p.ClickText(".recent button", "Astrid L.")
	p.WaitForText(".who", "+46 8 465 004 70")
	p.Press(kb.Escape)
	p.WaitFor(finding)
	if got := p.Text(amount); got != "9.50" {
		t.Errorf("without the customer, the amount is %q", got)
	}
	p.Press(kb.Escape)
	if got := p.Text(amount); got != "0.00" {
		t.Errorf("cleared, the amount is %q", got)
	}
	if got := s.sales(t); got != 2 {
		t.Errorf("%d sales were recorded, want 2", got)
	}
}

// Digits of another width or script, as a Japanese or Arabic keyboard types them, are digits: in the amount and in
// a PIN.
func testTillDigits(t *testing.T, c cafe) {
	s := c.counter(t, "Aiko", "+46 8 465 004 79")
	p := s.till(t, c.browser)
	for _, key := range []string{"２", "４", "5", "٠"} { // a keyboard that sends them isn't plugged in
		p.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.body.dispatchEvent(new KeyboardEvent('keydown', { key: %q, bubbles: true, cancelable: true }))", key)))
		time.Sleep(150 * time.Millisecond) // as a person types: faster, they would be a scan, which is no amount
	}
	if got := p.Text(amount); got != "24.50" {
		t.Errorf("typed %q", got)
	}
	p.Fill("pin", width.Widen.String(s.card(t).Digits))
	p.WaitForText(customerName, "Aiko Lindqvist")
	p.Press(kb.Enter)
	p.WaitForText(receipt, "24 ")
}

// Two discounts: the amount to pay follows what is typed and ticked, and the receipt says how it was calculated. The
// customer is found by name, and what can be used is seen without scrolling.
func testTillDiscounts(t *testing.T, c cafe) {
	s := c.counter(t, "Hedvig", "+46 8 465 004 77")
	fifth := fiveOff()
	fifth.BenefitType, fifth.BenefitValue, fifth.VoucherValidDays = "percent", new(int64(20)), new(int64(3))
	three := fiveOff()
	three.BenefitValue = new(int64(300))
	s.send(t, s.coupon(t, three), s.guest)
	s.send(t, s.coupon(t, fifth), s.guest)
	p := s.till(t, c.browser)
	p.SetCookie("__Host-till-location", "0") // a location that has closed
	p.Press("450")
	p.Open("/till")
	p.WaitFor(".which-place")
	look(t, p, "till-location", nil)
	p.ClickText(".which-place button", "Södermalm")
	p.WaitForText(amount, "4.50")
	p.WaitForText(".place-name", "Södermalm")
	p.Press(kb.Escape)
	p.Press("/")
	p.WaitFor("#phone:focus")
	p.Fill("phone", "hedvig lind")
	p.Press(kb.Enter)
	p.WaitForText(customerName, "Hedvig Lindqvist")
	if got := p.Text(".uses-head"); !strings.HasSuffix(got, "2 available") {
		t.Errorf("the head says %q", got)
	}
	if got := p.Text(".uses li:first-child"); !strings.Contains(got, "20% off") {
		t.Errorf("first comes %q, want what expires first", got)
	}
	p.Click(".uses li:nth-child(1) label")
	p.Click(".uses li:nth-child(2) label")
	p.WaitForText(".bill", "Enter the amount before discounts")
	p.Press("1000")
	p.WaitForText(".bill", "€ 5.00 € 10.00 − 20% − € 3.00")
	p.WaitForText("[data-record]", "€ 5.00")
	look(t, p, "till-discounts", nil)
	p.Click(".uses li:nth-child(2) label")
	p.WaitForText("[data-record]", "€ 8.00")
	p.Click(".uses li:nth-child(1) label")
	p.WaitForText("[data-record]", "€ 10.00")
	p.Click(".uses li:nth-child(1) label")
	p.Click(".uses li:nth-child(2) label")
	p.WaitForText("[data-record]", "€ 5.00")
	asked := browsertest.Run(p, chromedp.Evaluate[int](`performance.getEntriesByType("resource").filter((r) => r.name.includes("/till/earns")).length`))
	if asked > 10 { // the keys and the clicks
		t.Errorf("the page asked %d times for what the sale earns: an answer asks again", asked)
	}
	p.Click(recordSale)
	p.WaitForText(receipt, "€ 10.00 − 20% − € 3.00")
	look(t, p, "till-discounts-receipt", nil)
}

// "A scan to the customer wherever the focus is" and never into the amount or a field.
func testTillScanner(t *testing.T, c cafe) {
	s := c.counter(t, "Birgit", "+46 8 465 004 71")
	p := s.till(t, c.browser)
	p.Press("350")
	p.Scan(s.code(t))
	p.WaitForText(customerName, "Birgit Lindqvist")
	if got := p.Text(amount); got != "3.50" {
		t.Errorf("after a scan the amount is %q", got)
	}
	p.Press(kb.Escape)
	p.WaitFor(finding)

	// Six digits are a PIN, whatever has the focus; what was typed there stays.
	p.Fill("phone", "08")
	p.Scan(s.card(t).Digits)
	p.WaitForText(customerName, "Birgit Lindqvist")
	p.Press(kb.Enter)
	p.WaitFor(receipt)

	// On the receipt it begins the next sale.
	p.Scan(s.code(t))
	p.WaitForText(customerName, "Birgit Lindqvist")
	if got := p.Text(amount); got != "0.00" {
		t.Errorf("the next sale begins at %q", got)
	}
	p.Press(kb.Escape)
	p.WaitFor(finding)
	p.Scan("NOT-A-CODE")
	p.WaitFor("[data-problem]")

	// A phone's own camera opens the point of sale at the customer.
	p.Open(s.code(t))
	p.WaitForText(customerName, "Birgit Lindqvist")
}

// "Both directions end to end with two browser contexts": the till shows a sale, a phone claims
// it, and the till announces it by itself.
func testTillShows(t *testing.T, c cafe) {
	s := c.counter(t, "Cecilia", "+46 8 465 004 72")
	p := s.till(t, c.browser)
	p.Press("2450")
	p.Click(letScan)
	p.WaitFor(".show-digits")
	phone := c.page(t)
	phone.Emulate(390, 844, false)
	phone.Open("/w")
	phone.Fill("pin", strings.Join(strings.Fields(p.Text(".show-digits")), ""))
	phone.Click(submitOf("/w"))
	p.WaitFor(pinTaken)
	phone.Fill("phone", "+46 8 465 004 72")
	phone.Fill("name", "Cecilia Holm")
	phone.Click("[name=agreed]")
	phone.Click(submitOf("/w/claim"))
	p.WaitForText(receipt, "Cecilia")
	p.WaitForText(receipt, "24 ")
	p.Press(kb.Enter)
	p.WaitFor(finding)

	p.Press("100")
	p.Click(letScan)
	p.WaitFor(".show-digits")
	first := p.Text(".show-digits")
	p.Click("[action$='/renew'] button")
	if again := p.Text(".show-digits"); again == first {
		t.Errorf("the new code is %s as well", again)
	}
	p.Click("[data-cancel]")
	p.WaitFor(finding)
	if got := p.Text(amount); got != "1.00" {
		t.Errorf("cancelled, the amount is %q", got)
	}
}

// "The camera by a fake video of our own QR".
func testTillCamera(t *testing.T, c cafe) {
	s := c.counter(t, "Doris", "+46 8 465 004 73")
	video := filepath.Join(t.TempDir(), "camera.y4m")
	film(t, video, "")
	p := s.till(t, browsertest.Start(t, camera(video)...))
	p.Click("[data-scan]")
	p.WaitFor("#scanner video")
	p.Do(chromedp.Poll[chromedp.Void]("document.querySelector('#scanner video').currentTime > 0")) // it shows a picture
	p.Press(kb.Escape)
	film(t, video, s.code(t))
	p.Click("[data-scan]")
	p.WaitForText(customerName, "Doris Lindqvist")
}

// camera are the flags of a browser whose camera shows a video file, which is read when a page
// opens the camera. Pages get the camera without a question.
func camera(video string) []chromedp.ExecAllocatorOption {
	return []chromedp.ExecAllocatorOption{
		chromedp.Flag("use-fake-device-for-media-stream", true),
		chromedp.Flag("use-fake-ui-for-media-stream", true),
		chromedp.Flag("use-file-for-fake-video-capture", video),
	}
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
	p.Press("1250")
	p.Open("/till")
	if got := p.Text(amount); got != "12.50" {
		t.Errorf("after a reload the amount is %q", got)
	}
	p.Fill("phone", "00474")
	p.Click("[data-find]")
	p.WaitForText(customerName, "Elin Lindqvist")
	offline(p, true)
	p.WaitFor("#offline")
	p.Click(recordSale)
	p.Faults() // the browser's own, of the request that failed
	p.WaitFor("#offline")
	offline(p, false)
	p.WaitUntilGone("#offline")

	// Recorded, but the answer is lost: pressed again, also after a reload.
	recordAndLoseAnswer(t, p)
	p.WaitFor("#offline")
	recordAndLoseAnswer(t, p)
	if got := s.sales(t); got != 1 {
		t.Errorf("%d sales were recorded, want 1", got)
	}
	p.Open("/till")
	p.Fill("phone", "00474")
	p.Click("[data-find]")
	p.WaitForText(customerName, "Elin Lindqvist")
	p.Click(recordSale)
	p.WaitFor(receipt)
	if got := s.sales(t); got != 1 {
		t.Errorf("after a reload %d sales were recorded, want 1", got)
	}

	// The next sale is another one, of the same amount too.
	p.Click(nextSale)
	p.Press("1250")
	p.ClickText(".recent button", "Elin L.")
	p.WaitForText(customerName, "Elin Lindqvist")
	p.Click(recordSale)
	p.WaitFor(receipt)
	if got := s.sales(t); got != 2 {
		t.Errorf("%d sales were recorded, want 2", got)
	}
}

// offline cuts the page off from the network, or connects it again.
func offline(p *browsertest.Page, off bool) {
	p.Connect(network.OverrideNetworkStateParams{Offline: off, DownloadThroughput: -1, UploadThroughput: -1})
}

// recordAndLoseAnswer has the server record a sale, and the page see a broken connection.
func recordAndLoseAnswer(t *testing.T, p *browsertest.Page) {
	t.Helper()
	loseResponse(t, p, "*/till/sale", recordSale)
	p.WaitFor("#offline")
	p.Faults() // the browser's own, of that request
}

// "JavaScript off for the typed-PIN path": ordinary fields and buttons, one form.
func testTillWithoutJavaScript(t *testing.T, c cafe) {
	s := c.counter(t, "Frida", "+46 8 465 004 75")
	p := c.page(t)
	p.DisableScripts()
	c.signIn(t, p, core.Cashier)
	p.Open("/till")
	p.Fill("amount", "24.50")
	p.Fill("pin", s.card(t).Digits)
	p.Click("#pin ~ button, .row:has(#pin) > button")
	p.WaitForText(customerName, "Frida Lindqvist")
	p.Click(recordSale)
	p.WaitFor(receipt)
	p.Click(nextSale)
	p.Fill("amount", "7")
	p.Fill("phone", "+46 8 465 004 75")
	p.Press(kb.Enter)
	p.WaitForText(customerName, "Frida Lindqvist")
	p.Click("[data-leave]")
	p.Click(letScan)
	p.WaitFor(".show-digits")
	p.Click("[data-cancel]")
	p.WaitFor(finding)
}

// Every state of the point of sale: axe, the console, nothing wider than a phone; tablet too.
func testTillPages(t *testing.T, c cafe) {
	s := c.counter(t, "Greta", "+46 8 465 004 76")
	voucher, _ := s.send(t, s.coupon(t, fiveOff()), s.guest)
	p := s.newCashiersTill(t, "Ivar Dahl", "ivar@cafearo.example")
	customerPath := "/till/customers/" + s.guest.ID.String() + "?spend_amount_cents=2450"
	record := func() {
		p.Open(customerPath)
		p.Click(recordSale)
		p.WaitFor(receipt)
	}
	for name, open := range map[string]func(){
		"till-customer": func() { p.Open(customerPath) },
		"till-refused": func() {
			p.Open("/till")
			p.Fill("phone", "1")
			p.Click("[data-find]")
			p.WaitFor("[data-problem]")
		},
		"till-none": func() {
			p.Open("/till")
			p.Fill("phone", "+46 8 000 000 00")
			p.Click("[data-find]")
			p.WaitFor(".found-none")
		},
		"till-show": func() {
			p.Open("/till?spend_amount_cents=2450")
			p.Click(letScan)
			p.WaitFor(".show-digits")
		},
		"till-ceiling": func() {
			p.Open("/till/customers/" + s.guest.ID.String() + "?spend_amount_cents=1234500")
			p.Click(recordSale)
			p.WaitForText(".ask", "12,345.00")
		},
		"till-receipt": record,
		"till-undone": func() {
			record()
			p.Click(undo)
			p.WaitFor(".receipt-voided")
		},
	} {
		look(t, p, name, open)
		p.Emulate(1180, 820, false) // on the tablet that it is made for, lying down and upright
		for _, violation := range p.Axe("") {
			t.Errorf("%s on a tablet: %s", name, violation)
		}
		testOverflow(t, p, 820)
		p.Emulate(1180, 820, false)
	}
	// A checkout with a reward and a voucher: its last receipt, undone, and on the panel's page of the sale.
	p.Open("/till/customers/" + s.guest.ID.String() + "?spend_amount_cents=50000")
	p.Click(recordSale)
	p.WaitFor(receipt)
	cheapest := ask[core.ID](connect(t, c.in.url()), `select id from loyalty.reward where tenant_id = $1 and points_cost < 500 and active
		and stock is null order by points_cost, id limit 1`, s.by.Tenant.ID)
	p.Open(customerPath + "&rewards=" + cheapest.String() + "&vouchers=" + voucher.ID.String())
	p.Click(recordSale)
	p.WaitFor(".used")
	look(t, p, "till-last", func() { p.Open("/till/last"); p.WaitFor(".used") })
	look(t, p, "till-undone-used", func() { p.Click(undo); p.WaitFor(".used s") })
	sale := strings.TrimPrefix(p.Path(), "/till/receipts/")
	look(t, p, "transaction-used", func() { p.Open("/admin/transactions/" + sale); p.WaitFor("#used") })
}
