package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/web/browsertest"
)

// background is the computed colour of an element's background.
func background(p *browsertest.Page, selector string) string {
	return browsertest.Run(p, chromedp.Evaluate[string]("getComputedStyle(document.querySelector(`"+selector+"`)).backgroundColor"))
}

// wideLogo is a logo of 4:1 with a transparent ground.
func wideLogo(t *testing.T) []byte {
	t.Helper()
	picture := image.NewNRGBA(image.Rect(0, 0, 640, 160))
	for _, bar := range []image.Rectangle{image.Rect(20, 20, 140, 140), image.Rect(190, 50, 620, 110)} {
		draw.Draw(picture, bar, image.NewUniform(color.NRGBA{R: 0xb0, G: 0x30, B: 0x20, A: 0xff}), image.Point{}, draw.Src)
	}
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// "The tenant's colour paints buttons, links, navigation, charts …, with contrast corrected automatically in both
// themes; a live preview while choosing": in the colours that are hardest to read on.
func testBranding(t *testing.T, c cafe) {
	w := c.walkins(t, "Bageri Solsidan", "#5746d6")
	aino := w.customer(t, "Aino", "+46 8 465 004 71")
	w.complete(t, nil, aino.ID, 9_900)
	const email = "sol@cafearo.example"
	c.hiredAt(t, w.by.Tenant.ID, core.Owner, "Sol Dahl", email)
	p := c.browser.NewPage(t, w.home())
	c.signInAs(t, p, email)

	const (
		saved   = "#look [type=submit]"
		light   = "#branding-preview [data-sample=light]"
		dark    = "#branding-preview [data-sample=dark]"
		yellow  = "rgb(255, 238, 0)"
		product = "rgb(87, 70, 214)"
	)
	p.Open("/admin/settings/business")
	p.Fill("colour", "#ffee00")
	p.WaitFor("#branding-preview[data-shown='#ffee00']")
	p.WaitForText(light+" .sample-note", "Adjusted for readable text")
	for selector, want := range map[string]string{
		light + " .btn": yellow, dark + " .btn": yellow, light + " .sample-mail-head": yellow, dark + " .sample-mail-head": yellow, saved: product,
	} {
		if got := background(p, selector); got != want {
			t.Errorf("%s in the preview is %s, want %s", selector, got, want)
		}
	}
	look(t, p, "branding-preview", nil)
	p.Click(saved)
	p.WaitFor(done)
	if got := background(p, saved); got != yellow {
		t.Errorf("the button that saves it is %s then", got)
	}

	stranger := c.browser.NewPage(t, w.home())
	settings := w.Tenants
	for _, branding := range []struct {
		name string
		edit tenant.SettingsEdit
	}{
		{"yellow", tenant.SettingsEdit{Colour: core.Set("#ffee00")}},
		{"black", tenant.SettingsEdit{Colour: core.Set("#000000")}},
		{"wide", tenant.SettingsEdit{Colour: core.Set("#ffffff"), Logo: core.Set(wideLogo(t))}},
	} {
		if _, err := settings.EditSettings(t.Context(), w.by, branding.edit); err != nil {
			t.Fatal(err)
		}
		look(t, p, "branded-dashboard-"+branding.name, func() { p.Open("/admin") })
		look(t, p, "branded-form-"+branding.name, func() { p.Open("/admin/types/new") })
		look(t, p, "branded-till-"+branding.name, func() { p.Open("/till?spend_amount_cents=2450") })
		look(t, stranger, "branded-sign-in-"+branding.name, func() { stranger.Open("/admin/sign-in") })
	}
	p.Open("/admin")
	shape := browsertest.Run(p, chromedp.Evaluate[[]float64]("(({ width, height }) => [width, height])(document.querySelector('.navbar-brand .brand-mark').getBoundingClientRect())"))
	if shape[0] != 4*shape[1] || p.Text(".navbar-brand") == "" {
		t.Errorf("the logo is %v beside %q", shape, p.Text(".navbar-brand"))
	}
}
