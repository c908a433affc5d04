package page_test

import (
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/web/page"
)

// A name that is written from right to left doesn't turn the text beside it, and direction marks are left out.
func TestNamesAreIsolated(t *testing.T) {
	t.Parallel()
	for html, want := range map[string]string{
		"<p>Anna · 3 points</p>":                      "<p>Anna · 3 points</p>",
		"<p>مها · 3 points</p>":                       "<p><bdi>مها</bdi> · 3 points</p>",
		"<p>Voucher of مها الفهد, 24 left</p>":        "<p>Voucher of <bdi>مها الفهد</bdi>, 24 left</p>",
		"<p>“مقهى 24 النخيل” 12</p>":                  "<p>“<bdi>مقهى 24 النخيل</bdi>” 12</p>",
		"<b>נועה</b> and <i>מאיה</i>":                 "<b><bdi>נועה</bdi></b> and <i><bdi>מאיה</bdi></i>",
		"מים and ברד":                                 "<bdi>מים</bdi> and <bdi>ברד</bdi>",
		"<p>Undo \u202egnp.exe?</p>":                  "<p>Undo <bdi>gnp.exe</bdi>?</p>",
		"<p>a\u2067b\u2069 c\u200f \u061c.</p>":       "<p><bdi>ab c</bdi> .</p>",
		"<p>Bo\u202e &amp; &lt;Ek&gt;</p>":            "<p><bdi>Bo</bdi> &amp; &lt;Ek&gt;</p>",
		`<a title="Open \u202eBo" href="/x">Bo</a>`:   `<a title="Open Bo" href="/x">Bo</a>`,
		`<input value="` + "\u202e" + `Bo" name="n">`: `<input value="` + "\u202e" + `Bo" name="n">`,
		"<textarea>\u202eBo</textarea>\u202eEk":       "<textarea>\u202eBo</textarea><bdi>Ek</bdi>",
		"<title>\u202eBo مها</title>":                 "<title>Bo مها</title>",
		"<option value=1>\u202eBo</option>":           "<option value=1>Bo</option>",
		"<svg><text>\u202eBo</text></svg>\u202eEk":    "<svg><text>Bo</text></svg><bdi>Ek</bdi>",
		"<bdi><mark>مه</mark>ا</bdi> مها":             "<bdi><mark>مه</mark>ا</bdi> <bdi>مها</bdi>",
		"<P CLASS=x>مها<BR/>x":                        "<P CLASS=x><bdi>مها</bdi><BR/>x",
		"<!doctype html><!-- \u202e --><p>":           "<!doctype html><!-- \u202e --><p>",
	} {
		html, want = strings.ReplaceAll(html, `\u202e`, "\u202e"), strings.ReplaceAll(want, `\u202e`, "\u202e")
		if got := string(page.Isolated([]byte(html))); got != want {
			t.Errorf("%+q\n got %+q\nwant %+q", html, got, want)
		}
	}
	for r := range rune(0x3000) {
		text := "<p>Bo" + string(r) + "Ek</p>"
		if got := string(page.Isolated([]byte(text))); core.HasDirectionMark(got) {
			t.Errorf("%+q has a direction mark", got)
		}
	}
}
