package admin_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/webtest"
)

// sender is a counter with a coupon to send.
type sender struct {
	*counter
	path string // of the coupon
}

func newSender(t *testing.T) *sender {
	t.Helper()
	s := newCounter(t)
	return &sender{s, s.made(percentOff("Spring", "10"))}
}

// form is the page that sends the coupon.
func (s *sender) form(path string) string { return s.path + "/send" + path }

// mailable adds a customer with an e-mail address, or without.
func (s *sender) mailable(name, email string) customer.Customer {
	s.T.Helper()
	n := customer.New{FirstName: name, LastName: "Ek", Phone: shoptest.Phone()}
	if email != "" {
		n.Email = email
	}
	return s.AddCustomer(n)
}

// change updates the shop's rows. $1 is the tenant.
func (s *shop) change(statement string, args ...any) {
	s.T.Helper()
	s.Exec(statement, append([]any{s.By.Tenant.ID}, args...)...)
}

// typed is the form of a send with some fields changed.
func (s *sender) typed(pairs ...string) url.Values {
	return webtest.With(s.manager.Get(s.form("")).Fields("#send-form"), pairs...)
}

// part loads a part of the page as htmx does.
func (s *sender) part(path, target string, form url.Values) webtest.Page {
	s.T.Helper()
	a := s.manager.Post(s.form(path), form, "Hx-Request", "true", "Hx-Target", target)
	if a.Code != http.StatusOK {
		s.T.Fatalf("POST %s for %s = %d %s", path, target, a.Code, a.Body)
	}
	return a
}

// ofField is the message of a violation whose wording depends on the field.
func ofField(field string, v core.Violation) string {
	return forms.Message(field, field, v, format.Number)
}

// only is the only send of the coupon.
func (s *sender) only() coupon.SendDetail {
	s.T.Helper()
	l, err := s.Coupons.ListSends(s.T.Context(), s.By, idOf(s.T, s.path), core.Page{Size: 5})
	if err != nil || len(l.Items) != 1 {
		s.T.Fatalf("%d sends, %v, want one", len(l.Items), err)
	}
	return l.Items[0]
}

// The form starts with the coupon's name and description, and is shown before anything is counted.
func TestSendPage(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	id := idOf(t, s.path)
	if _, err := s.Coupons.Edit(t.Context(), s.By, id, coupon.Edit{Description: core.Set("A <b>bun</b>"), VoucherValidDays: core.Set(int64(45))}); err != nil {
		t.Fatal(err)
	}
	for path, link := range map[string]string{"/admin/coupons": "tbody a[href$='/send']", s.path: ".page-header a.btn-primary"} {
		if got := s.manager.Get(path).Links(link); len(got) != 1 || got[0] != s.form("") {
			t.Errorf("%s leads to %q", path, got)
		}
		if got := s.cashier.Get(path).Links("a[href$='/send']"); len(got) != 0 {
			t.Errorf("%s offers sending to a cashier: %q", path, got)
		}
	}
	a := s.manager.Get(s.form(""))
	var segments []string
	a.Find("#field-segment input").Each(func(_ int, input *goquery.Selection) { segments = append(segments, input.AttrOr("value", "")) })
	wants(t, "segments", segments, []string{"all", "long_standing", "recent_purchase", "manual"})
	zone := s.By.Tenant.TimeZone
	valid := s.DB.Now().In(zone).AddDate(0, 0, 45).Format("2 Jan 2006")
	if got := a.Text("#validity"); !strings.Contains(got, valid) {
		t.Errorf("validity: %q, want %q", got, valid)
	}
	if got := a.Text("label[for=when-later] + div"); !strings.Contains(got, "Stockholm") {
		t.Errorf("the time zone is %q", got)
	}
	sends := a.Fields("#send-form")
	if sends.Get("subject") != "Spring" || sends.Get("message") != "A <b>bun</b>" || sends.Get("segment") != "all" || sends.Get("when") != "now" || sends.Get("form_key") == "" {
		t.Errorf("it begins with %v", sends)
	}
	if a.Text("#summary p") == "" || a.Find("#summary[hx-trigger^=load]").Length() != 1 || a.Find(".send-receive").Length() != 0 {
		t.Errorf("the summary is %q", a.Text("#summary"))
	}
	// Enter in a field must not send.
	if got := a.Find("#send-form button[type=submit]").First().AttrOr("formaction", ""); got != s.form("/preview") {
		t.Errorf("Enter leads to %q", got)
	}
	if got := a.Header().Get("Content-Security-Policy"); !strings.HasSuffix(got, "frame-ancestors 'none'; frame-src 'self'") || strings.Contains(got, "unsafe") {
		t.Errorf("Content-Security-Policy: %q", got)
	}
	frame := a.Find("#mail iframe")
	if sandbox, ok := frame.Attr("sandbox"); !ok || sandbox != "" || !strings.HasPrefix(frame.AttrOr("src", ""), s.form("/mail?")) {
		t.Errorf("the e-mail is in %v", frame.Nodes)
	}
}

// The pages of sends make a known number of round trips.
func TestRoundTripsOfSends(t *testing.T) {
	t.Parallel()
	d, count := dbtest.RoundTrips(t)
	s := &sender{counter: counterOn(t, d)}
	s.path = s.made(percentOff("Spring", "10"))
	s.mailable("Ida", "ida@example.com")
	s.send(s.path, "one")
	sent := s.only()
	s.change("update loyalty.voucher_mail set status = 'failed', error = '452 4.2.2 full' where tenant_id = $1")
	s.change("update loyalty.coupon_send set failed = 1 where tenant_id = $1")
	progress := s.path + "/sends/" + sent.ID.String()
	poll := s.manager.Get(progress).Attr("#send-progress", "hx-get")
	for _, x := range []struct {
		path   string
		header []string
		want   int
	}{
		{s.form(""), nil, 4},
		{s.path, nil, 4},
		{progress, nil, 5},
		{poll, []string{"Hx-Request", "true", "Hx-Target", "send-progress"}, 2},
		{s.form("/audiences"), []string{"Hx-Request", "true"}, 3},
	} {
		for range 2 { // the first counts what the plan limits
			s.manager.Get(x.path, x.header...)
		}
		before := count()
		s.manager.Get(x.path, x.header...)
		if got := count() - before; got != x.want {
			t.Errorf("%s makes %d round trips, want %d", x.path, got, x.want)
		}
	}
	typed := s.typed("segment", "manual", "customers", s.elsa.ID.String())
	for _, x := range []struct {
		path, target string
		want         int
	}{{"/preview", "summary", 6}, {"/preview", "mail", 2}, {"/customers", "chooser", 3}} {
		s.part(x.path, x.target, typed)
		before := count()
		s.part(x.path, x.target, typed)
		if got := count() - before; got != x.want {
			t.Errorf("%s of %s makes %d round trips, want %d", x.target, x.path, got, x.want)
		}
	}
}

// The summary adds up: everyone in the audience is mailed, has no e-mail, unsubscribed or is skipped.
// The button repeats how many get a voucher.
func TestSendSummaryAddsUp(t *testing.T) {
	t.Parallel()
	s := newSender(t) // with Elsa, who has no e-mail address and bought something
	s.mailable("Ida", "ida@example.com")
	off := s.mailable("Ove", "ove@example.com")
	full := s.mailable("Full", "full@example.com")
	gone := s.mailable("Gone", "gone@example.com")
	if _, err := s.Customers.Unsubscribe(t.Context(), s.By, off.ID); err != nil {
		t.Fatal(err)
	}
	s.Voucher(idOf(t, s.path), full.ID)
	s.change("update loyalty.customer set status = 'inactive' where tenant_id = $1 and id = $2", gone.ID)
	s.change("update loyalty.customer set created_at = (created_at at time zone 'UTC' - interval '100 days') at time zone 'UTC' where tenant_id = $1 and id <> $2", off.ID)

	counted := s.manager.Get(s.form("/audiences"), "Hx-Request", "true")
	if got := counted.Texts("[hx-swap-oob]"); len(got) != 4 || strings.Join(got[:3], " ") != "4 4 1" || figures(got[3]) == "" {
		t.Errorf("counted: %q", got)
	}
	if ids := counted.Find("#segment-all-count, #segment-long_standing-count, #segment-recent_purchase-count, #counted").Length(); ids != 4 {
		t.Errorf("%d places are filled", ids)
	}
	for segment, want := range map[string]string{ // receive, audience, mailed, no e-mail, unsubscribed, skipped, at their limit, inactive
		"all":             "3 4 1 1 1 1 1",
		"long_standing":   "2 4 1 1 0 2 1 1",
		"recent_purchase": "1 1 0 1 0 0",
	} {
		a := s.part("/preview", "summary", s.typed("segment", segment))
		if got := figures(a.Text(".send-summary")); got != want {
			t.Errorf("%s: %q, want %q", segment, got, want)
		}
		n := a.Text(".send-receive")
		if got := a.Text("#send-button"); figures(got) != n || a.Find("#send-button[disabled]").Length() != 0 {
			t.Errorf("%s: the button says %q", segment, got)
		}
		later := s.part("/preview", "summary", s.typed("segment", segment, "when", "later"))
		if got := later.Text("#send-button"); figures(got) != n || got == a.Text("#send-button") {
			t.Errorf("%s, later: the button says %q", segment, got)
		}
		if got := later.Text("#validity[hx-swap-oob]"); got == "" || figures(got) != "" {
			t.Errorf("validity of vouchers that don't expire: %q", got)
		}
	}
	// The bar has the same shares.
	bar := s.part("/preview", "summary", s.typed()).Find(".bar rect")
	var parts []string
	bar.Each(func(_ int, r *goquery.Selection) {
		parts = append(parts, r.AttrOr("class", "")+" "+r.AttrOr("x", "")+" "+r.AttrOr("width", ""))
	})
	if got := strings.Join(parts, ", "); got != "bar-1 0.00% 25.00%, bar-light 25.00% 25.00%, bar-2 50.00% 25.00%, bar-rest 75.00% 25.00%" {
		t.Errorf("the bar is %s", got)
	}
}

// "The page warns, and never refuses, when vouchers that are out plus those to be sent exceed
// what the coupon's limit leaves."
func TestSendWarnsAboutLimit(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.mailable("Ida", "ida@example.com")
	edit := func(e coupon.Edit) {
		t.Helper()
		if _, err := s.Coupons.Edit(t.Context(), s.By, idOf(t, s.path), e); err != nil {
			t.Fatal(err)
		}
	}
	warning := func() string { return s.part("/preview", "summary", s.typed()).Text(".send-warning") }
	edit(coupon.Edit{MaxPerCustomer: core.Set(int64(3)), MaxRedemptions: core.Set(int64(2))})
	if got := warning(); got != "" {
		t.Errorf("two of two: %q", got)
	}
	edit(coupon.Edit{MaxRedemptions: core.Set(int64(1))})
	if got := warning(); figures(got) != "1 1" {
		t.Errorf("two of one: %q", got)
	}
	vouchers := s.send(s.path, "one")
	edit(coupon.Edit{MaxRedemptions: core.Set(int64(3))})
	if got := warning(); figures(got) != "3 2 1" {
		t.Errorf("four of three: %q", got)
	}
	edit(coupon.Edit{MaxRedemptions: core.Set(int64(1))})
	s.RedeemVoucher(vouchers[0].ID)
	a := s.part("/preview", "summary", s.typed())
	if got := a.Text(".send-warning"); figures(got) != "1 3" {
		t.Errorf("three of none: %q", got)
	}
	if link := a.Links(".send-warning a")[0]; link != s.path+"/edit#field-max_redemptions" || s.manager.Get(s.path+"/edit").Find("#field-max_redemptions").Length() != 1 {
		t.Errorf("raising the limit leads to %q", link)
	}
	if a.Find("#send-button[disabled]").Length() != 0 {
		t.Error("the warning stops the send")
	}
	if got := s.manager.Get(s.path).Text(".datagrid"); !strings.Contains(got, "0 of 1") {
		t.Errorf("the coupon's page: %q", got)
	}
}

// "0 customers" disables the button and gives the reason. A scheduled send may get customers later.
func TestSendToEmptyAudience(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	reasons := map[string]bool{}
	for _, c := range []struct {
		segment, when, figures string
		disabled               bool
	}{
		{"long_standing", "now", "0", true},
		{"long_standing", "later", "", false},
		{"manual", "now", "", true},
		{"manual", "later", "", true},
		{"everyone", "now", "", true},
	} {
		a := s.part("/preview", "summary", s.typed("segment", c.segment, "when", c.when))
		reason := a.Text("#send-disabled")
		if got := a.Text("#send-button"); figures(got) != c.figures || (reason != "") != c.disabled || (a.Find("#send-button[disabled]").Length() == 1) != c.disabled {
			t.Errorf("%s %s: %q, %q", c.segment, c.when, got, reason)
		}
		reasons[reason] = true
	}
	s.send(s.path, "one")
	a := s.part("/preview", "summary", s.typed())
	if got := a.Text("#send-disabled"); got == "" || reasons[got] || figures(a.Text("#send-button")) != "0" {
		t.Errorf("all have a voucher already: %q", got)
	}
}

// "A preview that takes too long or fails says so and does not stop sending."
func TestSendWithoutFigures(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	s := &sender{counter: counterOn(t, d)}
	s.path = s.made(percentOff("Spring", "10"))
	if _, err := dbtest.Owner(d).Exec(t.Context(), "revoke select on loyalty.voucher from loyalty_app"); err != nil {
		t.Fatal(err)
	}
	a := s.part("/preview", "summary", s.typed())
	if got := a.Text(".send-summary"); got == "" || a.Find(".send-receive").Length() != 0 || a.Find("#send-button:not([disabled])").Length() != 1 {
		t.Errorf("it says %q", got)
	}
	whole := s.manager.Post(s.form("/preview"), s.typed())
	if whole.Code != http.StatusOK || whole.Find("#send-button:not([disabled])").Length() != 1 {
		t.Errorf("the whole page: %d %q", whole.Code, whole.Text("#summary"))
	}
	sends := whole.Fields("#send-form")
	if to := s.manager.Post(s.form(""), sends).Header().Get("Location"); to != s.path+"/sends/"+s.only().ID.String() {
		t.Errorf("sending leads to %q", to)
	}
	if _, err := dbtest.Owner(d).Exec(t.Context(), "revoke select on loyalty.transaction from loyalty_app"); err != nil {
		t.Fatal(err)
	}
	if got := s.manager.Get(s.form("/audiences"), "Hx-Request", "true").Text("[hx-swap-oob]"); got == "" || figures(got) != "" {
		t.Errorf("the segments: %q", got)
	}
}

// A form that is sent twice, or by several clicks at once, makes one send with its values.
func TestSendHappensOnce(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	sends := s.typed("segment", "recent_purchase", "subject", "A bun, on us", "message", "Come and get it.\r\nSoon.")
	var clicks sync.WaitGroup
	paths := make([]string, 6)
	for i := range paths {
		again := s.manager.Clone()
		clicks.Go(func() { paths[i] = again.Post(s.form(""), sends).Header().Get("Location") })
	}
	clicks.Wait()
	sent := s.only()
	for _, p := range paths {
		if p != s.path+"/sends/"+sent.ID.String() {
			t.Errorf("the clicks lead to %q", paths)
		}
	}
	if sent.Segment != coupon.RecentPurchase || sent.Subject != "A bun, on us" || sent.Message != "Come and get it.\r\nSoon." || sent.Status != coupon.Waiting ||
		sent.SendAt.After(s.DB.Now()) {
		t.Errorf("it is %+v", sent)
	}
	if got := s.manager.Get(paths[0]).Text(".send-facts"); !strings.Contains(got, "A bun, on us") {
		t.Errorf("its page: %q", got)
	}
}

// "Now, or later with date and time in the tenant's zone, at most a year ahead."
func TestScheduleSend(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	zone := s.By.Tenant.TimeZone
	day := s.DB.Now().In(zone).AddDate(0, 0, 3)
	at := func(day time.Time, clock string) url.Values {
		return s.typed("when", "later", "send_date", day.Format(time.DateOnly), "send_time", clock)
	}
	for _, c := range []struct {
		form url.Values
		says string
	}{
		{at(day.AddDate(0, 0, -5), "08:00"), ofField("send_at", core.Violation{Rule: "future"})},
		{at(day.AddDate(1, 0, 0), "08:00"), ofField("send_at", core.Violation{Rule: "within_year"})},
		{at(day, ""), ofField("send_at", core.Required)},
		{at(day, "soon"), ofField("send_at", core.Violation{Rule: "date_and_time"})},
		{s.typed("when", "later", "send_date", "x"), ofField("send_at", core.Violation{Rule: "date_and_time"})},
	} {
		a := s.manager.Post(s.form(""), c.form)
		if got := a.Text("#field-send_at-error"); a.Code != http.StatusUnprocessableEntity || got != c.says {
			t.Errorf("%v: %d %q", c.form, a.Code, got)
		}
		if a.Value("#field-send_date") != c.form.Get("send_date") || a.Value("#field-send_time") != c.form.Get("send_time") || a.Find("#when-later[checked]").Length() != 1 {
			t.Errorf("%v is now %q %q", c.form, a.Value("#field-send_date"), a.Value("#field-send_time"))
		}
		if link := a.Links("[role=alert] a"); len(link) != 1 || a.Find(link[0]).Length() != 1 {
			t.Errorf("the summary of the violations leads to %q", link)
		}
	}
	a := s.manager.Submit(s.form(""), at(day, "08:30"))
	sent := s.only()
	if y, m, d := day.Date(); !sent.SendAt.Equal(time.Date(y, m, d, 8, 30, 0, 0, zone)) || sent.Status != coupon.Waiting {
		t.Errorf("it goes out at %s", sent.SendAt)
	}
	path := s.path + "/sends/" + sent.ID.String()
	when := day.Format("2 Jan") + ", 08:30"
	if got := a.Text(".send-progress"); !strings.Contains(got, when) || !strings.Contains(got, "Stockholm") || !strings.Contains(got, "Bo Ek") || a.Find("dl.send-numbers").Length() != 0 {
		t.Errorf("waiting: %q", got)
	}
	if a.Attr("#send-progress", "hx-trigger") != "every 30s, wake" {
		t.Error("a send far away is polled too often")
	}
	if got := s.manager.Get(s.path).Text("table"); !strings.Contains(got, when) {
		t.Errorf("the history: %q", got)
	}

	// Cancelling asks first.
	asked := s.manager.Get(path+"/cancel", "Hx-Request", "true")
	if got := asked.Texts(".card-footer .btn"); asked.Text("form p") == "" || !slices.Equal(got, []string{"Keep send", "Cancel send"}) {
		t.Errorf("asked %q, with %q", asked.Text("form p"), got)
	}
	cancelled := s.manager.Submit(path+"/cancel", nil)
	if got := cancelled.Links(".send-notice a"); len(got) != 1 || got[0] != s.form("") || cancelled.Find("#send-progress[hx-get], #cancel-send").Length() != 0 {
		t.Errorf("cancelled: %q", got)
	}
	if got := s.only().Status; got != coupon.Cancelled {
		t.Errorf("it is %s", got)
	}
	for _, again := range []webtest.Page{s.manager.Get(path + "/cancel"), s.manager.Submit(path+"/cancel", nil)} {
		if again.Find("form[action$='/cancel'] button, #cancel-send").Length() != 0 {
			t.Errorf("a cancelled send can be cancelled: %q", again.Text("main"))
		}
	}
}

// A refused form keeps its values and shows each violation beside its field.
func TestRefusedSend(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	long := strings.Repeat("x", 1001)
	for _, c := range []struct{ field, value, at, says string }{
		{"subject", " ", "#field-subject-error", webtest.Message("Subject", core.Required)},
		{"subject", long[:151], "#field-subject-error", webtest.Message("Subject", core.MaxLength(150))},
		{"message", long, "#field-message-error", webtest.Message("Message", core.MaxLength(1000))},
		{"segment", "everyone", "#field-segment-error", ofField("segment", core.InvalidChoice)},
		{"segment", "manual", "#field-customers-error", ofField("customers", core.Required)},
		{"form_key", "", "[role=alert]", webtest.MessageApart("form_key", core.Required)},
	} {
		a := s.manager.Post(s.form(""), s.typed("subject", "Mine", "message", "My words", c.field, c.value))
		if got := a.Text(c.at); a.Code != http.StatusUnprocessableEntity || got != c.says || a.Find(".alert-danger").Length() != 1 {
			t.Errorf("%s: %d %q, %q", c.field, a.Code, got, a.Text("[role=alert]"))
		}
		if c.field != "subject" && a.Value("#field-subject") != "Mine" || c.field != "message" && a.Text("#field-message") != "My words" {
			t.Errorf("%s: the form has %v", c.field, a.Fields("#send-form"))
		}
		if link := a.Links("[role=alert] a"); len(link) == 1 && link[0] != "#" && a.Find(link[0]).Length() != 1 {
			t.Errorf("%s: the alert leads to %q", c.field, link)
		}
	}
	unknown := core.NewID(s.DB.Now()).String()
	a := s.manager.Post(s.form(""), s.typed("segment", "manual", "customers", unknown))
	if got := a.Text("#field-customers-error"); !strings.Contains(got, unknown) || !strings.Contains(a.Text(".chosen"), unknown) {
		t.Errorf("an unknown customer: %q", got)
	}
	if sends, err := s.Coupons.ListSends(t.Context(), s.By, idOf(t, s.path), core.Page{Size: 5}); err != nil || len(sends.Items) != 0 {
		t.Errorf("%d sends, %v", len(sends.Items), err)
	}
}

// The button repeats the number of customers. If the audience has changed since, the page is shown again.
func TestChangedAudienceIsConfirmedAgain(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	shown := webtest.With(s.manager.Post(s.form("/preview"), s.typed()).Fields("#send-form"), "segment", "recent_purchase")
	a := s.manager.Post(s.form(""), shown)
	if got := a.Text("[role=alert]"); a.Code != http.StatusUnprocessableEntity || got == "" {
		t.Fatalf("another segment: %d %q", a.Code, got)
	}
	shown = webtest.With(a.Fields("#send-form"), "segment", "manual", "customers", s.elsa.ID.String())
	if a = s.manager.Post(s.form(""), shown); a.Code != http.StatusUnprocessableEntity || figures(a.Text("#send-button")) != "1" {
		t.Fatalf("chosen customers: %d %q", a.Code, a.Text("#send-button"))
	}
	s.manager.Submit(s.form(""), a.Fields("#send-form"))
	if sent := s.only(); sent.Segment != coupon.Manual {
		t.Errorf("sent to %s", sent.Segment)
	}
}

// "A coupon that is inactive, expired or not started can't be sent: the page says why and
// what to do."
func TestUnsendableCoupon(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	id := idOf(t, s.path)
	sends := s.typed()
	without := func(path string) {
		t.Helper()
		if got := s.manager.Get(path).Links("a[href$='/send']"); len(got) != 0 {
			t.Errorf("%s leads to %q", path, got)
		}
	}
	refused := func(state, link string) {
		t.Helper()
		for _, a := range []webtest.Page{s.manager.Get(s.form("")), s.manager.Post(s.form("/preview"), sends), s.manager.Post(s.form(""), sends)} {
			if a.Find("#send-form").Length() != 0 || a.Find(link).Length() != 1 {
				t.Errorf("%s: %d %q, want a link to %q", state, a.Code, a.Text("main"), link)
			}
		}
		without(s.path)
		without("/admin/coupons")
	}
	s.manager.Submit(s.path+"/active", webtest.Form("active", "0"))
	refused("inactive", "form[action='"+s.path+"/active'] button")
	s.manager.Submit(s.path+"/active", webtest.Form("active", "1"))

	s.change("update loyalty.coupon set expires_at = '2026-02-03T23:00:00Z' where tenant_id = $1 and id = $2", id)
	refused("expired", "a.btn-primary[href='"+s.path+"/edit']")
	if got := s.manager.Get(s.form("")).Text(".empty-subtitle"); !strings.Contains(got, "3 Feb 2026") {
		t.Errorf("expired: %q", got)
	}

	// One that starts later can be scheduled for after that, and before its end.
	zone := s.By.Tenant.TimeZone
	y, m, d := s.DB.Now().In(zone).AddDate(0, 0, 10).Date()
	starts := time.Date(y, m, d, 0, 0, 0, 0, zone)
	s.change("update loyalty.coupon set starts_at = $3, expires_at = $4 where tenant_id = $1 and id = $2", id, starts, starts.AddDate(0, 0, 5))
	page := s.manager.Get(s.form(""))
	day := starts.Format("2 Jan 2006")
	if page.Find("#when-now[disabled], #when-later[checked]").Length() != 2 || !strings.Contains(page.Text("#when-now-help"), day) ||
		page.Value("#field-send_date") != starts.Format(time.DateOnly) {
		t.Errorf("upcoming: %q %q", page.Text("#when-now-help"), page.Value("#field-send_date"))
	}
	for _, x := range []struct{ when, date, says string }{
		{"now", "", webtest.Message("", core.Violation{Rule: "send_before_start", Other: day})},
		{"later", starts.AddDate(0, 0, -1).Format(time.DateOnly), webtest.Message("", core.Violation{Rule: "send_before_start", Other: day})},
		{"later", starts.AddDate(0, 0, 5).Format(time.DateOnly), webtest.Message("", core.Violation{Rule: "send_after_end", Other: starts.AddDate(0, 0, 4).Format("2 Jan 2006")})},
	} {
		a := s.manager.Post(s.form(""), s.typed("when", x.when, "send_date", x.date))
		if got := a.Text("#field-send_at-error"); a.Code != http.StatusUnprocessableEntity || got != x.says {
			t.Errorf("%s %s: %d %q", x.when, x.date, a.Code, got)
		}
	}
	s.manager.Submit(s.form(""), s.typed())
	if sent := s.only(); sent.SendAt.Before(starts) {
		t.Errorf("it goes out at %s, before %s", sent.SendAt, starts)
	}
}

// "Pick by search, add top customers, or paste ULIDs; unknown ones are named and not added;
// each chosen one can be removed; duplicates once." Nothing is written meanwhile.
func TestChooseCustomers(t *testing.T) {
	t.Parallel()
	s, other := newSender(t), newSender(t)
	ida := s.mailable("Ida", "ida@example.com")
	ove := s.mailable("Ove <i>", "")
	s.change("update loyalty.customer set status = 'inactive' where tenant_id = $1 and id = $2", s.mailable("Idas twin", "").ID)
	sends := s.typed("segment", "manual")
	before := s.everything()
	step := func(pairs ...string) webtest.Page {
		t.Helper()
		next := url.Values{}
		for name, values := range sends {
			next[name] = values
		}
		for i := 0; i+1 < len(pairs); i += 2 {
			next.Set(pairs[i], pairs[i+1])
		}
		a := s.part("/customers", "chooser", next)
		if a.Header().Get("Hx-Trigger-After-Settle") != "chosen" {
			t.Error("the summary is not refreshed")
		}
		sends.Set("customers", a.Value("input[name=customers]"))
		return a
	}
	rows := func(a webtest.Page) string { return strings.Join(a.Texts(".chosen .fw-medium"), ", ") }

	found := s.part("/customers", "found", s.typed("segment", "manual", "customer_search", "ida"))
	if got := found.Text("#found .whole"); got != "Ida Ek ida@example.com" || found.Find("#found button[name=add]").Length() != 1 || found.Find("input").Length() != 0 {
		t.Errorf("found %q", got)
	}
	if got := s.part("/customers", "found", s.typed("customer_search", "nix <b>")).Text("#found"); !strings.Contains(got, "nix <b>") {
		t.Errorf("not found: %q", got)
	}
	a := step("add", ida.ID.String(), "customer_search", "ida")
	if rows(a) != "Ida Ek" || figures(a.Text(".chooser-head h3")) != "1" || !strings.Contains(a.Text(".chooser-head [role=status]"), "Ida Ek") || a.Text("#segment-manual-count[hx-swap-oob]") != "1" {
		t.Errorf("added: %q, %q", rows(a), a.Text(".chooser-head"))
	}
	if got := a.Text("#found button"); !strings.Contains(got, "Ida Ek") || a.Value("#field-customer_search") != "ida" || a.Find("#pick-"+ida.ID.String()+"[name=remove]").Length() != 1 {
		t.Errorf("the found customer has the button %q", got)
	}
	a = step("add", ida.ID.String())
	if rows(a) != "Ida Ek" || figures(a.Text(".chooser-head span")) != "0 1" {
		t.Errorf("added twice: %q, %q", rows(a), a.Text(".chooser-head"))
	}
	a = step("do", "top", "top", "10")
	if rows(a) != "Elsa Berg <b>, Ida Ek" {
		t.Errorf("with top customers: %q", rows(a))
	}

	theirs, unknown := other.elsa.ID.String(), core.NewID(s.DB.Now()).String()
	pasted := strings.ToLower(ove.ID.String()) + ";" + theirs + "\n\tnonsense," + unknown + " | " + ove.ID.String()
	a = step("do", "paste", "paste", pasted)
	if rows(a) != "Ove <i> Ek, Elsa Berg <b>, Ida Ek" || strings.Join(a.Texts("[role=alert] li"), " ") != "nonsense "+theirs+" "+unknown {
		t.Errorf("pasted: %q, not %q", rows(a), a.Text("[role=alert]"))
	}
	if got := a.Text("#field-paste"); got != "nonsense "+theirs+" "+unknown || a.Find(".chooser-paste[open]").Length() != 1 {
		t.Errorf("the pasted text keeps %q", got)
	}
	if got := a.Text("[role=alert] div > div:first-child"); figures(got) != "1 1" {
		t.Errorf("the alert: %q", got)
	}
	a = step("remove", s.elsa.ID.String())
	if rows(a) != "Ove <i> Ek, Ida Ek" || !strings.Contains(a.Text(".chooser-head span"), "Elsa Berg <b>") || a.Find("h3[data-focus]").Length() != 1 {
		t.Errorf("removed: %q, %q", rows(a), a.Text(".chooser-head span"))
	}
	summary := s.part("/preview", "summary", sends)
	if got := summary.Text("#send-button"); figures(got) != "2" {
		t.Errorf("the summary: %q", got)
	}
	// Without scripts it is the page, with everything on it.
	whole := s.manager.Post(s.form("/customers"), url.Values{"form_key": {"k"}, "segment": {"all"}, "when": {"now"}, "subject": {"Mine"}, "customers": {sends.Get("customers")}, "add": {s.elsa.ID.String()}})
	if got := rows(whole); got != "Elsa Berg <b>, Ove <i> Ek, Ida Ek" || whole.Find("#segment-manual[checked]").Length() != 1 || figures(whole.Text("#send-button")) != "3" ||
		whole.Value("#field-subject") != "Mine" {
		t.Errorf("the page: %q %q", got, whole.Text("#summary"))
	}
	if now := s.everything(); now != before {
		t.Errorf("choosing wrote something: %s", cmp.Diff(before, now))
	}
	a = step("do", "clear")
	if rows(a) != "" || figures(a.Text(".chooser-head")) != "" || a.Text(".chooser-head [role=status]") == "" {
		t.Errorf("cleared: %q", a.Text(".chooser-head"))
	}

	final := whole.Fields("#send-form")
	s.manager.Submit(s.form(""), final)
	if ids := shoptest.Query[[]core.ID](s.Shop, "select customer_ids from loyalty.coupon_send where tenant_id = $1", s.By.Tenant.ID); len(ids) != 3 {
		t.Errorf("sent to %v, want three", ids)
	}
}

// Of many chosen customers the latest are listed, the others on request. There is a limit.
func TestChooseManyCustomers(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	ulids := make([]string, 0, coupon.MaxManual+5)
	s.change(`
		with made as (
			insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, created_at, updated_at)
			select $1, loyalty.new_ulid(now()), 'C' || n, 'Ek', n::text, 'many' || n, now(), now()
			from generate_series(1, $2::int) n
			returning id
		)
		insert into loyalty.account (tenant_id, customer_id)
		select $1, id
		from made`, coupon.MaxManual+5)
	s.Check(dbtest.Analyze(t.Context(), s.DB))
	for _, id := range shoptest.QueryAll[core.ID](s.Shop, "select id from loyalty.customer where tenant_id = $1 and phone_key like 'many%' order by length(phone), phone", s.By.Tenant.ID) {
		ulids = append(ulids, id.String())
	}
	unknown := make([]string, 25)
	for i := range unknown {
		unknown[i] = core.NewID(s.DB.Now()).String()
	}
	a := s.part("/customers", "chooser", s.typed("segment", "manual", "do", "paste", "paste", strings.Join(append(unknown, ulids...), "\n")))
	if got := a.Find(".chosen-row").Length(); got != 100 || figures(a.Text("#show-all")) != "5,000" || figures(a.Text(".chooser-head h3")) != "5,000" {
		t.Errorf("%d are listed, %q, %q", got, a.Text("#show-all"), a.Text(".chooser-head"))
	}
	if got := a.Text(".chosen-row:first-child .fw-medium"); got != "C5000 Ek" {
		t.Errorf("the first is %q", got)
	}
	if got := strings.Join(a.Texts("[role=alert] div > div"), " "); !strings.Contains(figures(got), "5,000 5") || !strings.HasSuffix(figures(got), " 5") || a.Find("[role=alert] li").Length() != 20 {
		t.Errorf("the alert: %q", got)
	}
	all := s.part("/customers", "chooser", s.typed("segment", "manual", "customers", a.Value("input[name=customers]"), "do", "all"))
	if got := all.Find(".chosen-row").Length(); got != 5000 || all.Find("#show-all").Length() != 0 {
		t.Errorf("%d are listed at last", got)
	}
	if got := s.part("/preview", "summary", s.typed("segment", "manual", "customers", a.Value("input[name=customers]"))).Text("#send-button"); figures(got) != "5,000" {
		t.Errorf("the button says %q", got)
	}
}

// The e-mail is shown in a sandboxed frame.
func TestEmailPreview(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	address := s.part("/preview", "mail", s.typed("subject", "A & B", "message", "Soon")).Attr("iframe", "src")
	if !strings.HasPrefix(address, s.form("/mail?")) {
		t.Fatalf("it is at %q", address)
	}
	a := s.manager.Get(address)
	h := a.Header()
	if got := h.Get("Content-Security-Policy"); got != "default-src 'none'; sandbox; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'" ||
		h.Get("X-Frame-Options") != "SAMEORIGIN" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("its headers are %v", h)
	}
	if got := a.Body.String(); !strings.Contains(got, "A &amp; B") || !strings.Contains(got, "Soon") || a.Find("head base[target=_blank]").Length() != 1 {
		t.Errorf("it is %s", got)
	}
	for query, words := range map[string]string{
		"?subject=+&message=x":                                webtest.Message("Subject", core.Required),
		"?subject=" + strings.Repeat("x", 151) + "&message=x": webtest.Message("Subject", core.MaxLength(150)),
	} {
		a := s.manager.Ask(http.MethodGet, s.form("/mail")+query)
		if a.Code != http.StatusUnprocessableEntity || !strings.HasPrefix(a.Text("body"), words) || a.Header().Get("X-Frame-Options") != "SAMEORIGIN" {
			t.Errorf("%s: %d %q", query, a.Code, a.Text("body"))
		}
	}
}

// "Test sent to maja@… at 14:18", a few times an hour.
func TestTestEmails(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	a := s.part("/test", "test", s.typed("subject", "A bun"))
	if got := a.Text("body"); !strings.Contains(got, s.email(s.manager)) {
		t.Errorf("it says %q", got)
	}
	if jobs := shoptest.Query[int](s.Shop, "select count(*) from river.river_job where kind = 'coupon_test_mail' and args->>'subject' = 'A bun' and (args->>'tenant')::bigint = $1", s.By.Tenant.ID); jobs != 1 {
		t.Errorf("%d jobs, want 1", jobs)
	}
	refused := s.manager.Post(s.form("/test"), s.typed("subject", ""), "Hx-Request", "true", "Hx-Target", "test")
	if refused.Code != http.StatusUnprocessableEntity || refused.Text("body") != webtest.MessageApart("subject", core.Required) {
		t.Errorf("without a subject: %d %q", refused.Code, refused.Text("body"))
	}
	whole := s.manager.Post(s.form("/test"), s.typed("subject", "Mine", "segment", "recent_purchase"))
	if whole.Code != http.StatusOK || !strings.Contains(whole.Text("#test"), s.email(s.manager)) || whole.Value("#field-subject") != "Mine" || whole.Find("#segment-recent_purchase[checked]").Length() != 1 {
		t.Errorf("without scripts: %d %q", whole.Code, whole.Text("#test"))
	}
	for range 18 {
		s.part("/test", "test", s.typed())
	}
	for _, header := range [][]string{nil, {"Hx-Request", "true", "Hx-Target", "test"}} {
		if a := s.manager.Post(s.form("/test"), s.typed(), header...); a.Code != http.StatusTooManyRequests || a.Text("body") == "" {
			t.Errorf("one too many: %d %q", a.Code, a.Text("body"))
		}
	}
}

// "No JavaScript: Update preview renders everything on the server; sending works."
func TestSendWithoutScripts(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.mailable("Ida", "ida@example.com")
	a := s.manager.Post(s.form("/preview"), s.typed("segment", "recent_purchase", "subject", "Mine", "customer_search", "ida"))
	if got := a.Text("#send-button"); figures(got) != "1" || a.Find("#summary[hx-trigger^=load]").Length() != 0 || a.Find("[hx-get$='/audiences']").Length() != 0 {
		t.Errorf("the button says %q", got)
	}
	if got := a.Text(".choice-count"); got != "2 0 1 0" || figures(a.Text("#counted")) == "" || a.Text("#found .fw-medium") != "Ida Ek" {
		t.Errorf("counted: %q", got)
	}
	if src := a.Attr("iframe", "src"); !strings.Contains(src, "subject=Mine") {
		t.Errorf("the e-mail is at %q", src)
	}
	if a.Find("noscript").Length() == 0 {
		t.Error("there is no button to update the preview")
	}
	s.manager.Submit(s.form(""), a.Fields("#send-form"))
	if sent := s.only(); sent.Subject != "Mine" || sent.Segment != coupon.RecentPurchase {
		t.Errorf("sent %+v", sent)
	}
	// The address of a form that was shown again leads to its page.
	if to := s.manager.Ask(http.MethodGet, s.form("/preview")).Header().Get("Location"); to != s.form("") {
		t.Errorf("loaded again, it leads to %q", to)
	}
}
