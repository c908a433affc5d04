package portal_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/portal"
	"example.com/loyalty/web/webtest"
)

// "The voucher page: worth largest, state, “Valid until”, “For …”, QR with the code under it,
// “Show this at the till”, days left, the coupon's description."
func TestAValidVoucher(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	v := s.sent(off())
	got := s.browser().Get("/v/" + v.token)
	wellFormed(t, got)
	until := format.LastDay(*v.ExpiresAt, s.By.Tenant.TimeZone)
	if said, want := got.Text("article"), s.By.Tenant.Name+" Valid € 5.00 off your order Valid until "+until+" For Anna Lind<b>qvist "+
		strings.Join(format.CodeGroups(v.ID), " ")+" Show this at the till"; said != want {
		t.Errorf("the voucher says %q, want %q", said, want)
	}
	if said := got.Text(".about"); said != "39 days left Autumn <b> For one order of € 10.00 or more. Not on Sundays." {
		t.Errorf("about it: %q", said)
	}
	want, err := page.QR(s.browser().Origin+"/v/"+v.token, "QR code of this voucher")
	if err != nil {
		t.Fatal(err)
	}
	code := got.Find("article svg.qr")
	if path := code.Find("path").AttrOr("d", ""); path != want.Path || code.AttrOr("aria-label", "") != want.Label {
		t.Errorf("the QR code is another: %s", code.AttrOr("aria-label", ""))
	}
	if strings.Join(format.CodeGroups(v.ID), "") != v.ID.String() {
		t.Errorf("the code is %q", format.CodeGroups(v.ID))
	}
	if small := s.browser().Get("/v/" + strings.ToLower(v.token)); small.Body.String() != got.Body.String() {
		t.Error("in small letters the link shows something else")
	}
}

// The worth comes first for every benefit, and long names are drawn smaller.
func TestTheWorthOfAVoucher(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	name := "A slice of the whole grain cinnamon bun cake"
	cake := s.AddReward(reward.New{Name: name, PointsCost: new(int64(10))})
	for kind, want := range map[string]struct{ worth, size string }{
		"points": {"1,200 points", "large"}, "stamps": {"1,200 stamps", "large"}, "percent": {"20% off your order", "large"},
		"amount": {"€ 12.00 off your order", "large"}, "reward": {name + " for free", "small"},
	} {
		n := coupon.New{Name: "Treat", BenefitType: kind, BenefitValue: new(int64(1200))}
		if kind == "percent" {
			n.BenefitValue = new(int64(20))
		}
		if kind == "reward" {
			n.BenefitValue, n.BenefitRewardID = nil, new(cake)
		}
		got := s.browser().Get("/v/" + s.sent(n).token)
		if said := got.Text(".pass-worth, .pass-what"); said != want.worth || !got.Find(".pass-worth").HasClass(want.size) {
			t.Errorf("%s: %q, want %+v", kind, said, want)
		}
		if said := got.Text(".pass-facts"); said != "For Anna Lind<b>qvist" || got.Find(".left").Length() != 0 {
			t.Errorf("%s that never expires: %q", kind, said)
		}
	}
}

// "Used and expired: state and date, no QR. Inactive coupon or limit reached: says plainly that
// it can't be used at the moment, no QR."
func TestTheStatesOfAVoucher(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	limited := off()
	limited.MaxRedemptions = new(int64(1))
	used := s.sent(limited)
	full := s.sentTo(used.CouponID, s.anna().ID)
	off1 := s.sent(off())
	s.RedeemVoucher(used.ID)
	if _, err := s.Coupons.SetActive(t.Context(), s.By, off1.CouponID, false); err != nil {
		t.Fatal(err)
	}
	valid := s.sent(off())
	zone := s.By.Tenant.TimeZone
	last := valid.ExpiresAt.Add(-time.Minute)
	redeemed, err := s.Coupons.FindVoucher(t.Context(), s.By, used.ID)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		at          *shop
		token       string
		state, says string
		left        string
	}{
		"used":         {s, used.token, "Used", "Used on " + format.Time(*redeemed.RedeemedAt, zone), ""},
		"expired":      {s.at(*valid.ExpiresAt), valid.token, "Expired", "Expired on " + format.Date(last, zone), ""},
		"used earlier": {s.at(valid.ExpiresAt.Add(time.Hour)), used.token, "Used", "Used on " + format.Time(*redeemed.RedeemedAt, zone), ""},
		"limit reached": {
			s, full.token, "Not available now", portal.LimitReached, "39 days left",
		},
		"inactive": {
			s, off1.token, "Not available now", s.By.Tenant.Name + portal.OfferPaused, "39 days left",
		},
		"last day":       {s.at(last), valid.token, "Valid", "", "Last day"},
		"the day before": {s.at(last.AddDate(0, 0, -1)), valid.token, "Valid", "", "1 day left"},
	} {
		got := c.at.browser().Get("/v/" + c.token)
		wellFormed(t, got)
		if said := got.Text(".pass-state"); said != c.state {
			t.Errorf("%s: state %q, want %q", name, said, c.state)
		}
		if said := got.Text(".pass-ended, .pass-words"); said != c.says {
			t.Errorf("%s: says %q, want %q", name, said, c.says)
		}
		if said := got.Text(".left"); said != c.left {
			t.Errorf("%s: %q, want %q", name, said, c.left)
		}
		if codes := got.Find(".qr, .pass-code").Length(); (codes > 0) != (c.state == "Valid") {
			t.Errorf("%s: %d codes", name, codes)
		}
	}
}

// "Unknown, forged, foreign and revoked tokens: one and the same 404 page."
func TestALinkThatIsNone(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	v, theirs := s.sent(off()), other.sent(off())
	gone := s.sent(off())
	s.Exec("update loyalty.customer set link_version = link_version + 1 where id = $1", gone.CustomerID)
	erased := s.sent(off())
	if _, err := s.Privacy.Erase(t.Context(), s.By, erased.CustomerID); err != nil {
		t.Fatal(err)
	}
	ulid, signature, _ := strings.Cut(v.token, "-")
	forged := ulid + "-" + strings.Map(func(r rune) rune {
		if r == '0' {
			return '1'
		}
		return '0'
	}, signature)
	want := s.browser().Ask(http.MethodGet, "/v/nonsense")
	if want.Code != http.StatusNotFound || want.Text("h1") != "This link doesn't work" || want.Text(".card-business") != s.By.Tenant.Name {
		t.Errorf("%d %q", want.Code, want.Text("main"))
	}
	wellFormed(t, want)
	unsubscribe := strings.TrimPrefix(s.unsubscribing(v.CustomerID), "/unsubscribe/")
	for name, path := range map[string]string{
		"an unused ULID":            "/v/01JZZZZZZZZZZZZZZZZZZZZZZZ-" + signature,
		"forged":                    "/v/" + forged,
		"of another voucher":        "/v/" + gone.ID.String() + "-" + signature,
		"of another business":       "/v/" + theirs.token,
		"an erased customer's":      "/v/" + erased.token,
		"to unsubscribe":            "/v/" + unsubscribe,
		"to a voucher":              "/unsubscribe/" + v.token,
		"without a signature":       "/v/" + ulid,
		"cut off":                   "/v/" + v.token[:40],
		"without a token":           "/v/x",
		"with more":                 "/v/" + v.token + "/x",
		"odd bytes":                 "/v/%ff%00",
		"a colour that is none":     "/brand/nonsense.css",
		"a logo that is none":       "/brand/logo/nonsense",
		"another business's, typed": "/unsubscribe/" + strings.TrimPrefix(other.unsubscribing(theirs.CustomerID), "/unsubscribe/"),
	} {
		got := s.browser().Ask(http.MethodGet, path)
		if got.Code != http.StatusNotFound || got.Body.String() != want.Body.String() {
			t.Errorf("%s: %d %q", name, got.Code, got.Text("main"))
		}
		if diff := cmp.Diff(want.Header(), got.Header()); diff != "" {
			t.Errorf("%s: headers (-nonsense +this):\n%s", name, diff)
		}
	}
	if got := s.browser().Ask(http.MethodDelete, "/v/"+v.token); got.Code != http.StatusMethodNotAllowed {
		t.Errorf("DELETE = %d", got.Code)
	}
	s.By.Tenant.Slug = "no-such-business"
	if got := s.browser().Ask(http.MethodGet, "/v/"+v.token); got.Code != http.StatusNotFound || got.Find(".card-business").Length() != 0 || got.Attr(".card-link a", "href") != webtest.Base {
		t.Errorf("at the host of no business: %d %q", got.Code, got.Text("main"))
	}
}

// A link is read as it was meant, however a mail program or a person copied it.
func TestLinksAreReadAsMeant(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	v := s.sent(off())
	unsubscribe := s.unsubscribing(v.CustomerID)
	for _, path := range []string{"/v/" + v.token, unsubscribe} {
		want := s.browser().Ask(http.MethodGet, path)
		if want.Code != http.StatusOK {
			t.Fatalf("%s: %d", path, want.Code)
		}
		for _, copied := range []string{
			strings.Replace(path, "-", "%2D", 1), strings.Replace(path, "-", "%2d", 1), strings.Replace(path, "-", "%E2%80%91", 1), strings.ToLower(path),
			path + ".", path + "/", path + ",", path + ")", path + ">", path + "%3E", path + "%22", path + "%20", path + "%C2%A0", path + ").", path + "=", path + "?", path + ".?utm_source=mail",
			path[:30] + "%E2%80%8B" + path[30:], path[:30] + "%20" + path[30:], strings.Replace(path, "-", "%2D", 1) + "/",
		} {
			if got := s.browser().Ask(http.MethodGet, copied); got.Code != http.StatusOK || got.Text("main") != want.Text("main") {
				t.Errorf("%s: %d %q", copied, got.Code, got.Text("main"))
			}
		}
	}
	oneClick := strings.Replace(unsubscribe, "-", "%2D", 1)
	if got := s.browser().Ask(http.MethodPost, oneClick); got.Code != http.StatusOK {
		t.Errorf("POST %s: %d", oneClick, got.Code)
	}
}

// "No session cookie is set; Cache-Control no-store; noindex; Referrer-Policy no-referrer", and
// nothing on the page needs more than its policy allows. "HEAD works."
func TestPagesArePrivate(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	v := s.sent(off())
	for _, path := range []string{"/v/" + v.token, "/v/nonsense", s.unsubscribing(v.CustomerID)} {
		got := s.browser().Ask(http.MethodGet, path)
		h := got.Header()
		if h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(h.Get("X-Robots-Tag"), "noindex") ||
			h.Get("X-Frame-Options") != "DENY" || got.Find("meta[name=robots][content=noindex]").Length() != 1 {
			t.Errorf("%s: %v", path, h)
		}
		if policy := h.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'; style-src 'self'") || strings.Contains(policy, "script") {
			t.Errorf("%s: %q", path, policy)
		}
		if len(h.Values("Set-Cookie")) != 0 || got.Find("[style], style, script").Length() != 0 {
			t.Errorf("%s: a cookie %q, or styles and scripts of its own", path, h.Values("Set-Cookie"))
		}
		head := s.browser().Ask(http.MethodHead, path)
		if head.Code != got.Code || head.Header().Get("Content-Type") != h.Get("Content-Type") {
			t.Errorf("HEAD %s = %d, GET = %d", path, head.Code, got.Code)
		}
		packed := s.browser().Ask(http.MethodGet, path, "Accept-Encoding", "gzip")
		if packed.Header().Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: %d bytes are not compressed", path, got.Body.Len())
		}
	}
}

// "A suspended tenant's customer pages stay readable."
func TestTheVouchersOfASuspendedBusiness(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	v := s.sent(off())
	s.Exec("update loyalty.tenant set status = 'suspended' where id = $1", s.By.Tenant.ID)
	if got := s.browser().Get("/v/" + v.token).Text(".pass-state"); got != "Valid" {
		t.Errorf("it is %q", got)
	}
	leave := s.unsubscribing(v.CustomerID)
	s.browser().Get(leave)
	if a := s.browser().Post(leave, nil); a.Code >= http.StatusBadRequest {
		t.Errorf("unsubscribing = %d", a.Code)
	}
	// Changes are refused with a message.
	for path, a := range map[string]webtest.Page{
		"/join":    s.browser().Ask(http.MethodGet, "/join"),
		"/w":       s.browser().Post("/w", webtest.Form("pin", "123456")),
		"/w/claim": s.browser().Post("/w/claim", webtest.Form("phone", "070")),
		"the form": s.browser().Post("/join", webtest.Form("first_name", "Elsa", "last_name", "Berg", "phone", "0700000000")),
	} {
		if words := a.Text("main"); a.Code != http.StatusUnprocessableEntity || !strings.Contains(words, portal.Suspended) {
			t.Errorf("%s = %d %q", path, a.Code, words)
		}
	}
}

// "The tenant's colour and logo", kept by browsers for good: another has another address.
func TestTheBrandingOfPages(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	v := s.sent(off())
	const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	s.Exec(`insert into loyalty.tenant_look (tenant_id, colour, logo, logo_type, logo_hash, logo_width, logo_height, updated_at)
		values ($1, '#ffd400', 'a picture', 'image/png', decode($2, 'hex'), 300, 100, now())`, s.By.Tenant.ID, hash)
	got := s.browser().Get("/v/" + v.token)
	style, _ := got.Find("link[rel=stylesheet]").Last().Attr("href")
	css := s.browser().Get(style)
	if !strings.HasPrefix(css.Body.String(), ":root { --brand: #ffd400; --brand-ink: #000000; --tint: #") || css.Header().Get("Content-Type") != "text/css; charset=utf-8" ||
		!strings.Contains(css.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %v %s", style, css.Header(), css.Body)
	}
	// "A wide logo keeps its shape", and replaces the name.
	if width := got.Attr("img.logo", "width"); width != "108" || !got.Find(".pass-business").HasClass("visually-hidden") {
		t.Errorf("the logo is %s pixels wide beside the name", width)
	}
	logo := got.Attr("img.logo", "src")
	if picture := s.browser().Get(logo); picture.Body.String() != "a picture" || picture.Header().Get("Content-Type") != "image/png" ||
		!strings.Contains(picture.Header().Get("Content-Security-Policy"), "sandbox") || !strings.Contains(picture.Header().Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %v", logo, picture.Header())
	}
	if other := newShop(t).browser().Ask(http.MethodGet, logo); other.Code != http.StatusNotFound {
		t.Errorf("another business has the logo: %d", other.Code)
	}
	// What is changed is seen a little later.
	s.Exec("update loyalty.tenant_look set colour = '#165c47' where tenant_id = $1", s.By.Tenant.ID)
	if again, _ := s.browser().Get("/v/" + v.token).Find("link[rel=stylesheet]").Last().Attr("href"); again != style {
		t.Errorf("read again at once: %s", again)
	}
	later := s.at(s.DB.Now().Add(time.Minute))
	if again, _ := later.browser().Get("/v/" + v.token).Find("link[rel=stylesheet]").Last().Attr("href"); !strings.HasPrefix(again, "/brand/165c47.css?v=") {
		t.Errorf("a minute later: %s", again)
	}
}

// signedIn is the browser of a new person of the shop, whose session began an hour ago.
func (s *shop) signedIn(role core.Role) *webtest.Browser {
	s.T.Helper()
	b := s.browser()
	b.SignIn(s.DB, s.As(role).By)
	s.Exec("update loyalty.session set last_seen_at = last_seen_at - interval '1 hour' where staff_id = $1", b.Person.StaffID)
	return b
}

// "A signed-in staff member of that tenant sees a bar “Signed in as … · Redeem this voucher”
// (read the session cookie without writing or renewing it)."
func TestStaffWhoScanAVoucher(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	v := s.sent(off())
	panel := "/admin/vouchers/" + v.ID.String()
	cashier := s.signedIn(core.Cashier)
	session := func() string {
		return shoptest.Query[string](s.Shop, "select s::text from loyalty.session s where staff_id = $1", cashier.Person.StaffID)
	}
	before := session()
	got := cashier.Get("/v/" + v.token)
	if to := got.Attr("aside a", "href"); got.Text("aside") != "Signed in as A cashier "+portal.RedeemVoucher || to != panel {
		t.Errorf("the bar says %q and leads to %q", got.Text("aside"), to)
	}
	if session() != before || len(got.Header().Values("Set-Cookie")) != 0 {
		t.Errorf("the session was written:\n%s\n%s", before, session())
	}
	foreign, nonsense := s.browser(), s.browser()
	foreign.Cookies = other.signedIn(core.Owner).Cookies
	nonsense.SetCookie(auth.SessionCookie, "nonsense")
	for name, b := range map[string]*webtest.Browser{"a customer": s.browser(), "another business's owner": foreign, "nonsense": nonsense} {
		if got := b.Get("/v/" + v.token); got.Find("aside").Length() != 0 {
			t.Errorf("%s sees %q", name, got.Text("aside"))
		}
	}
	s.RedeemVoucher(v.ID)
	if got := cashier.Get("/v/" + v.token).Text("aside a"); got == "" || got == portal.RedeemVoucher {
		t.Errorf("of a used one: %q", got)
	}
}

// "One round trip to the database for customers": what all pages of a business share is read
// for the first of them.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := open(shoptest.In(t, d))
	v := s.sent(off())
	cashier := s.signedIn(core.Cashier)
	unsubscribe := s.unsubscribing(v.CustomerID)
	card := s.card(s.anna())
	buyer := s.anna()
	s.Sale(buyer.ID, s.Points(100), 2450)
	history := s.card(buyer) + "/history"
	var links []string
	for range 3 {
		links = append(links, s.unsubscribing(s.anna().ID))
	}
	for _, c := range []struct {
		name string
		want int
		do   func()
	}{
		{"a voucher", 1, func() { s.browser().Get("/v/" + v.token) }},
		{"a voucher, by staff", 2, func() { cashier.Get("/v/" + v.token) }},
		{"a forged link", 1, func() { s.browser().Ask(http.MethodGet, "/v/"+v.ID.String()+"-00000000000000000000000000") }},
		{"nonsense", 0, func() { s.browser().Ask(http.MethodGet, "/v/nonsense") }},
		{"unsubscribing, asked", 1, func() { s.browser().Get(unsubscribe) }},
		{"unsubscribing", 3, func() {
			s.browser().Ask(http.MethodPost, links[0])
			links = links[1:]
		}},
		{"a forged link to unsubscribe", 0, func() { s.browser().Ask(http.MethodPost, "/unsubscribe/"+v.token) }},
		{"unsubscribed already", 1, func() { s.browser().Ask(http.MethodPost, unsubscribe) }},
		{"a card", 1, func() { s.browser().Get(card) }},
		{"a card's history", 2, func() { s.browser().Get(history) }},
		{"a card's PIN and its signal", 4, func() { s.browser().Post(card+"/pin", nil) }},
		{"how far the PIN is", 2, func() { s.browser().Get(card + "/pin/01JZZZZZZZZZZZZZZZZZZZZZZZ") }},
		{"the page to join", 0, func() { s.browser().Get("/join") }},
		{"a sale to be claimed", 1, func() { s.browser().Ask(http.MethodGet, "/w/0123456789ABCDEFGHJKMNPQRS") }},
		{"the page for a PIN", 0, func() { s.browser().Get("/w") }},
		{"the style sheet", 0, func() { s.browser().Get("/brand/5746d6.css") }},
	} {
		var trips int
		for range 3 { // the first runs prepare statements, and read what pages share
			before := count()
			c.do()
			d.WaitForNotifications()
			trips = count() - before
		}
		if trips != c.want {
			t.Errorf("%s: %d round trips, want %d", c.name, trips, c.want)
		}
	}
	s.pages = open(s.Shop).pages
	before := count()
	s.browser().Get("/v/" + v.token)
	if trips := count() - before; trips > 2 {
		t.Errorf("the first voucher of a business: %d round trips, want 2", trips)
	}
}
