package portal_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/portal"
	"example.com/loyalty/web/webtest"
)

const (
	till     = "a till"
	fragment = "Hx-Request"
)

// counter is a shop with a till: a point for each whole 1.00.
type counter struct {
	*shop
	cashier core.Actor
	kind    transaction.Type // of its sales
}

func newCounter(t *testing.T) counter {
	t.Helper()
	s := newShop(t)
	return counter{s, s.As(core.Cashier).By, s.Points(100)}
}

// later is the counter after a while.
func (s counter) later(d time.Duration) counter {
	s.T.Helper()
	return counter{s.at(s.DB.Now().Add(d)), s.cashier, s.kind}
}

// standStill stops the clock of the pages, and returns the instant it shows: what they say of the time left then
// doesn't depend on how long they take.
func (s *shop) standStill() time.Time {
	s.T.Helper()
	instant := s.DB.Now()
	s.config.Now = func() time.Time { return instant }
	s.pages = portal.New(s.config)
	return instant
}

// card is the path of a customer's card.
func (s *shop) card(who customer.Customer) string {
	s.T.Helper()
	token, err := s.config.Walkins.CardToken(s.By.Tenant.ID, who)
	if err != nil {
		s.T.Fatal(err)
	}
	return "/card/" + token
}

// shows has the card show a PIN, and returns its digits and where its state is.
func (s *shop) shows(path string) (digits, state string) {
	s.T.Helper()
	a := s.browser().Post(path+"/pin", nil, fragment, "true")
	pin := a.Find("[data-pin]")
	if a.Code != http.StatusOK || pin.AttrOr("data-state", "") != "waiting" {
		s.T.Fatalf("%d %s", a.Code, a.Text("body"))
	}
	return strings.ReplaceAll(a.Text(".pin-digits"), " ", ""), pin.AttrOr("data-refresh", "")
}

// take has the till take a PIN.
func (s counter) take(digits string) walkin.TakenCard {
	s.T.Helper()
	held, err := s.config.Walkins.TakeCard(s.T.Context(), s.cashier, till, walkin.Key{Digits: digits})
	if err != nil {
		s.T.Fatal(err)
	}
	return held
}

// complete has the till complete a sale with a PIN that it took.
func (s counter) complete(pin core.ID, cents int64) {
	s.T.Helper()
	_, err := core.Result(s.config.Walkins.Complete(s.T.Context(), s.cashier, till, walkin.Sale{
		Sold: &transaction.Sale{TransactionTypeID: s.kind.ID, SpendAmountCents: cents}, PIN: &pin,
	}, nil, nil))
	if err != nil {
		s.T.Fatal(err)
	}
}

// "The customer's card page … shows name, balance, affordable rewards, vouchers": what is
// ready, then vouchers, then what is next.
func TestCard(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna()
	s.Sale(anna.ID, s.kind, 12_450)
	for name, cost := range map[string]int64{"Filter coffee": 80, "Cinnamon bun": 200, "Sold out": 10} {
		n := reward.New{Name: name, PointsCost: new(cost)}
		if name == "Sold out" {
			n.Stock = new(int64(0))
		}
		s.AddReward(n)
	}
	coupon := s.Coupon(off())
	held := s.sentTo(coupon.ID, anna.ID)
	got := s.browser().Get(s.card(anna))
	wellFormed(t, got)
	for selector, want := range map[string]string{
		".wallet-name": "Anna Lind<b>qvist", ".wallet-balance": "124 points", ".wallet-next": "76 points to Cinnamon bun",
		".button-code": "Show my code", ".bar-business": s.By.Tenant.Name,
	} {
		if words := got.Text(selector); words != want {
			t.Errorf("%s: %q, want %q", selector, words, want)
		}
	}
	var rows []string
	for _, row := range got.Find(".rows li").EachIter() {
		rows = append(rows, webtest.Page{Document: goquery.NewDocumentFromNode(row.Nodes[0])}.Text("b, .row-text > span, .ready, .to-go"))
	}
	if len(rows) != 3 || rows[0] != "Filter coffee 80 points Ready" || !strings.HasPrefix(rows[1], "€ 5.00 off your order Voucher, until") || rows[2] != "Cinnamon bun 200 points 76 to go" {
		t.Errorf("below: %q", rows)
	}
	if to := got.Attr(".rows a", "href"); s.browser().Get(to).Text(".pass-code") == "" || !strings.Contains(to, held.ID.String()) {
		t.Errorf("the voucher leads to %s", to)
	}
	if got.Find("[data-pin]").Length() != 0 || len(got.Header().Values("Set-Cookie")) != 0 {
		t.Error("opening the card shows a PIN, or sets a cookie")
	}
}

// A customer who collects stamps sees stamps.
func TestCardOfStamps(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.AddReward(reward.New{Name: "Tenth coffee", StampsCost: new(int64(10))})
	anna := s.anna()
	s.Adjust(anna.ID, ledger.Stamps, 4)
	got := s.browser().Get(s.card(anna))
	if got.Text(".wallet-balance") != "4 stamps" || got.Text(".wallet-next") != "6 stamps to Tenth coffee" {
		t.Errorf("%q %q", got.Text(".wallet-balance"), got.Text(".wallet-next"))
	}
	s.Sale(anna.ID, s.kind, 300)
	if got := s.browser().Get(s.card(anna)).Text(".wallet-balance"); got != "3 points 4 stamps" {
		t.Errorf("with points: %q", got)
	}
	// The next reward is one of the unit that is shown first, however near another is.
	s.AddReward(reward.New{Name: "Cinnamon bun", PointsCost: new(int64(200))})
	if got := s.browser().Get(s.card(anna)).Text(".wallet-next"); got != "197 points to Cinnamon bun" {
		t.Errorf("with points to save for: %q", got)
	}
}

// "GET shows no PIN by itself: opening a link must not replace a PIN"; "The card page shows
// QR and PIN with a countdown …, and on taking says “at the till” and stops renewing, then
// “+12 points”."
func TestCodeOfACard(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	pages := s.standStill()
	anna := s.anna()
	path := s.card(anna)
	shown := s.browser().Post(path+"/pin", nil, fragment, "true")
	pin := shown.Find("[data-pin]")
	state := pin.AttrOr("data-refresh", "")
	began := shoptest.Query[time.Time](s.Shop, "select created_at from loyalty.pin where customer_id = $1", anna.ID)
	ends := shoptest.Query[time.Time](s.Shop, "select expires_at from loyalty.pin where customer_id = $1", anna.ID)
	if lives := ends.Sub(began); lives != 90*time.Second {
		t.Errorf("a PIN lives %s", lives)
	}
	left := strconv.Itoa(int(math.Ceil(ends.Sub(pages).Seconds())))
	if seconds := pin.AttrOr("data-seconds", ""); seconds != left || !strings.HasPrefix(pin.AttrOr("data-renew", ""), path+"/pin?after=") || pin.AttrOr("data-live", "") != state+"/events" {
		t.Errorf("a PIN for %s s, want %s: %s", seconds, left, shown.Body)
	}
	if shown.Find("html > head").Children().Length() != 0 || shown.Find("#card[data-live-target]").Length() != 1 || shown.Find(".pin .qr").Length() != 1 {
		t.Errorf("the fragment is no fragment, or has no QR code: %s", shown.Body)
	}
	s.browser().Get(path)
	s.browser().Get(path + "/print")
	if again := s.browser().Ask(http.MethodGet, path+"/pin"); again.Code != http.StatusSeeOther || again.Header().Get("Location") != path {
		t.Errorf("opening the button's address: %d", again.Code)
	}
	if still := s.browser().Ask(http.MethodGet, state, fragment, "true", "X-Poll", "1"); still.Code != http.StatusNoContent {
		t.Errorf("nothing has changed: %d %s", still.Code, still.Body)
	}
	held := s.take(strings.ReplaceAll(shown.Text(".pin-digits"), " ", ""))
	taken := s.browser().Ask(http.MethodGet, state, fragment, "true")
	pin = taken.Find("[data-pin]")
	if pin.AttrOr("data-state", "") != "taken" || pin.AttrOr("data-renew", "none") != "none" || taken.Text("[data-pin-say]") != "At the till…" || taken.Find(".qr").Length() != 0 {
		t.Errorf("taken: %s", taken.Body)
	}
	s.complete(held.PIN, 1250)
	used := s.browser().Ask(http.MethodGet, state, fragment, "true")
	if used.Text("[data-pin-say]") != "+12 points" || used.Text(".wallet-balance") != "12 points" || used.Find("[data-pin]").Length() != 0 {
		t.Errorf("completed: %q, %q", used.Text("[data-pin-say]"), used.Text(".wallet-balance"))
	}
}

// "A new one replaces it": the other screen says so and shows no further one by itself.
func TestCodeOnTwoScreens(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.card(s.anna())
	_, first := s.shows(path)
	_, second := s.shows(path)
	replaced := s.browser().Ask(http.MethodGet, first, fragment, "true")
	if replaced.Text("[data-pin-say]") != "A newer code is on another screen" || replaced.Find("[data-pin]").Length() != 0 {
		t.Errorf("replaced: %s", replaced.Body)
	}
	id := func(state string) string { return state[strings.LastIndex(state, "/")+1:] }
	if renewed := s.browser().Post(path+"/pin?after="+id(first), nil, fragment, "true"); renewed.Text("[data-pin-say]") != "A newer code is on another screen" {
		t.Errorf("the replaced one renews itself: %s", renewed.Body)
	}
	if still := s.browser().Ask(http.MethodGet, second, fragment, "true"); still.Code != http.StatusNoContent {
		t.Fatalf("the newer one was replaced: %s", still.Body)
	}
	expired := s.later(91*time.Second).browser().Ask(http.MethodGet, second, fragment, "true")
	if expired.Text("[data-pin-say]") != "This code has expired" || expired.Find("[data-pin]").Length() != 0 {
		t.Errorf("expired: %s", expired.Body)
	}
	if renewed := s.later(91*time.Second).browser().Post(path+"/pin?after="+id(second), nil, fragment, "true"); renewed.Find("[data-pin][data-state=waiting]").Length() != 1 {
		t.Errorf("the expired one doesn't renew itself: %s", renewed.Body)
	}
	digits, second := s.shows(path)
	s.take(digits)
	given := s.later(6*time.Minute).browser().Ask(http.MethodGet, second, fragment, "true")
	if given.Text("[data-pin-say]") != "This code has expired" {
		t.Errorf("taken and not completed: %s", given.Body)
	}
	gone := s.browser().Ask(http.MethodGet, path+"/pin/01JZZZZZZZZZZZZZZZZZZZZZZZ")
	if gone.Code != http.StatusOK || gone.Text("[data-pin-say]") != "This code has expired" {
		t.Errorf("of which nothing is left: %d", gone.Code)
	}
}

// "Without script the page with the PIN is answered as a whole, with a “Refresh” link."
func TestCodeWithoutScript(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.card(s.anna())
	if form := s.browser().Get(path).Find("form[method=post]"); form.AttrOr("action", "") != path+"/pin" {
		t.Fatalf("the form posts to %q", form.AttrOr("action", ""))
	}
	asked := time.Now()
	shown := s.browser().Post(path+"/pin", nil)
	passed := int(time.Since(asked).Seconds()) // on a slow machine
	if shown.Code != http.StatusOK || shown.Find("head title").Length() != 1 || len(shown.Text(".pin-digits")) != 7 {
		t.Fatalf("%d %s", shown.Code, shown.Text("body"))
	}
	var left int
	if _, err := fmt.Sscanf(shown.Text("[data-pin-left]"), "Valid for %d s", &left); err != nil || left > 90 || left < 90-passed {
		t.Errorf("after %d s it says %q", passed, shown.Text("[data-pin-left]"))
	}
	state := shown.Attr("[data-pin]", "data-refresh")
	if refresh := shown.Find("noscript").Text(); !strings.Contains(refresh, `href="`+state+`"`) || !strings.Contains(refresh, "Refresh") {
		t.Errorf("without scripts there is %q", refresh)
	}
	if got := s.browser().Get(state); got.Text(".code-title") != "Your code hasn't been used yet" || got.Text(".button-code") != "Show a new code" {
		t.Errorf("refreshed: %q", got.Text(".wallet-code"))
	}
}

// An inactive customer earns and redeems nothing, and is told so.
func TestCodeOfAnInactiveCustomer(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna()
	if _, err := s.Customers.Edit(t.Context(), s.By, anna.ID, customer.Edit{Status: core.Set("inactive")}); err != nil {
		t.Fatal(err)
	}
	path := s.card(anna)
	want := portal.InactiveCard
	if got := s.browser().Get(path); got.Text(".wallet-code") != want {
		t.Errorf("the card says %q", got.Text(".wallet-code"))
	}
	if got := s.browser().Post(path+"/pin", nil); got.Code != http.StatusUnprocessableEntity || got.Text(".wallet-code") != want {
		t.Errorf("%d %s", got.Code, got.Text(".wallet-code"))
	}
}

// Forms of other sites show no PIN: it would replace the one at the till.
func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.card(s.anna())
	_, state := s.shows(path)
	for _, to := range []string{path + "/pin", "/join", "/join/find", "/w", "/w/0123456789ABCDEFGHJKMNPQRS", "/w/claim"} {
		if got := s.browser().Ask(http.MethodPost, to, "Sec-Fetch-Site", "cross-site"); got.Code != http.StatusForbidden {
			t.Errorf("%s: %d", to, got.Code)
		}
		if got := s.browser().Ask(http.MethodPost, to, "Sec-Fetch-Site", "same-site"); got.Code != http.StatusForbidden {
			t.Errorf("%s from a neighbour: %d", to, got.Code)
		}
	}
	if still := s.browser().Ask(http.MethodGet, state, fragment, "true"); still.Code != http.StatusNoContent {
		t.Error("the PIN was replaced")
	}
}

// "One cross-tenant test per resource: the stranger gets 404."
func TestACardOfAnotherBusiness(t *testing.T) {
	t.Parallel()
	s, other := newCounter(t), newCounter(t)
	anna, theirs := s.anna(), s.anna()
	path, foreign := s.card(anna), s.card(theirs)
	_, state := s.shows(path)
	id := state[strings.LastIndex(state, "/")+1:]
	want := other.browser().Ask(http.MethodGet, "/card/nonsense")
	for _, to := range []string{path, path + "/history", path + "/print", path + "/picture.png", path + "/manifest.webmanifest", state, state + "/events", path + "x"} {
		got := other.browser().Ask(http.MethodGet, to)
		if got.Code != http.StatusNotFound || got.Body.String() != want.Body.String() {
			t.Errorf("another business's %s: %d", to, got.Code)
		}
	}
	if got := other.browser().Post(path+"/pin", nil); got.Code != http.StatusNotFound {
		t.Errorf("another business shows a PIN: %d", got.Code)
	}
	if got := s.browser().Get(foreign + "/pin/" + id); got.Text("[data-pin-say]") != "This code has expired" {
		t.Errorf("another customer's PIN: %q", got.Text("[data-pin-say]"))
	}
}

// "`script-src 'self'`, `connect-src 'self'`, `manifest-src 'self'` only on the pages that
// have a script. Pages without keep `default-src 'none'`."
func TestOnlyPagesWithAScriptMayRunOne(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.card(s.anna())
	for to, scripts := range map[string]int{path: 2, path + "/history": 0, path + "/print": 1, "/join": 1, "/join/find": 1, "/w": 1} {
		got := s.browser().Get(to)
		policy := got.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "script-src 'self'") != (scripts > 0) {
			t.Errorf("%s: %s", to, policy)
		}
		if got.Find("script[src]").Length() != scripts || got.Find("script:not([src]), [style], [onclick]").Length() != 0 {
			t.Errorf("%s has other scripts or styles than its policy allows", to)
		}
		if got.Header().Get("Cache-Control") != "no-store" || got.Header().Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", to, got.Header())
		}
	}
}

// "The card page offers “save as picture” and prints on a plain page"; "web app manifest and
// icons, so the POS and the card can sit on a home screen".
func TestACardToKeep(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	path := s.card(s.anna())
	page := s.browser().Get(path)
	picture := s.browser().Get(page.Attr("a[download]", "href"))
	drawn, err := png.Decode(bytes.NewReader(picture.Body.Bytes()))
	if err != nil || drawn.Bounds().Dx() != 900 || !strings.Contains(picture.Header().Get("Content-Disposition"), `"card.png"`) {
		t.Errorf("the picture: %v, %v", err, picture.Header())
	}
	printed := s.browser().Get(path + "/print")
	if printed.Text("article h1") != "Anna Lind<b>qvist" || printed.Find("article .qr").Length() != 1 {
		t.Errorf("on paper: %q", printed.Text("article"))
	}
	var manifest struct {
		Name     string `json:"name"`
		StartURL string `json:"start_url"`
		Display  string `json:"display"`
		Icons    []struct{ Src, Sizes string }
	}
	answered := s.browser().Get(page.Attr("link[rel=manifest]", "href"))
	if err := json.Unmarshal(answered.Body.Bytes(), &manifest); err != nil || answered.Header().Get("Content-Type") != "application/manifest+json" {
		t.Fatalf("%v: %s", err, answered.Body)
	}
	if manifest.StartURL != path || manifest.Name != s.By.Tenant.Name || manifest.Display != "standalone" || len(manifest.Icons) != 3 {
		t.Errorf("the manifest: %+v", manifest)
	}
	for _, icon := range manifest.Icons {
		drawn, err := png.DecodeConfig(bytes.NewReader(s.browser().Get(icon.Src).Body.Bytes()))
		if size := icon.Sizes; err != nil || !strings.HasPrefix(size, "192") && drawn.Width != 512 {
			t.Errorf("%s is %d wide: %v", icon.Src, drawn.Width, err)
		}
	}
	for _, none := range []string{"/brand/icon/165c47-100.png", "/brand/icon/165c4-192.png", "/brand/icon/zzzzzz-192.png", "/brand/icon/" + strings.Repeat("ab", 32) + "-192.png"} {
		if got := s.browser().Ask(http.MethodGet, none); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d", none, got.Code)
		}
	}
}

// A stranger's request draws nothing in another colour, or from another business's logo: only the business's own
// colour and logo have addresses, at once after a change.
func TestOnlyTheOwnBrandingHasAddresses(t *testing.T) {
	t.Parallel()
	s, neighbour := newShop(t), newShop(t)
	now := s.DB.Now()
	s.config.Now = func() time.Time { return now }
	s.pages = portal.New(s.config)
	status := func(path string) int { return s.browser().Ask(http.MethodGet, path).Code }
	want := func(code int, paths ...string) {
		t.Helper()
		for _, path := range paths {
			if got := status(path); got != code {
				t.Errorf("%s: %d, want %d", path, got, code)
			}
		}
	}
	product, own := []string{"/brand/5746d6.css", "/brand/icon/5746d6-512.png"}, []string{"/brand/165c47.css", "/brand/icon/165c47-180.png", "/brand/icon/165c47-192.png"}
	want(http.StatusOK, product...)
	want(http.StatusNotFound, own...)
	want(http.StatusNotFound, "/brand/icon/5746d6-513.png", "/brand/icon/5746d6-0512.png", "/brand/icon/5746D6-512.png", "/brand/icon/-512.png", "/brand/.css")

	now = now.Add(2 * time.Second) // pages have the business as it was for ten seconds
	edited, err := s.config.Tenants.EditSettings(t.Context(), s.By, tenant.SettingsEdit{Colour: core.Set("#165c47"), Logo: core.Set(shoptest.Picture())})
	s.Check(err)
	theirs, err := s.config.Tenants.EditSettings(t.Context(), neighbour.By, tenant.SettingsEdit{Logo: core.Set(asPNG(t, 30, 20))})
	s.Check(err)
	want(http.StatusOK, own...)
	want(http.StatusNotFound, product...)
	want(http.StatusOK, "/brand/icon/"+*edited.LogoHash+"-192.png", "/brand/logo/"+*edited.LogoHash)
	want(http.StatusNotFound, "/brand/icon/"+*theirs.LogoHash+"-192.png", "/brand/icon/"+*edited.LogoHash+"-100.png")
}

// asPNG returns a picture of this size.
func asPNG(t *testing.T, width, height int) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewRGBA(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// While a business draws too much, its pages say so, with the time to wait; other businesses' pages and what was
// drawn before are shown.
func TestPagesWaitForDrawings(t *testing.T) {
	t.Parallel()
	s, neighbour := newCounter(t), newCounter(t)
	pages, hold := portal.NewImpatient(s.config)
	s.pages, neighbour.pages = pages, pages
	drawn, undrawn := s.card(s.anna())+"/picture.png", s.card(s.anna())
	before := s.browser().Get(drawn)
	leave, err := hold(t.Context(), s.By.Tenant.ID)
	s.Check(err)
	for _, path := range []string{undrawn + "/picture.png", undrawn + "/print", "/brand/icon/5746d6-512.png"} {
		got := s.browser().Ask(http.MethodGet, path)
		if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" || got.Text("h1") != "Too busy" {
			t.Errorf("%s: %d %v %q", path, got.Code, got.Header(), got.Text("main"))
		}
	}
	if again := s.browser().Get(drawn); !bytes.Equal(again.Body.Bytes(), before.Body.Bytes()) {
		t.Error("a picture that was drawn before is another")
	}
	neighbour.browser().Get(neighbour.card(neighbour.anna()) + "/picture.png")
	leave()
	s.browser().Get(undrawn + "/picture.png")
}

// "Staff who scan a customer's card with their phone's camera are led to the customer at the till."
func TestStaffWhoScanACard(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	anna := s.anna()
	if to := s.signedIn(core.Cashier).Get(s.card(anna)).Attr("aside a", "href"); to != "/till/customers/"+anna.ID.String() {
		t.Errorf("they are led to %q", to)
	}
}

// A PIN has four streams. A fifth is answered without one, so that its page polls, until one of them ends.
func TestAPINHasFourStreams(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	server := httptest.NewServer(s.pages)
	defer server.Close()
	_, state := s.shows(s.card(s.anna()))
	open := func() (status int, leave func()) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+state+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = s.By.Tenant.Slug + ".loyalty.example"
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer.StatusCode, cancel
	}
	_, leaveFirst := open()
	for range 3 {
		status, leave := open()
		defer leave()
		if status != http.StatusOK {
			t.Fatalf("a stream is %d", status)
		}
	}
	if status, leave := open(); status != http.StatusNoContent {
		t.Errorf("a fifth stream is %d, want 204", status)
	} else {
		leave()
	}
	leaveFirst()
	for {
		status, leave := open()
		leave()
		if status == http.StatusOK {
			return
		}
		time.Sleep(time.Millisecond) // until the server has seen that the first one left
	}
}

// "Reports at once when it was used": server-sent events over LISTEN and NOTIFY.
func TestEventsOfACode(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go s.config.Live.Run(ctx, s.DB)
	server := httptest.NewServer(s.pages)
	defer server.Close()
	digits, state := s.shows(s.card(s.anna()))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+state+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = s.By.Tenant.Slug + ".loyalty.example"
	r.Header.Set("Accept-Encoding", "gzip")
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	if stream.Header.Get("Content-Type") != "text/event-stream" || stream.Header.Get("Content-Encoding") != "" {
		t.Fatalf("%d %v", stream.StatusCode, stream.Header)
	}
	var states []string
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() {
		name, found := strings.CutPrefix(lines.Text(), "data: ")
		if !found {
			continue
		}
		states = append(states, name)
		switch name {
		case "waiting":
			s.complete(s.take(digits).PIN, 1250)
		case "completed":
		}
	}
	// Taking and completing may come as one signal.
	states = slices.DeleteFunc(states, func(name string) bool { return name == "taken" })
	if strings.Join(states, " ") != "waiting completed" {
		t.Errorf("reported %q", states)
	}
}

// A sale that raises its customer says so on their card, once; the card then shows the way to the next level.
func TestTheCardTellsThatALevelIsReached(t *testing.T) {
	t.Parallel()
	s := newCounter(t)
	s.Levels(award.LevelRules{Basis: award.ByPoints, Period: award.AllTime},
		award.Level{Name: "Member"}, award.Level{Name: "Gold", Threshold: 20}, award.Level{Name: "Platinum", Threshold: 100})
	path := s.card(s.anna())
	if got := s.browser().Get(path).Text("section.level"); !strings.Contains(got, "Member") || !strings.Contains(got, "20 points to Gold") {
		t.Errorf("before: %q", got)
	}
	digits, state := s.shows(path)
	s.complete(s.take(digits).PIN, 2450)
	if got := s.browser().Get(state).Text(".code-done"); !strings.Contains(got, "+24 points") || !strings.Contains(got, "You are now Gold") {
		t.Errorf("after the sale: %q", got)
	}
	digits, state = s.shows(path)
	s.complete(s.take(digits).PIN, 100)
	if got := s.browser().Get(state).Text(".code-done"); !strings.Contains(got, "+1 point") || strings.Contains(got, "Gold") {
		t.Errorf("after the next sale: %q", got)
	}
	if got := s.browser().Get(path).Text("section.level"); !strings.Contains(got, "Gold") || !strings.Contains(got, "75 points to Platinum") {
		t.Errorf("then: %q", got)
	}
}
