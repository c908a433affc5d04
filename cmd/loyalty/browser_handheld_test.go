package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/loyalty/web/browsertest"
)

const (
	notOurs     = "This isn't a customer's code"
	tillProblem = "[data-problem]"
	product     = "1250731086501"
)

// strokes are keys at one pace, in milliseconds a key.
func strokes(keys string, pace int) browsertest.Stroke {
	return browsertest.Stroke{Keys: keys, After: time.Duration(pace) * time.Millisecond}
}

// late is a slow scan whose end reaches the page when it has taken the beginning for the whole.
func late(scan string) []browsertest.Stroke {
	begun, rest := strokes(scan[:11], 55), strokes(scan[11:], 55)
	rest.Late = 400 * time.Millisecond
	return []browsertest.Stroke{begun, rest}
}

// wantStray checks that a scan was looked up and changed nothing. The problem is taken off the page, so that
// the next scan shows its own.
func wantStray(t *testing.T, p *browsertest.Page, what, cents string) {
	t.Helper()
	p.WaitForText(tillProblem, notOurs)
	p.WaitFor("[data-amount]:focus")
	if got := p.Text(amount); got != cents {
		t.Errorf("%s: the amount is %s, want %s", what, got, cents)
	}
	browsertest.Run(p, chromedp.Evaluate[chromedp.Void]("document.querySelector('[data-problem]').remove()"))
}

// "A short code that is scanned" is looked up whatever its length, pace and end, "Scanners that end in Tab, in
// nothing, or type a key each 50–60 ms" too; the amount stays.
func testTillStrayScans(t *testing.T, c cafe) {
	s := c.counter(t, "Hedda", "+46 8 465 004 80")
	p := s.till(t, c.browser)
	scans := []browsertest.Stroke{
		strokes("4711"+kb.Enter, 3), strokes("7"+kb.Enter, 3), strokes("47"+kb.Enter, 3), strokes("471"+kb.Enter, 20), strokes("4711"+kb.Enter, 40), strokes("4711"+kb.Enter, 55),
		strokes(product+kb.Enter, 3), strokes(product+kb.Enter, 60),
		strokes("4711"+kb.Tab, 3), strokes(product+kb.Tab, 3), strokes(product+kb.Tab, 50),
		strokes("4711", 3), strokes(product, 3), strokes(product, 50), strokes(product, 60), strokes(product, 70), strokes(product, 100), strokes("12507310", 60),
		strokes("A/B-4711/12"+kb.Enter, 50),
	}
	for _, cents := range []string{"0.00", "12.50"} {
		p.Open("/till")
		if cents != "0.00" {
			p.Press("1250")
		}
		for _, scan := range scans {
			p.Type(scan)
			wantStray(t, p, fmt.Sprintf("%q at %s a key", scan.Keys, scan.After), cents)
		}
		p.Type(late(product)...)
		wantStray(t, p, "the end of a scan comes late", cents)
	}
	// Right after a person's keys.
	p.Type(strokes("9", 0), strokes("5", 140), strokes("4", 130), strokes("711"+kb.Enter, 3))
	wantStray(t, p, "a scan right after typing", "1,250.95")
	if got := s.sales(t); got != 0 {
		t.Errorf("%d sales were recorded", got)
	}
}

// "Any focused field restored": what was typed there, and the focus.
func testTillScansInFields(t *testing.T, c cafe) {
	s := c.counter(t, "Hilma", "+46 8 465 004 81")
	p := s.till(t, c.browser)
	p.Press("1250")
	for what, scan := range map[string][]browsertest.Stroke{
		"Enter":                 {strokes(product+kb.Enter, 3)},
		"a slow one with Tab":   {strokes(product+kb.Tab, 55)},
		"without an end":        {strokes(product, 3)},
		"a slow one without":    {strokes(product, 55)},
		"four digits":           {strokes("4711"+kb.Enter, 3)},
		"one that ends late":    late(product),
		"with Tab that is late": late(product + kb.Tab),
	} {
		for id, typed := range map[string]string{"phone": "08", "pin": "12"} {
			p.Open("/till")
			p.Fill(id, typed)
			p.Type(scan...)
			p.WaitForText(tillProblem, notOurs)
			if got := p.Text(amount); got != "12.50" {
				t.Errorf("%s in #%s: the amount is %s", what, id, got)
			}
			if got := browsertest.Run(p, chromedp.Evaluate[string]("document.activeElement.id + ' ' + document.activeElement.value")); got != id+" "+typed {
				t.Errorf("%s: focus and value are %q, want %q", what, got, id+" "+typed)
			}
		}
	}
	// A customer's code that has "/" in it, by a slow scanner, jumps to no field.
	p.Open("/till")
	p.Type(strokes(s.code(t)+kb.Enter, 50))
	p.WaitForText(customerName, "Hilma Lindqvist")
	if got := p.Text(amount); got != "12.50" {
		t.Errorf("after a slow scan the amount is %s", got)
	}
	// The digits of a PIN are one by a scanner, too; a longer number is none.
	p.Press(kb.Escape)
	p.WaitFor(finding)
	p.Press("/")
	p.WaitFor("#phone:focus")
	p.Type(strokes(s.card(t).Digits, 55))
	p.WaitForText(customerName, "Hilma Lindqvist")
}

// "For 300 ms after a scan, Enter does nothing", also if the customer is found meanwhile.
func testTillSecondEnter(t *testing.T, c cafe) {
	s := c.counter(t, "Hulda", "+46 8 465 004 82")
	s.send(t, s.coupon(t, fiveOff()), s.guest)
	p := s.till(t, c.browser)
	p.Open("/till/customers/" + s.guest.ID.String())
	voucher := browsertest.Run(p, chromedp.Evaluate[string]("document.querySelector('[name=vouchers]').value"))
	p.Press(kb.Escape)
	p.WaitFor(finding)
	p.Press("1250")
	for _, after := range []int{30, 90, 150, 280} {
		p.Type(strokes(voucher+kb.Enter, 3), strokes(kb.Enter, after))
		p.WaitForText(customerName, "Hulda Lindqvist")
		p.WaitFor(".use:has(:checked)")
		p.Type(strokes(kb.Escape, 0))
		p.WaitFor(finding)
		p.Type(strokes(product+kb.Tab, 3), strokes(kb.Tab+kb.Enter, after/2))
		wantStray(t, p, "two Tabs and Enter", "12.50")
	}
	if got := s.sales(t); got != 0 {
		t.Fatalf("%d sales were recorded by the second Enter", got)
	}
	p.Type(strokes(voucher+kb.Enter, 3))
	p.WaitForText(customerName, "Hulda Lindqvist")
	p.Type(strokes(kb.Enter, 0))
	p.WaitFor(receipt)

	// A product that is scanned on the receipt leaves it there.
	p.Type(strokes(product+kb.Enter, 3))
	p.WaitForText("#trouble", notOurs)
	p.WaitFor(receipt)
	if got := s.sales(t); got != 1 {
		t.Errorf("%d sales were recorded, want 1", got)
	}
}

// A person with a fast keypad still types amounts, phone numbers and PINs.
func testTillFastTyping(t *testing.T, c cafe) {
	s := c.counter(t, "Hanna", "+46 8 465 004 83")
	p := s.till(t, c.browser)
	want := int64(0)
	for name, keys := range map[string][]browsertest.Stroke{
		"80 ms":                      {strokes("2450"+kb.Enter, 80)},
		"70 ms":                      {strokes("2450"+kb.Enter, 70)},
		"120 ms":                     {strokes("2450"+kb.Enter, 120)},
		"with rolls":                 {strokes("2", 0), strokes("4", 110), strokes("5", 25), strokes("0", 120), strokes(kb.Enter, 35)},
		"two at once, Enter at once": {strokes("24", 140), strokes("5", 110), strokes("0"+kb.Enter, 20)},
	} {
		p.Open("/till/customers/" + s.guest.ID.String())
		p.Type(keys...)
		p.WaitForText(receipt, "24.50")
		if want++; s.sales(t) != want {
			t.Errorf("%s: %d sales, want %d", name, s.sales(t), want)
		}
	}
	p.Open("/till")
	p.Focus("phone")
	p.Type(strokes("08465004"+"83"+kb.Enter, 75))
	p.WaitForText(customerName, "Hanna Lindqvist")
	p.Press(kb.Escape)
	p.WaitFor(finding)
	p.Focus("pin")
	p.Type(strokes(s.card(t).Digits, 75))
	p.WaitForText(customerName, "Hanna Lindqvist")

	// Digits of another width or script are digits, in an amount and in a PIN.
	p.Press(kb.Escape)
	p.WaitFor(finding)
	p.Press(kb.Escape)
	for _, key := range "１۵" { // the test's own keyboard has American keys only
		p.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '%c', bubbles: true, cancelable: true }))", key)))
	}
	if got := p.Text(amount); got != "0.15" {
		t.Errorf("other digits: the amount is %s", got)
	}
	p.Fill("pin", fullWidth.Replace(s.card(t).Digits))
	p.WaitForText(customerName, "Hanna Lindqvist")
}

var fullWidth = strings.NewReplacer("0", "０", "1", "１", "2", "２", "3", "３", "4", "４", "5", "５", "6", "６", "7", "７", "8", "８", "9", "９")

// The decision between a scanner and a person, by the times of the keys alone.
func testTillPaces(t *testing.T, c cafe) {
	p := c.counter(t, "Hjalmar", "+46 8 465 004 84").till(t, c.browser)
	const lone, typing = 1000, 120 // ms since the key before
	for _, run := range []struct {
		name string
		text string
		gaps []int // before each character, the last repeats
		end  int   // ms until Enter or Tab; 0 for none
		want string
	}{
		{"a scanner", "4711", []int{lone, 3}, 3, "4711"},
		{"after typing", "4711", []int{typing, 3}, 3, "4711"},
		{"a digit and Enter of a person", "0", []int{lone, 0}, 60, ""},
		{"two digits rolled, then Enter", "50", []int{typing, 30}, 35, ""},
		{"a fast person", "2450", []int{lone, 75}, 75, ""},
		{"the last keys of a fast person", "12450", []int{lone, 140, 60, 60, 60}, 65, ""},
		{"a slow scanner", "4711", []int{lone, 60}, 60, "4711"},
		{"a scanner without a cable that pauses once", "4711000815", []int{lone, 10, 10, 10, 10, 110, 10}, 10, "4711000815"},
		{"a person's digits before a scanner's", "9" + product, []int{lone, 140, 55}, 0, product},
		{"four digits of a fast person, then nothing", "2450", []int{lone, 50}, 0, ""},
		{"no amount has 13 digits", product, []int{lone, 150}, 0, product},
		{"a large amount", "123456789012", []int{lone, 110}, 110, ""},
		{"a name typed fast", "Anders", []int{lone, 55}, 55, ""},
	} {
		times, at := []string{}, 0
		for i := range run.text {
			at += run.gaps[min(i, len(run.gaps)-1)]
			times = append(times, fmt.Sprint(at))
		}
		end := "null"
		if run.end > 0 {
			end = fmt.Sprint(at + run.end)
		}
		call := fmt.Sprintf("((text) => { const at = handheld.find({ text, times: [%s], before: 0 }, %s, true); return at < 0 ? '' : text.slice(at); })(%q)", strings.Join(times, ","), end, run.text)
		if got := browsertest.Run(p, chromedp.Evaluate[string](call)); got != run.want {
			t.Errorf("%s: %q, want %q", run.name, got, run.want)
		}
	}
}
