package admin_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/views/ui"
)

const business = "/admin/settings/business"

// upload sends a form with a file, as browsers do.
func (b *browser) upload(path string, fields url.Values, name, file string) answer {
	b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for field := range fields {
		if err := w.WriteField(field, fields.Get(field)); err != nil {
			b.t.Fatal(err)
		}
	}
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="` + name + `"; filename="logo.png"`}, "Content-Type": {"image/svg+xml"},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := part.Write([]byte(file)); err != nil {
		b.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.t.Fatal(err)
	}
	return b.ask(http.MethodPost, path, &body, "Content-Type", w.FormDataContentType(), "Sec-Fetch-Site", "same-origin")
}

// square returns a PNG of one colour.
func square(t *testing.T, c color.Color) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 16, 16))
	for i := range 16 * 16 {
		img.Set(i%16, i/16, c)
	}
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

func (a answer) chosen(field string) string {
	return a.Find("#field-"+field+" option[selected]").AttrOr("value", "nothing")
}

// "Settings: business (name, time zone, currency, country, logo, colour)".
func TestBusinessSettings(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	now := owner.get(business)
	if now.chosen("timezone") != "Europe/Stockholm" || now.chosen("country") != "SE" || now.chosen("currency") != "EUR" || now.words("#field-country option[selected]") != "Sweden" {
		t.Errorf("it begins with %q %q %q", now.chosen("timezone"), now.chosen("country"), now.chosen("currency"))
	}
	refused := owner.post(business, form("name", " ", "country", "QQ", "timezone", "Mars/Olympus", "currency", "SEK"))
	want := says("Name", core.Required) + " " + says("Country", core.InvalidChoice) + " " + says("Time zone", core.InvalidChoice)
	if got := refused.words(".invalid-feedback"); refused.Code != http.StatusUnprocessableEntity || got != want || refused.chosen("currency") != "SEK" {
		t.Errorf("answered %d %q, with %s", refused.Code, got, refused.chosen("currency"))
	}
	saved := owner.posted(business, form("name", "Café <b>Berg</b>", "country", "", "timezone", "Pacific/Auckland", "currency", "SEK"))
	if !saved.flashed(ui.Done, "") || saved.words(".navbar-brand") != "Café <b>Berg</b>" ||
		saved.chosen("timezone") != "Pacific/Auckland" || saved.chosen("country") != "" || saved.chosen("currency") != "SEK" {
		t.Errorf("saved %q", saved.words("body"))
	}
	// An older name of a time zone is kept.
	old := owner.posted(business, form("name", "Café", "country", "IN", "timezone", "Asia/Calcutta", "currency", "INR"))
	if old.chosen("timezone") != "Asia/Calcutta" || old.words("#field-currency option[selected]") != "INR (₹)" {
		t.Errorf("with an older name: %q %q", old.chosen("timezone"), old.words("#field-currency option[selected]"))
	}
	if got := s.signedIn(t, core.Owner).get(business).Find("#field-country option").Length(); got < 200 {
		t.Errorf("%d countries to choose from", got)
	}
}

// Amounts are stored without a currency, so it can't be changed once there are sales.
func TestCurrencyCannotChangeAfterSales(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	owner := s.signedIn(t, core.Owner)
	s.sold(owner, "10")
	field := owner.get(business).Find("input#field-currency[readonly]")
	if field.AttrOr("value", "") != "EUR" {
		t.Error("another currency can be selected")
	}
	kept := form("name", "Café", "country", "SE", "timezone", "Europe/Stockholm", "currency", "EUR")
	if a := owner.posted(business, kept); !a.flashed(ui.Done, "") {
		t.Errorf("saved with the same currency: %q", a.words("#flashes"))
	}
	kept.Set("currency", "SEK")
	if a := owner.post(business, kept); a.Code != http.StatusUnprocessableEntity || a.words(".invalid-feedback") != says("Currency", core.Violation{Rule: "currency_in_use"}) {
		t.Errorf("answered %d %q", a.Code, a.words(".invalid-feedback"))
	}
}

var logoAddress = regexp.MustCompile(`/admin/logo/[0-9a-f]{64}`)

// branding is the business's stylesheet, which a page links to.
func (a answer) branding(b *browser) string {
	b.t.Helper()
	address, _ := a.Find(`link[href^="/admin/look.css"]`).Attr("href")
	css := b.get(address)
	if got := css.Header().Get("Content-Type"); got != "text/css; charset=utf-8" {
		b.t.Errorf("the stylesheet is %q", got)
	}
	return css.Body.String()
}

// "Logo, colour": the person who changes them sees them at once, and so do people who are not signed in, but not
// on another business's host.
func TestBranding(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	owner := s.signedIn(t, core.Owner)
	if css := owner.get(business).branding(owner); css != "" {
		t.Errorf("the stylesheet is %q at first, want it empty", css)
	}

	before, _ := owner.get(business).Find(`link[href^="/admin/look.css"]`).Attr("href")
	if a := owner.upload(business+"/look", form("colour", " #FFEE00 "), "logo", ""); a.Code != http.StatusSeeOther {
		t.Fatalf("the colour alone = %d %q", a.Code, a.words(".alert"))
	}
	page := owner.get(business)
	if after, _ := page.Find(`link[href^="/admin/look.css"]`).Attr("href"); after == before {
		t.Error("the stylesheet's URL is unchanged, so browsers show the cached one")
	}
	if css := page.branding(owner); css != ":root { --brand: #ffee00; --brand-ink: #000000; }\n" {
		t.Errorf("the stylesheet is %q", css)
	}
	if typed, _ := page.Find("#field-colour").Attr("value"); typed != "#ffee00" || page.Find("img").Length() != 0 {
		t.Errorf("the colour field shows %q", typed)
	}

	red := square(t, color.RGBA{200, 0, 0, 255})
	if a := owner.upload(business+"/look", form("colour", "#ffee00"), "logo", red); a.Code != http.StatusSeeOther {
		t.Fatalf("the logo = %d %q", a.Code, a.words(".alert"))
	}
	stranger := s.stranger(t)
	address := logoAddress.FindString(stranger.get("/admin/sign-in").branding(stranger))
	shown, _ := owner.get(business).Find("img.logo-preview").Attr("src")
	logo := stranger.get(address)
	h := logo.Header()
	if address != shown || logo.Body.String() != red || h.Get("Content-Type") != "image/png" || h.Get("X-Content-Type-Options") != "nosniff" ||
		h.Get("Cache-Control") != "private, max-age=31536000, immutable" || !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'; sandbox") {
		t.Errorf("the logo: %d bytes, %v", logo.Body.Len(), h)
	}
	if a := other.stranger(t).ask(http.MethodGet, address, nil); a.Code != http.StatusNotFound {
		t.Errorf("on another host: %d", a.Code)
	}
	if a := stranger.ask(http.MethodGet, "/admin/logo/nonsense", nil); a.Code != http.StatusNotFound {
		t.Errorf("nonsense: %d", a.Code)
	}

	// The logo stays when only the colour changes, and is removed by its checkbox.
	owner.upload(business+"/look", form("colour", ""), "logo", "")
	if css := stranger.get("/admin/sign-in").branding(stranger); strings.Contains(css, "--brand") || !strings.Contains(css, address) {
		t.Errorf("without a colour: %q", css)
	}
	owner.upload(business+"/look", form("colour", "", "remove_logo", "1"), "logo", "")
	if css := stranger.get("/admin/sign-in").branding(stranger); css != "" {
		t.Errorf("without a logo: %q", css)
	}
	if a := stranger.ask(http.MethodGet, address, nil); a.Code != http.StatusNotFound {
		t.Errorf("the old logo: %d", a.Code)
	}
}

// "Uploads (logo, CSV) limited and checked"; the colour in the same form is kept.
func TestRefusedLogos(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	for name, c := range map[string]struct{ file, want string }{
		"a program":   {`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, says("Logo", core.Violation{Rule: "picture_type"})},
		"too much":    {square(t, color.White) + strings.Repeat("\x00", 300<<10), says("Logo", core.Violation{Rule: "max_kilobytes", Limit: 256})},
		"much more":   {strings.Repeat("\x00", 5<<20), says("Logo", core.Violation{Rule: "max_kilobytes", Limit: 256})},
		"not a photo": {"GIF89a", says("Logo", core.Violation{Rule: "picture_type"})},
	} {
		a := owner.upload(business+"/look", form("colour", "#112233"), "logo", c.file)
		if typed, _ := a.Find("#field-colour").Attr("value"); a.Code != http.StatusUnprocessableEntity || a.words(".invalid-feedback") != c.want || typed != "#112233" {
			t.Errorf("%s: %d %q, colour %q", name, a.Code, a.words(".invalid-feedback"), typed)
		}
	}
	if a := owner.upload(business+"/look", form("colour", "red; } body { display: none"), "logo", ""); a.Code != http.StatusUnprocessableEntity ||
		a.words(".invalid-feedback") != says("Colour", core.Violation{Rule: "colour"}) {
		t.Errorf("a stylesheet: %d %q", a.Code, a.words(".invalid-feedback"))
	}
	if a := owner.upload(business+"/look", nil, "logo", strings.Repeat("\x00", 17<<20)); a.Code != http.StatusRequestEntityTooLarge ||
		a.words(".empty-subtitle") == "" {
		t.Errorf("17 MB: %d %q", a.Code, a.words("main"))
	}
	if a := owner.upload(business+"/look", form("colour", strings.Repeat("f", 2<<20)), "logo", ""); a.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a long colour: %d", a.Code)
	}
	if a := owner.post(business+"/look", form("colour", "#112233")); a.Code != http.StatusBadRequest {
		t.Errorf("a form of another kind: %d %q", a.Code, a.words("h1"))
	}
	if css := owner.get(business).branding(owner); css != "" {
		t.Errorf("the stylesheet is %q", css)
	}
}

// "In business settings: consent text (at most 1,000 characters, empty = default sentence) and
// privacy link (https URL)".
func TestConsentSettings(t *testing.T) {
	t.Parallel()
	const path = business + "/joining"
	s := newShop(t)
	owner := s.signedIn(t, core.Owner)
	consent := func() string {
		t.Helper()
		c, err := s.Tenants.Consent(t.Context(), s.by)
		if err != nil {
			t.Fatal(err)
		}
		return c.Text
	}
	before := consent()
	if !strings.Contains(owner.get(business).words("#field-consent_text-help"), before) {
		t.Errorf("the page doesn't say that customers agree to %q", before)
	}
	refused := owner.post(path, form("consent_text", strings.Repeat("x", 1001), "privacy_url", "http://example.com"))
	if refused.Code != http.StatusUnprocessableEntity || refused.Find("#joining .invalid-feedback").Length() != 2 {
		t.Errorf("answered %d %q", refused.Code, refused.words("#joining .invalid-feedback"))
	}
	saved := owner.posted(path, form("consent_text", "I agree to the <b>rules</b>.", "privacy_url", "https://example.com/privacy"))
	if got := saved.Find("#field-privacy_url").AttrOr("value", ""); consent() != "I agree to the <b>rules</b>." || got != "https://example.com/privacy" {
		t.Errorf("saved %q, %q", consent(), got)
	}
	owner.posted(path, form("consent_text", "", "privacy_url", ""))
	if got := consent(); got != before {
		t.Errorf("cleared, customers agree to %q, want %q", got, before)
	}
	if got := s.signedIn(t, core.Manager).post(path, form("consent_text", "Mine")); got.Code != http.StatusForbidden {
		t.Errorf("a manager: %d", got.Code)
	}
}
