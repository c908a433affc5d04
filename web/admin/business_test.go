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
	"example.com/loyalty/web/webtest"
)

const business = "/admin/settings/business"

// upload is a file in a form.
type upload struct{ field, name, kind, content string }

// upload sends a form with a file, as browsers do.
func (b *browser) upload(path string, fields url.Values, file upload) webtest.Page {
	b.T.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for field := range fields {
		if err := w.WriteField(field, fields.Get(field)); err != nil {
			b.T.Fatal(err)
		}
	}
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {multipart.FileContentDisposition(file.field, file.name)}, "Content-Type": {file.kind},
	})
	if err != nil {
		b.T.Fatal(err)
	}
	if _, err := part.Write([]byte(file.content)); err != nil {
		b.T.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.T.Fatal(err)
	}
	return b.Do(b.Request(http.MethodPost, path, &body, "Content-Type", w.FormDataContentType(), "Sec-Fetch-Site", "same-origin"))
}

// uploadLogo sends the form of the branding with a logo, which says that it is another kind of picture.
func (b *browser) uploadLogo(fields url.Values, content string) webtest.Page {
	b.T.Helper()
	return b.upload(business+"/look", fields, upload{"logo", "logo.png", "image/svg+xml", content})
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

func chosen(a webtest.Page, field string) string {
	return a.Find("#field-"+field+" option[selected]").AttrOr("value", "nothing")
}

// "Settings: business (name, time zone, currency, country, logo, colour)".
func TestBusinessSettings(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	now := owner.Get(business)
	if chosen(now, "timezone") != "Europe/Stockholm" || chosen(now, "country") != "SE" || chosen(now, "currency") != "EUR" || now.Text("#field-country option[selected]") != "Sweden" {
		t.Errorf("it begins with %q %q %q", chosen(now, "timezone"), chosen(now, "country"), chosen(now, "currency"))
	}
	refused := owner.Post(business, webtest.Form("name", " ", "country", "QQ", "timezone", "Mars/Olympus", "currency", "SEK"))
	want := webtest.Message("Name", core.Required) + " " + webtest.Message("Country", core.InvalidChoice) + " " + webtest.Message("Time zone", core.InvalidChoice)
	if got := refused.Text(".invalid-feedback"); refused.Code != http.StatusUnprocessableEntity || got != want || chosen(refused, "currency") != "SEK" {
		t.Errorf("answered %d %q, with %s", refused.Code, got, chosen(refused, "currency"))
	}
	if none := owner.Refused(business, webtest.Form("country", "")); none.Text("#field-country-error") != webtest.MessageOf("country", "Country", core.Required) {
		t.Errorf("without a country: %q", none.Text(".invalid-feedback"))
	}
	saved := owner.Submit(business, webtest.Form("name", "Café <b>Berg</b>", "country", "NZ", "timezone", "Pacific/Auckland", "currency", "SEK"))
	if !saved.Flashed(ui.Done, "") || saved.Text(".navbar-brand") != "Café <b>Berg</b>" ||
		chosen(saved, "timezone") != "Pacific/Auckland" || chosen(saved, "country") != "NZ" || chosen(saved, "currency") != "SEK" {
		t.Errorf("saved %q", saved.Text("body"))
	}
	// An older name of a time zone is kept.
	old := owner.Submit(business, webtest.Form("name", "Café", "country", "IN", "timezone", "Asia/Calcutta", "currency", "INR"))
	if chosen(old, "timezone") != "Asia/Calcutta" || old.Text("#field-currency option[selected]") != "INR (₹)" {
		t.Errorf("with an older name: %q %q", chosen(old, "timezone"), old.Text("#field-currency option[selected]"))
	}
	if got := s.signedIn(core.Owner).Get(business).Find("#field-country option").Length(); got < 200 {
		t.Errorf("%d countries to choose from", got)
	}
}

// Amounts are stored without a currency, so it can't be changed once there are sales.
func TestCurrencyCannotChangeAfterSales(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	owner := s.signedIn(core.Owner)
	s.sold(owner, "10")
	field := owner.Get(business).Find("input#field-currency[readonly]")
	if field.AttrOr("value", "") != "EUR" {
		t.Error("another currency can be selected")
	}
	kept := webtest.Form("name", "Café", "country", "SE", "timezone", "Europe/Stockholm", "currency", "EUR")
	if a := owner.Submit(business, kept); !a.Flashed(ui.Done, "") {
		t.Errorf("saved with the same currency: %q", a.Text("#flashes"))
	}
	kept.Set("currency", "SEK")
	if a := owner.Post(business, kept); a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") != webtest.Message("Currency", core.Violation{Rule: "currency_in_use"}) {
		t.Errorf("answered %d %q", a.Code, a.Text(".invalid-feedback"))
	}
}

var logoAddress = regexp.MustCompile(`/admin/logo/[0-9a-f]{64}`)

// branding is the business's stylesheet, which a page links to.
func (b *browser) branding(a webtest.Page) string {
	b.T.Helper()
	address := a.Attr(`link[href^="/admin/look.css"]`, "href")
	css := b.Get(address)
	if got := css.Header().Get("Content-Type"); got != "text/css; charset=utf-8" {
		b.T.Errorf("the stylesheet is %q", got)
	}
	return css.Body.String()
}

// "Logo, colour": the person who changes them sees them at once, and so do people who are not signed in, but not
// on another business's host.
func TestBranding(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	owner := s.signedIn(core.Owner)
	if css := owner.branding(owner.Get(business)); css != "" {
		t.Errorf("the stylesheet is %q at first, want it empty", css)
	}

	before := owner.Get(business).Attr(`link[href^="/admin/look.css"]`, "href")
	if a := owner.uploadLogo(webtest.Form("colour", " #FFEE00 "), ""); a.Code != http.StatusSeeOther {
		t.Fatalf("the colour alone = %d %q", a.Code, a.Text(".alert"))
	}
	page := owner.Get(business)
	if after := page.Attr(`link[href^="/admin/look.css"]`, "href"); after == before {
		t.Error("the stylesheet's URL is unchanged, so browsers show the cached one")
	}
	if css := owner.branding(page); css != ":root { --brand: #ffee00; --brand-ink: #000000; }\n" {
		t.Errorf("the stylesheet is %q", css)
	}
	if typed := page.Value("#field-colour"); typed != "#ffee00" || page.Find("img").Length() != 0 {
		t.Errorf("the colour field shows %q", typed)
	}

	red := square(t, color.RGBA{200, 0, 0, 255})
	if a := owner.uploadLogo(webtest.Form("colour", "#ffee00"), red); a.Code != http.StatusSeeOther {
		t.Fatalf("the logo = %d %q", a.Code, a.Text(".alert"))
	}
	stranger := s.stranger()
	address := logoAddress.FindString(stranger.branding(stranger.Get("/admin/sign-in")))
	shown := owner.Get(business).Attr("img.logo-preview", "src")
	logo := stranger.Get(address)
	h := logo.Header()
	if address != shown || logo.Body.String() != red || h.Get("Content-Type") != "image/png" || h.Get("X-Content-Type-Options") != "nosniff" ||
		h.Get("Cache-Control") != "private, max-age=31536000, immutable" || !strings.HasPrefix(h.Get("Content-Security-Policy"), "default-src 'none'; sandbox") {
		t.Errorf("the logo: %d bytes, %v", logo.Body.Len(), h)
	}
	if a := other.stranger().Ask(http.MethodGet, address); a.Code != http.StatusNotFound {
		t.Errorf("on another host: %d", a.Code)
	}
	if a := stranger.Ask(http.MethodGet, "/admin/logo/nonsense"); a.Code != http.StatusNotFound {
		t.Errorf("nonsense: %d", a.Code)
	}

	// The logo stays when only the colour changes, and is removed by its checkbox.
	owner.uploadLogo(webtest.Form("colour", ""), "")
	if css := stranger.branding(stranger.Get("/admin/sign-in")); strings.Contains(css, "--brand") || !strings.Contains(css, address) {
		t.Errorf("without a colour: %q", css)
	}
	owner.uploadLogo(webtest.Form("colour", "", "remove_logo", "1"), "")
	if css := stranger.branding(stranger.Get("/admin/sign-in")); css != "" {
		t.Errorf("without a logo: %q", css)
	}
	if a := stranger.Ask(http.MethodGet, address); a.Code != http.StatusNotFound {
		t.Errorf("the old logo: %d", a.Code)
	}
}

// "Uploads (logo, CSV) limited and checked"; the colour in the same form is kept.
func TestRefusedLogos(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	for name, c := range map[string]struct{ file, want string }{
		"a program":   {`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, webtest.Message("Logo", core.Violation{Rule: "picture_type"})},
		"too much":    {square(t, color.White) + strings.Repeat("\x00", 300<<10), webtest.Message("Logo", core.Violation{Rule: "max_kilobytes", Limit: 256})},
		"much more":   {strings.Repeat("\x00", 5<<20), webtest.Message("Logo", core.Violation{Rule: "max_kilobytes", Limit: 256})},
		"not a photo": {"GIF89a", webtest.Message("Logo", core.Violation{Rule: "picture_type"})},
	} {
		a := owner.uploadLogo(webtest.Form("colour", "#112233"), c.file)
		if typed := a.Value("#field-colour"); a.Code != http.StatusUnprocessableEntity || a.Text(".invalid-feedback") != c.want || typed != "#112233" {
			t.Errorf("%s: %d %q, colour %q", name, a.Code, a.Text(".invalid-feedback"), typed)
		}
	}
	if a := owner.uploadLogo(webtest.Form("colour", "red; } body { display: none"), ""); a.Code != http.StatusUnprocessableEntity ||
		a.Text(".invalid-feedback") != webtest.Message("Colour", core.Violation{Rule: "colour"}) {
		t.Errorf("a stylesheet: %d %q", a.Code, a.Text(".invalid-feedback"))
	}
	if a := owner.uploadLogo(nil, strings.Repeat("\x00", 17<<20)); a.Code != http.StatusRequestEntityTooLarge ||
		a.Text(".empty-subtitle") == "" {
		t.Errorf("17 MB: %d %q", a.Code, a.Text("main"))
	}
	if a := owner.uploadLogo(webtest.Form("colour", strings.Repeat("f", 2<<20)), ""); a.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a long colour: %d", a.Code)
	}
	if a := owner.Post(business+"/look", webtest.Form("colour", "#112233")); a.Code != http.StatusBadRequest {
		t.Errorf("a form of another kind: %d %q", a.Code, a.Text("h1"))
	}
	if css := owner.branding(owner.Get(business)); css != "" {
		t.Errorf("the stylesheet is %q", css)
	}
}

// "In business settings: consent text (at most 1,000 characters, empty = default sentence) and
// privacy link (https URL)".
func TestConsentSettings(t *testing.T) {
	t.Parallel()
	const path = business + "/joining"
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	consent := func() string {
		t.Helper()
		c, err := s.services.Tenants.Consent(t.Context(), s.By)
		if err != nil {
			t.Fatal(err)
		}
		return c.Text
	}
	before := consent()
	if !strings.Contains(owner.Get(business).Text("#field-consent_text-help"), before) {
		t.Errorf("the page doesn't say that customers agree to %q", before)
	}
	refused := owner.Post(path, webtest.Form("consent_text", strings.Repeat("x", 1001), "privacy_url", "http://example.com"))
	if refused.Code != http.StatusUnprocessableEntity || refused.Find("#joining .invalid-feedback").Length() != 2 {
		t.Errorf("answered %d %q", refused.Code, refused.Text("#joining .invalid-feedback"))
	}
	saved := owner.Submit(path, webtest.Form("consent_text", "I agree to the <b>rules</b>.", "privacy_url", "https://example.com/privacy"))
	if got := saved.Value("#field-privacy_url"); consent() != "I agree to the <b>rules</b>." || got != "https://example.com/privacy" {
		t.Errorf("saved %q, %q", consent(), got)
	}
	owner.Submit(path, webtest.Form("consent_text", "", "privacy_url", ""))
	if got := consent(); got != before {
		t.Errorf("cleared, customers agree to %q, want %q", got, before)
	}
	if got := s.signedIn(core.Manager).Post(path, webtest.Form("consent_text", "Mine")); got.Code != http.StatusForbidden {
		t.Errorf("a manager: %d", got.Code)
	}
}
