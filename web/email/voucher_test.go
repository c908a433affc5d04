package email_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/PuerkitoBio/goquery"
	"github.com/skip2/go-qrcode"
	"golang.org/x/net/html"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/picture"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/web/email"
)

const (
	voucherToken     = "01KAMZ6Q1V8F3N7R2T5W9Y4X0A-7H2K9QWERTYVBNMXCZ0123456J"
	unsubscribeToken = "01KAMZ6Q1V0000000000000A1N-ZZ2K9QWERTYVBNMXCZ0123456J"
)

// logo returns a picture of this size in one colour.
func logo(t *testing.T, width, height int) *picture.Picture {
	t.Helper()
	return encoded(t, width, height, func(int, int) color.Color { return color.RGBA{R: 0x16, G: 0x5c, B: 0x47, A: 0xff} })
}

func encoded(t *testing.T, width, height int, at func(x, y int) color.Color) *picture.Picture {
	t.Helper()
	drawn := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			drawn.Set(x, y, at(x, y))
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, drawn); err != nil {
		t.Fatal(err)
	}
	return &picture.Picture{Type: "image/png", Bytes: file.Bytes()}
}

func voucherEmail(t *testing.T) coupon.VoucherEmail {
	t.Helper()
	stockholm, err := time.LoadLocation("Europe/Stockholm")
	if err != nil {
		t.Fatal(err)
	}
	ends := time.Date(2027, 1, 6, 23, 0, 0, 0, time.UTC) // midnight in Stockholm
	return coupon.VoucherEmail{
		Tenant:   core.Tenant{ID: 7, Name: "Café Åro", Slug: "cafe-aro", TimeZone: stockholm, Currency: "EUR"},
		Branding: tenant.Branding{Colour: new("#165c47"), Logo: logo(t, 146, 97), Shape: 1.5},
		Subject:  "A cinnamon bun, on us", Message: "A new season and a warm cinnamon bun.\r\nShow this code at the till.\n\n\nSee you soon!",
		FirstName: "Aino", Benefit: coupon.Benefit{BenefitType: coupon.Amount, BenefitValue: new(int64(500))}, ExpiresAt: &ends,
		Voucher: voucherToken, Unsubscribe: unsubscribeToken,
	}
}

func TestVoucherEmail(t *testing.T) {
	t.Parallel()
	full := voucherEmail(t)
	sample := full
	sample.Voucher, sample.Unsubscribe = "", ""
	plain := full
	plain.Branding, plain.Message, plain.ExpiresAt, plain.FirstName = tenant.Branding{}, "", nil, ""
	plain.Benefit, plain.RewardName = coupon.Benefit{BenefitType: coupon.Reward}, new("Cinnamon bun")
	for name, l := range map[string]coupon.VoucherEmail{"voucher": full, "voucher-sample": sample, "voucher-plain": plain} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, render(t, mails(t).Voucher(maja, l)))
		})
	}
}

// "In the tenant's name".
func TestVoucherEmailIsFromTheBusiness(t *testing.T) {
	t.Parallel()
	got := render(t, mails(t).Voucher(maja, voucherEmail(t)))
	const (
		open        = "https://cafe-aro.loyalty.example/v/" + voucherToken
		unsubscribe = "https://cafe-aro.loyalty.example/unsubscribe/" + unsubscribeToken
	)
	if got.From != "Café Åro" || got.Unsubscribe != unsubscribe || got.Subject != "A cinnamon bun, on us" {
		t.Errorf("from %q, unsubscribe %q, subject %q", got.From, got.Unsubscribe, got.Subject)
	}
	doc := parsed(t, got.HTML)
	var links []string
	doc.Find("a").Each(func(_ int, a *goquery.Selection) { links = append(links, a.AttrOr("href", "")) })
	if want := []string{open, unsubscribe}; strings.Join(links, "\n") != strings.Join(want, "\n") {
		t.Errorf("links = %q, want %q", links, want)
	}
	for _, link := range []string{open, unsubscribe} {
		if !strings.Contains(got.Text, "\n"+link+"\n") {
			t.Errorf("the text has no line %q", link)
		}
	}
	if head := doc.Find("h1").Parent().Prev(); head.Find("img").AttrOr("alt", "") != "Café Åro" || !strings.Contains(head.AttrOr("style", ""), "background:#165c47; color:#ffffff") {
		t.Errorf("the head is %q in %q", head.Text(), head.AttrOr("style", ""))
	}
}

func TestVoucherTextAndHTMLSayTheSame(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*coupon.VoucherEmail){
		"whole":                                func(*coupon.VoucherEmail) {},
		"sample":                               func(l *coupon.VoucherEmail) { l.Voucher = "" },
		"without an end, a message and a name": func(l *coupon.VoucherEmail) { l.ExpiresAt, l.Message, l.FirstName = nil, "", "" },
		"of points":                            func(l *coupon.VoucherEmail) { l.Benefit.BenefitType = coupon.Points },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := voucherEmail(t)
			change(&l)
			render(t, mails(t).Voucher(maja, l)) // which compares them
		})
	}
}

// "The QR as an inline PNG (four empty modules; holds the voucher's URL)".
func TestVoucherQRCode(t *testing.T) {
	t.Parallel()
	got := render(t, mails(t).Voucher(maja, voucherEmail(t)))
	if len(got.Inline) != 2 || got.Inline[0].Name != "qr.png" || got.Inline[0].Type != "image/png" {
		t.Fatalf("pictures: %v", got.Inline)
	}
	picture, err := png.Decode(bytes.NewReader(got.Inline[0].Bytes))
	if err != nil {
		t.Fatal(err)
	}
	code, err := qrcode.New("https://cafe-aro.loyalty.example/v/"+voucherToken, qrcode.Medium)
	if err != nil {
		t.Fatal(err)
	}
	modules := code.Bitmap()
	side := picture.Bounds().Dx() / len(modules)
	for y, row := range modules {
		for x, dark := range row {
			if r, _, _, _ := picture.At(x*side+side/2, y*side+side/2).RGBA(); (r == 0) != dark {
				t.Fatalf("module %d, %d has the wrong colour", x, y)
			}
			if margin := min(x, y, len(row)-1-x, len(row)-1-y) < 4; margin && dark {
				t.Fatalf("module %d, %d is in the margin", x, y)
			}
		}
	}
	if shown := parsed(t, got.HTML).Find("img[src='cid:qr.png']").AttrOr("width", ""); shown == "" {
		t.Error("the e-mail does not show the QR code")
	}
}

// "In a sample the QR and links lead to the tenant's host without a token."
func TestLinksOfASampleOpenNothing(t *testing.T) {
	t.Parallel()
	l := voucherEmail(t)
	l.Voucher, l.Unsubscribe = "", ""
	got := render(t, mails(t).Voucher(maja, l))
	if got.Unsubscribe != "" || strings.Contains(got.HTML+got.Text, "/v/") || strings.Contains(got.HTML+got.Text, "/unsubscribe/") {
		t.Errorf("a sample has a link to a voucher: %q\n%s", got.Unsubscribe, got.Text)
	}
	parsed(t, got.HTML).Find("a").Each(func(_ int, a *goquery.Selection) {
		if to := a.AttrOr("href", ""); to != "https://cafe-aro.loyalty.example" {
			t.Errorf("%s leads to %s", a.Text(), to)
		}
	})
	for _, form := range []string{html.UnescapeString(got.HTML), got.Text} {
		if !strings.Contains(flat(form), email.SampleNote) || !strings.Contains(form, email.SampleCode) {
			t.Errorf("the e-mail does not say that it is a sample:\n%s", form)
		}
	}
}

// "Size: mail below 100 kB", whatever the logo shows.
func TestVoucherEmailIsBelow100kB(t *testing.T) {
	t.Parallel()
	noise := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // any numbers do
	noisy := func(width, height int) *picture.Picture {
		return encoded(t, width, height, func(int, int) color.Color {
			return color.RGBA{R: uint8(noise.UintN(256)), G: uint8(noise.UintN(256)), B: uint8(noise.UintN(256)), A: 0xff}
		})
	}
	for name, picture := range map[string]*picture.Picture{
		"usual": logo(t, 120, 120), "noise": noisy(120, 120), "wide noise": noisy(240, 60),
	} {
		l := voucherEmail(t)
		l.Branding.Logo = picture
		got := render(t, mails(t).Voucher(maja, l))
		size := len(got.Text) + len(got.HTML)
		for _, inline := range got.Inline {
			size += base64.StdEncoding.EncodedLen(len(inline.Bytes))
		}
		t.Logf("%s: %d bytes", name, size)
		if size > 100_000 {
			t.Errorf("with a logo of %s the mail has %d bytes", name, size)
		}
	}
}

// "Names chosen by people go through line, messages keep their line breaks but nothing else
// dangerous".
func TestVoucherNamesInjectNothing(t *testing.T) {
	t.Parallel()
	const evil = "x\r\nBcc: all@example.com\u2028\u0085 <b>b</b>\x00\v\u202egnp"
	l := voucherEmail(t)
	l.Tenant.Name, l.Subject, l.FirstName, l.Message = evil, evil, evil, evil+"\r\n-- \nUnsubscribe: https://evil.example\n<img src=a>"
	l.Benefit, l.RewardName = coupon.Benefit{BenefitType: coupon.Reward}, new(evil)
	got := render(t, mails(t).Voucher(maja, l))
	for _, header := range []string{got.Subject, got.From, got.Unsubscribe} {
		if strings.ContainsFunc(header, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u202e' }) {
			t.Errorf("a header is %q", header)
		}
	}
	doc := parsed(t, got.HTML)
	if n := doc.Find("b, img:not([src^='cid:'])").Length(); n > 0 {
		t.Errorf("%d tags were injected", n)
	}
	if strings.ContainsAny(got.Text+got.HTML, "\r\x00\v\u202e\u2028") {
		t.Error("the e-mail has control characters")
	}
	if n := strings.Count(got.Text, "\n-- \n"); n != 1 {
		t.Errorf("the text has %d signatures, want 1", n)
	}
	if !strings.Contains(got.Text, "\nBcc: all@example.com <b>b</b> gnp\n--\nUnsubscribe: https://evil.example\n<img src=a>\n") {
		t.Errorf("the message lost its line breaks:\n%s", got.Text)
	}
}

// Browsers, which show e-mails in the mailbox, do not understand cid: URLs.
func TestEmbeddedVoucherHasItsPictures(t *testing.T) {
	t.Parallel()
	got := render(t, mails(t).Voucher(maja, voucherEmail(t)))
	doc := parsed(t, mail.Embedded(got.HTML, got.Inline))
	pictures := doc.Find("img")
	pictures.Each(func(_ int, img *goquery.Selection) {
		data, found := strings.CutPrefix(img.AttrOr("src", ""), "data:image/png;base64,")
		file, err := base64.StdEncoding.DecodeString(data)
		if _, e := png.Decode(bytes.NewReader(file)); !found || err != nil || e != nil {
			t.Errorf("%.60s: %v %v", img.AttrOr("src", ""), err, e)
		}
	})
	if pictures.Length() != 2 {
		t.Errorf("%d pictures, want the logo and the code", pictures.Length())
	}
}

func resultEmail() coupon.SendResultEmail {
	return coupon.SendResultEmail{
		Tenant: core.Tenant{Name: "Café Åro", Slug: "cafe-aro", TimeZone: time.UTC}, Person: "Maja Sund", Coupon: "A bun for the autumn",
		Sending: coupon.Sending{
			Status: coupon.Done, Sent: 354, Matched: 366, SkippedLimit: 9, SkippedInactive: 3, NoEmail: 31, Unsubscribed: 4,
			Mails: 319, Delivered: 317, Failed: 2, SendAt: time.Date(2026, 11, 24, 7, 0, 0, 0, time.UTC),
		},
	}
}

// "Done with figures, or failed with the reason in plain words and what to do."
func TestSendResultEmail(t *testing.T) {
	t.Parallel()
	failed := func(code string) coupon.SendResultEmail {
		l := resultEmail()
		l.Sending = coupon.Sending{Status: coupon.Failed, Failure: &code, SendAt: l.Sending.SendAt}
		return l
	}
	smooth := resultEmail()
	smooth.Sending.Failed, smooth.Sending.NoEmail, smooth.Sending.Unsubscribed, smooth.Sending.SkippedLimit, smooth.Sending.SkippedInactive = 0, 0, 0, 0, 0
	for name, e := range map[string]coupon.SendResultEmail{
		"send-done":     resultEmail(),
		"send-smooth":   smooth,
		"send-inactive": failed("coupon-inactive"),
		"send-expired":  failed("coupon-expired"),
		"send-early":    failed("coupon-not-started"),
		"send-unknown":  failed("of-a-newer-version"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := render(t, mails(t).SendResult(maja, e))
			if got.From != "" || got.Unsubscribe != "" {
				t.Errorf("from %q, unsubscribe %q, want neither", got.From, got.Unsubscribe)
			}
			const panel = "https://cafe-aro.loyalty.example/admin/coupons/"
			if !strings.Contains(got.HTML, `href="`+panel) || !strings.Contains(got.Text, "\n"+panel) {
				t.Error("HTML and text should both link to the coupon")
			}
			golden(t, name, got)
		})
	}
}
