package admin_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
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
func square(t *testing.T, c color.Color) string { return rectangle(t, 16, 16, c) }

func rectangle(t *testing.T, width, height int, c color.Color) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(img, img.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

func chosen(a webtest.Page, field string) string {
	return a.Find("#field-"+field+" option[selected]").AttrOr("value", "nothing")
}

// A country in which two customers would have the same number is refused with both of them, to merge, in the
// settings and in the setup guide. Merged, the country can be chosen.
func TestCountryWithEqualNumbers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Exec("update loyalty.tenant set country = null where id = $1", s.By.Tenant.ID)
	s.By = core.System(s.By.Tenant, "test") // only people are asked for the country first
	s.By.Tenant.Country = ""
	elsa, twin, nina := s.add("Elsa", "Berg <b>", "070-174 06 05"), s.add("Else", "Berg", "+46 70 174 06 05"), s.add("Nina", "Ek", "070-174 06 06")
	owner := s.signedIn(core.Owner)
	sweden := webtest.Form("name", "Café", "country", "SE", "timezone", "Europe/Stockholm", "currency", "EUR")
	merge := "/admin/customers/" + elsa.ID.String() + "/merge?customer_ulid=" + twin.ID.String()
	for _, path := range []string{business, guide + "/business"} {
		refused := owner.Refused(path, sweden)
		if refused.Find("#field-country-error").Length() != 1 {
			t.Errorf("%s: %q", path, refused.Text("main .alert"))
		}
		wants(t, path, refused.Links("#phone-conflicts a"), []string{"/admin/customers/" + elsa.ID.String(), "/admin/customers/" + twin.ID.String(), merge})
		if got := refused.Text("#phone-conflicts"); !strings.Contains(got, "Elsa Berg <b> 070-174 06 05") || strings.Contains(got, nina.Phone) {
			t.Errorf("%s names %q", path, got)
		}
	}
	if first := owner.Get(business); first.Find("#phone-conflicts").Length() != 0 {
		t.Error("conflicts are shown before a country is refused")
	}
	ask := owner.Get(merge)
	owner.Submit(ask.Attr("main form[method=post]", "action"), ask.Fields("main form[method=post]"))
	if saved := owner.Submit(business, sweden); chosen(saved, "country") != "SE" {
		t.Errorf("after the merge: %q", saved.Text("main .alert"))
	}
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
