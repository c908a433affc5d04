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
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/transaction"
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

// A new currency before the first sale lists what the owner entered, before and after, and saves nothing until it is
// confirmed; "1 point for every € 1.00" doesn't silently become "every KWD 0.100".
func TestNewCurrencyListsAmounts(t *testing.T) {
	t.Parallel()
	for what, path := range map[string]string{"the settings": business, "the guide": guide + "/business"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.Exec("update loyalty.tenant set confirm_above_cents = 25050 where id = $1", s.By.Tenant.ID)
			s.Type("Food", ledger.Points, transaction.Rule{PointsPerUnit: 1, UnitCents: 100, MinSpendCents: 550})
			s.Coupon(coupon.New{Name: "Welcome", BenefitType: "amount", BenefitValue: new(int64(1999))})
			s.AddReward(reward.New{Name: "Cake", PointsCost: new(int64(10)), CostCents: new(int64(275)), ValueCents: new(int64(490))})
			owner := s.signedIn(core.Owner)
			form := webtest.With(owner.Get(path).Fields("form:has([name=currency])"), "country", "JP", "currency", "JPY")
			asked := owner.Post(path, form)
			wants(t, "listed", asked.Texts("#currency-change li"), []string{
				"Food Now: 1 point for every € 1.00 → Then: 1 point for every ¥ 1",
				"Food Now: € 5.50 minimum spend → Then: ¥ 6 minimum spend (rounded)",
				"Cake Now: Costs you € 2.75 → Then: Costs you ¥ 3 (rounded)",
				"Cake Now: Worth € 4.90 → Then: Worth ¥ 5 (rounded)",
				"Welcome Now: € 19.99 off → Then: ¥ 20 off (rounded)",
				"All sales Now: Confirmed above € 250.50 → Then: Confirmed above ¥ 251 (rounded)",
			})
			if now := owner.Get(business); asked.Code != http.StatusOK || chosen(now, "currency") != "EUR" || now.Value("#field-confirm_above_cents") != "250.50" {
				t.Errorf("asked with %d; the currency is %s, the ceiling %s", asked.Code, chosen(now, "currency"), now.Value("#field-confirm_above_cents"))
			}
			confirmed := asked.Fields("#currency-change")
			button := asked.Find("#currency-change button.btn-primary")
			confirmed.Set(button.AttrOr("name", ""), button.AttrOr("value", ""))
			s.Type("Late", ledger.Points, transaction.Rule{PointsPerUnit: 1, UnitCents: 200})
			again := owner.Post(path, confirmed)
			if got := len(again.Texts("#currency-change li")); got != 7 {
				t.Fatalf("a rule that was created meanwhile isn't listed: %d", got)
			}
			button = again.Find("#currency-change button.btn-primary")
			confirmed.Set(button.AttrOr("name", ""), button.AttrOr("value", ""))
			owner.Submit(path, confirmed)
			if log := owner.Get("/admin/audit").Text("main"); !strings.Contains(log, "€ 250.50") || !strings.Contains(log, "¥ 251") {
				t.Errorf("the audit log says %s", log)
			}
			if now := owner.Get(business); chosen(now, "currency") != "JPY" || chosen(now, "country") != "JP" || now.Value("#field-confirm_above_cents") != "251" {
				t.Errorf("the currency is %s, the ceiling %s", chosen(now, "currency"), now.Value("#field-confirm_above_cents"))
			}
		})
	}
}

// Withdrawn currencies and former names of countries aren't offered. A business that has such a currency keeps it.
func TestChoicesOfToday(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	offered := func(field string) string {
		return strings.Join(owner.Get(business).Texts("#field-"+field+" option"), "\n")
	}
	for _, old := range []string{"HRK", "BGN", "ANG", "CUC", "SLL", "ZWL", "MRO", "VEF"} {
		if strings.Contains(offered("currency"), old) {
			t.Errorf("%s is offered", old)
		}
	}
	for _, name := range []string{"Eswatini", "North Macedonia", "Türkiye", "Czechia", "Cabo Verde"} {
		if !strings.Contains(offered("country"), name) {
			t.Errorf("%s isn't offered", name)
		}
	}
	for _, name := range []string{"Swaziland", "Turkey", "Czech Republic", "Cape Verde", "\nMacedonia", "Burma\n", "Netherlands Antilles"} {
		if strings.Contains(offered("country"), name) {
			t.Errorf("%s is offered", name)
		}
	}
	s.Exec("update loyalty.tenant set currency = 'HRK' where id = $1", s.By.Tenant.ID)
	form := webtest.With(owner.Get(business).Fields("form:has([name=currency])"), "name", "Split")
	if saved := owner.Submit(business, form); chosen(saved, "currency") != "HRK" || saved.Value("#field-name") != "Split" {
		t.Errorf("saved: %s %s", chosen(saved, "currency"), saved.Value("#field-name"))
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
		c, err := s.Tenants.Consent(t.Context(), s.By)
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
