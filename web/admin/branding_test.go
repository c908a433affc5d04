package admin_test

import (
	"image/color"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/web/webtest"
)

var logoAddress = regexp.MustCompile(`/admin/logo/[0-9a-f]{64}`)

const brandingLink = `link[href^="/admin/look.css"]`

// branding is the business's stylesheet, which a page links to; "" if it links to none.
func (b *browser) branding(a webtest.Page) string {
	b.T.Helper()
	if a.Find(brandingLink).Length() == 0 {
		return ""
	}
	address := a.Attr(brandingLink, "href")
	css := b.Get(address)
	if h := css.Header(); h.Get("Content-Type") != "text/css; charset=utf-8" || h.Get("Cache-Control") != "private, max-age=31536000, immutable" {
		b.T.Errorf("the stylesheet has %v", h)
	}
	return css.Body.String()
}

// "The tenant's colour paints buttons, links, navigation, charts": everyone sees them at once on every page
// of the business, also people who aren't signed in, but no other business does.
func TestBranding(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	owner := s.signedIn(core.Owner)
	if css := owner.branding(owner.Get(business)); css != "" {
		t.Errorf("the stylesheet is %q at first, want it empty", css)
	}

	if a := owner.uploadLogo(webtest.Form("colour", " #FFEE00 "), ""); a.Code != http.StatusSeeOther {
		t.Fatalf("the colour alone = %d %q", a.Code, a.Text(".alert"))
	}
	page := owner.Get(business)
	yellow := page.Attr(brandingLink, "href")
	for _, theme := range []string{
		":root, [data-bs-theme=light] { --brand: #ffee00; --brand-ink: #000000;", "--primary: #ffee00; --primary-ink: #000000;", "[data-bs-theme=dark] {",
	} {
		if css := owner.branding(page); !strings.Contains(css, theme) {
			t.Errorf("the stylesheet has no %q: %q", theme, css)
		}
	}
	for who, b := range map[string]*browser{"stranger": s.stranger(), "cashier": s.signedIn(core.Cashier)} {
		for _, path := range []string{"/admin/sign-in", "/admin/customers"} {
			if a := b.Ask(http.MethodGet, path); a.Code == http.StatusOK && b.branding(a) != owner.branding(page) {
				t.Errorf("%s, %s: %q", who, path, b.branding(a))
			}
		}
	}
	if a := other.signedIn(core.Owner); a.branding(a.Get(business)) != "" || a.Get(yellow).Body.Len() != 0 {
		t.Error("another business has the colour")
	}
	// "Its address changes with the colour, so cache it for long": the old address isn't kept.
	owner.uploadLogo(webtest.Form("colour", "#165c47"), "")
	if after := owner.Get(business).Attr(brandingLink, "href"); after == yellow {
		t.Error("the stylesheet's address is unchanged, so browsers show the cached one")
	}
	if a := owner.Get(yellow); a.Header().Get("Cache-Control") != "no-cache" || !strings.Contains(a.Body.String(), "#165c47") {
		t.Errorf("the old address: %v %s", a.Header(), a.Body)
	}
	owner.uploadLogo(webtest.Form("colour", "#ffee00"), "")
	page = owner.Get(business)
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

	// "A wide logo keeps its shape": up to 4:1, and then replaces the name.
	if css := owner.branding(owner.Get(business)); !strings.Contains(css, "--logo-ratio: 1.000;") || strings.Contains(css, ".brand-name") {
		t.Errorf("a square logo: %q", css)
	}
	for width, ratio := range map[int]string{300: "3.000", 900: "4.000"} {
		wide := owner.uploadLogo(webtest.Form("colour", "#ffee00"), rectangle(t, width, 100, color.Black))
		if css := owner.branding(owner.Get(business)); wide.Code != http.StatusSeeOther || !strings.Contains(css, "--logo-ratio: "+ratio+";") || !strings.Contains(css, ".brand-name") {
			t.Errorf("a logo of %d pixels: %q", width, css)
		}
	}
	owner.uploadLogo(webtest.Form("colour", "#ffee00"), red)

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

// "A live preview while choosing": in both themes, for owners, and only in a colour.
func TestBrandingPreview(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	owner := s.signedIn(core.Owner)
	preview := func(colour string) webtest.Page {
		return owner.Ask(http.MethodGet, business+"/look/preview?colour="+url.QueryEscape(colour), "Hx-Request", "true")
	}
	adjusted := func(a webtest.Page) string {
		var themes []string
		a.Find("[data-sample]").Each(func(_ int, sample *goquery.Selection) {
			if sample.Find(".sample-note svg").Length() > 0 {
				themes = append(themes, sample.AttrOr("data-sample", ""))
			}
		})
		return strings.Join(themes, " ")
	}
	for colour, want := range map[string]string{"#FFEE00": "light", "#165c47": "dark", "#808080": "light dark", "": "dark"} {
		a := preview(colour)
		if a.Code != http.StatusOK || a.Find("main").Length() != 0 || adjusted(a) != want || !strings.Contains(a.Attr("#branding-preview", "data-css"), strings.ToLower(colour)) {
			t.Errorf("%q: %d, adjusted in %q", colour, a.Code, adjusted(a))
		}
	}
	for _, bad := range []string{"red", "#fff", "#12345;", "} body { display: none"} {
		if a := preview(bad); a.Code != http.StatusUnprocessableEntity || a.Body.Len() != 0 {
			t.Errorf("%q: %d %s", bad, a.Code, a.Body)
		}
	}
	// Without scripts the page shows what is saved.
	owner.uploadLogo(webtest.Form("colour", "#ffee00"), "")
	page := owner.Get(business)
	if page.Attr("#branding-preview", "data-shown") != "#ffee00" || adjusted(page) != "light" || page.Find("#branding-preview[data-css]").Length() != 0 {
		t.Errorf("the preview shows %q, adjusted in %q", page.Attr("#branding-preview", "data-shown"), adjusted(page))
	}
	if css := owner.branding(page); !strings.Contains(css, "#ffee00") {
		t.Errorf("the stylesheet is %q", css)
	}
	if a := s.signedIn(core.Manager).Ask(http.MethodGet, business+"/look/preview?colour=%23ffee00", "Hx-Request", "true"); a.Code != http.StatusForbidden {
		t.Errorf("for a manager: %d", a.Code)
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
