package till_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
	"example.com/loyalty/web/till"
	"example.com/loyalty/web/webtest"
)

var parameter = regexp.MustCompile(`:[a-z]+`)

// Strangers, and people of another business, are led to the sign-in, and after it back to where
// they were going.
func TestOnlyStaffSell(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	foreign := s.stranger()
	foreign.Cookies = other.signedIn(core.Owner).Cookies
	for who, b := range map[string]browser{"a stranger": s.stranger(), "another business's owner": foreign} {
		for _, p := range route.Reading(till.Routes()) {
			if p.Who.Everyone {
				continue
			}
			path := parameter.ReplaceAllString(p.Path, core.NewID(s.DB.Now()).String())
			if a := b.Ask(http.MethodGet, path); a.Code != http.StatusSeeOther || !strings.HasPrefix(a.Header().Get("Location"), "/admin/sign-in?to=%2Ftill") {
				t.Errorf("GET %s as %s = %d to %q, want the sign-in", path, who, a.Code, a.Header().Get("Location"))
			}
		}
		if a := b.script("/till/sale", webtest.Form("customer_ulid", s.customer("Anna", 0).ID.String())); a.Code != http.StatusNoContent || !strings.HasPrefix(a.Header().Get("Hx-Redirect"), "/admin/sign-in") {
			t.Errorf("the script of %s is answered %d %v", who, a.Code, a.Header())
		}
	}
	for _, role := range []core.Role{core.Cashier, core.Manager, core.Owner} {
		if a := s.signedIn(role).Get("/till"); a.Find("#sale").Length() != 1 {
			t.Errorf("%s has no point of sale: %s", role, a.Text("main"))
		}
	}
}

// Another tenant's records look like missing ones.
func TestRecordsOfOtherTenantsAreMissing(t *testing.T) {
	t.Parallel()
	s, other := newShop(t), newShop(t)
	theirs := other.customer("Anna", 0)
	otherCashier := other.signedIn(core.Cashier)
	sold := otherCashier.Post("/till/sale", saleForm(otherCashier.serve(theirs), "spend_amount_cents", "100"))
	cashier := s.signedIn(core.Cashier)
	for _, path := range []string{
		"/till/customers/" + theirs.ID.String(), sold.Header().Get("Location"),
		"/till/earns?spend_amount_cents=100&customer_ulid=" + theirs.ID.String(), "/till/pins/" + theirs.ID.String(), "/till/customers/nonsense",
	} {
		if a := cashier.Ask(http.MethodGet, path); a.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", path, a.Code)
		}
	}
	for _, path := range []string{sold.Header().Get("Location") + "/undo", "/till/pins/" + theirs.ID.String() + "/cancel", "/till/pins/" + theirs.ID.String() + "/renew"} {
		if a := cashier.Post(path, nil); a.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d, want 404", path, a.Code)
		}
	}
	if a := cashier.script("/till/choose", webtest.Form("choose", theirs.ID.String())); a.Code != http.StatusNotFound {
		t.Errorf("choosing another business's customer = %d", a.Code)
	}
	refused := cashier.script("/till/sale", saleForm(cashier.Get("/till"), "customer_ulid", theirs.ID.String(), "spend_amount_cents", "100"))
	if refused.Code != http.StatusUnprocessableEntity {
		t.Errorf("selling to another business's customer = %d", refused.Code)
	}
}

// "Amount before or after the scan; a preview of what will be earned; confirm; receipt with the
// new balance".
func TestASaleByTypedPIN(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 124)
	s.reward("Cinnamon bun", 200)
	cashier := s.signedIn(core.Cashier)
	shown := s.card(anna)

	found := cashier.script("/till/take", saleForm(cashier.Get("/till"), "spend_amount_cents", "2450", "pin", shown.Digits))
	if got := found.Text(".who"); !strings.Contains(got, "Anna Lindqvist") || !strings.Contains(got, "124 points") || !strings.Contains(got, "76 points to Cinnamon bun 52 after this sale") {
		t.Errorf("the customer's column says %q", got)
	}
	if got := found.Text("#earns"); got != "This sale earns +24 points New balance 148 points" {
		t.Errorf("the sale earns %q", got)
	}
	entered := saleForm(cashier.Get("/till"), "spend_amount_cents", "2450", "customer_ulid", anna.ID.String(),
		"pin_ulid", found.Value("[name=pin_ulid]"))
	receipt := cashier.script("/till/sale", entered)
	if got := receipt.Text(".receipt"); receipt.Code != http.StatusOK || !strings.Contains(got, "Sale recorded € 24.50 +24 points") ||
		!strings.Contains(got, "New balance 148 points") || !strings.Contains(got, "52 points to Cinnamon bun") {
		t.Errorf("the receipt is %d %q", receipt.Code, got)
	}
	if got := s.balance(anna); got != 148 {
		t.Errorf("balance = %d, want 148", got)
	}

	again := cashier.script("/till/take", webtest.Form("pin", shown.Digits))
	if got := again.Text(".problem"); again.Code != http.StatusUnprocessableEntity || got != walkin.ErrPIN.Message {
		t.Errorf("the PIN again: %d %q", again.Code, got)
	}
}

// The QR code holds a URL, "so an ordinary phone camera of a signed-in cashier opens the POS at
// that customer"; "opening the URL takes nothing".
func TestOpeningACodeTakesNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	shown := s.card(anna)
	one, two := s.signedIn(core.Cashier), s.signedIn(core.Cashier)
	opened := one.Get("/till/c/" + shown.Code)
	if got := opened.Value("form[data-auto-submit] [name=scan]"); got != shown.Code || strings.Contains(opened.Text("main"), "Anna") {
		t.Errorf("the opened page: %s", opened.Text("main"))
	}
	if a := two.Post("/till/take", webtest.Form("scan", shown.Code)); a.Text("#who-name") != "Anna Lindqvist" {
		t.Errorf("another till, after the URL was opened: %d %s", a.Code, a.Text("main"))
	}
	if a := one.Post("/till/take", webtest.Form("scan", shown.Code)); a.Code != http.StatusUnprocessableEntity || a.Text(".problem") != walkin.ErrPIN.Message {
		t.Errorf("the second taker: %d %q", a.Code, a.Text(".problem"))
	}
}

// Whatever a scanner reads finds the customer: their card's QR code, a printed card, a voucher.
func TestWhatAScannerReads(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	id, voucher := s.voucher(anna, 500)
	card, err := s.Walkins.CardToken(s.By.Tenant.ID, anna)
	if err != nil {
		t.Fatal(err)
	}
	cashier := s.signedIn(core.Cashier)
	origin := cashier.Origin
	for scan, ticked := range map[string]string{
		origin + "/till/c/" + s.card(anna).Code: "",
		origin + "/card/" + card:                "",
		origin + "/v/" + voucher + "?from=mail": id.String(),
		strings.ToLower(id.String()):            id.String(),

		// Caps Lock was on.
		strings.ToUpper(origin+"/till/c/") + strings.ToLower(s.card(s.customer("Anna", 0)).Code): "",
		strings.ToUpper(origin+"/card/") + strings.ToLower(card):                                 "",
		strings.ToUpper(origin+"/v/") + strings.ToLower(voucher):                                 id.String(),
	} {
		a := cashier.script("/till/take", webtest.Form("scan", scan, "spend_amount_cents", "1000"))
		if a.Code != http.StatusOK || a.Text("#who-name") != "Anna Lindqvist" || a.Value("[name=vouchers][checked]") != ticked {
			t.Errorf("%s: %d %s", scan, a.Code, a.Text("#side"))
		}
	}
	for scan, want := range map[string]string{
		origin + "/v/" + voucher[:50]:      till.NoVoucher,
		origin + "/card/nonsense":          till.NoCard,
		origin + "/till/c/nonsense":        till.NoCode,
		origin + "/w/" + s.card(anna).Code: till.NoCode,
		"000 000":                          walkin.ErrPIN.Message,
		"4711":                             till.NoCode,
		"7350053850019":                    till.NoCode,
		"NOT-A-CODE":                       till.NoCode,
		"https://example.com":              till.NoCode,
		strings.NewReplacer(":", "Ö", "/", "-", "-", "+").Replace(origin + "/card/" + card): page.ErrGarbled.Message,
		" ": till.NoScan,
	} {
		if a := cashier.script("/till/take", webtest.Form("scan", scan)); a.Code != http.StatusUnprocessableEntity || a.Text(".problem") != want {
			t.Errorf("%s: %d %q, want %q", scan, a.Code, a.Text(".problem"), want)
		}
	}
}

// "Stray scans": 30 products change nothing, and the right PIN still works. Nor does a wrong PIN take the
// chosen customer away.
func TestStrayScansChangeNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, bo := s.customer("Anna", 500), s.customer("Bo", 0)
	bun := s.reward("Cinnamon bun", 200)
	cashier := s.signedIn(core.Cashier)
	entered := saleForm(cashier.serve(anna), "spend_amount_cents", "1250", "rewards", bun.String())
	scan := func(text string) webtest.Page {
		form := maps.Clone(entered)
		form.Set("scan", text)
		return cashier.script("/till/take", form)
	}
	for range 30 {
		a := scan("7350053850019")
		if !strings.HasPrefix(a.Text(".problem"), "This isn't a customer's code") || a.Text("#who-name") != "Anna Lindqvist" || a.Value("[name=rewards][checked]") != bun.String() ||
			!strings.Contains(a.Text("#earns"), "+12 ") {
			t.Fatalf("a product: %d %s", a.Code, a.Text("#side"))
		}
	}
	if a := scan("000000"); a.Text(".problem") != walkin.ErrPIN.Message || a.Text("#who-name") != "Anna Lindqvist" {
		t.Errorf("a wrong PIN: %d %s", a.Code, a.Text("#side"))
	}
	if a := scan(s.card(bo).Digits); a.Text("#who-name") != "Bo Lindqvist" || a.Value("[name=rewards][checked]") != "" {
		t.Errorf("another customer's PIN: %d %s", a.Code, a.Text("#side"))
	}
	plain := cashier.Post("/till/take", func() url.Values { // without JavaScript
		form := maps.Clone(entered)
		form.Set("scan", "4711")
		return form
	}())
	if plain.Text("#who-name") != "Anna Lindqvist" || plain.Value("[name=amount]") != "12.50" || !strings.HasPrefix(plain.Text(".problem"), "This isn't a customer's code") {
		t.Errorf("without JavaScript: %d %s", plain.Code, plain.Text("main"))
	}
}

// A customer is looked up by phone: one match is the customer, several are listed, by the last
// digits too.
func TestFindingByPhone(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, bo := s.customer("Anna", 0), s.customer("Bo", 0)
	if _, err := s.Customers.Edit(t.Context(), s.By, bo.ID, customer.Edit{Phone: core.Set("+46 8 999" + anna.Phone[len(anna.Phone)-4:])}); err != nil {
		t.Fatal(err)
	}
	cashier := s.signedIn(core.Cashier)
	if a := cashier.script("/till/find", webtest.Form("phone", anna.Phone)); a.Text("#who-name") != "Anna Lindqvist" {
		t.Errorf("the whole number finds %q", a.Text("#side"))
	}
	several := cashier.script("/till/find", webtest.Form("phone", anna.Phone[len(anna.Phone)-4:], "spend_amount_cents", "700"))
	if got := several.Find("[name=choose]").Length(); got != 2 || several.Text("[data-total]") != "€ 7.00" {
		t.Errorf("the last digits list %d: %s", got, several.Text("#side"))
	}
	if a := cashier.script("/till/choose", webtest.Form("choose", bo.ID.String())); a.Text("#who-name") != "Bo Lindqvist" {
		t.Errorf("chosen %q", a.Text("#side"))
	}
	if a := cashier.script("/till/find", webtest.Form("phone", "12")); a.Code != http.StatusUnprocessableEntity || a.Text(".problem") != till.NoSearch {
		t.Errorf("two digits: %d %q", a.Code, a.Text(".problem"))
	}
	if a := cashier.script("/till/find", webtest.Form("phone", " ")); a.Code != http.StatusUnprocessableEntity || a.Text(".problem") != till.NoSearch {
		t.Errorf("nothing: %d %q", a.Code, a.Text(".problem"))
	}
	none := cashier.script("/till/find", webtest.Form("phone", "+46 8 555 0000"))
	if got := none.Attr(".found a", "href"); got != "/admin/customers/new?phone=%2B46+8+555+0000&to=till" {
		t.Errorf("an unknown number leads to %q: %s", got, none.Text(".found"))
	}
	gone := cashier.script("/till/leave", webtest.Form("customer_ulid", anna.ID.String(), "spend_amount_cents", "700"))
	if gone.Find("#who-name").Length() != 0 || gone.Text("[data-total]") != "€ 7.00" {
		t.Errorf("× leaves %q", gone.Text("#side"))
	}
}

// Customers are found by name too: by words in any order, by parts of two letters or more. Who was here last comes
// first, and those with one name are told apart by their numbers.
func TestFindingByName(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, namesake := s.customer("Anna-Lena", 0), s.customer("Anna", 5)
	gone := s.customer("Annika", 9)
	s.inactive(gone)
	cashier := s.signedIn(core.Cashier)
	if a := cashier.script("/till/find", webtest.Form("phone", "lindqvist lena", "spend_amount_cents", "700")); a.Text("#who-name") != "Anna-Lena Lindqvist" || a.Text("[data-total]") != "€ 7.00" {
		t.Errorf("one match: %q", a.Text("#side"))
	}
	end := func(c customer.Customer) string { return "…" + c.Phone[len(c.Phone)-4:] }
	several := cashier.script("/till/find", webtest.Form("phone", "ann"))
	want := []string{"AL Anna Lindqvist " + end(namesake), "AL Anna-Lena Lindqvist " + end(anna), "AL Annika Lindqvist Inactive"}
	if got := several.Texts(".matches li"); !slices.Equal(got, want) {
		t.Errorf("several: %q, want %q", got, want)
	}
	if a := cashier.script("/till/find", webtest.Form("phone", "A")); a.Code != http.StatusUnprocessableEntity || a.Text(".problem") != till.NoSearch {
		t.Errorf("one letter: %d %q", a.Code, a.Text(".problem"))
	}
	none := cashier.script("/till/find", webtest.Form("phone", "Zlatan Ibra"))
	if got := none.Attr(".found a", "href"); got != "/admin/customers/new?first_name=Zlatan&last_name=Ibra&to=till" {
		t.Errorf("an unknown name leads to %q: %s", got, none.Text(".found"))
	}
	for range 9 {
		s.customer("Annabel", 0)
	}
	many := cashier.script("/till/find", webtest.Form("phone", "ann"))
	if got := many.Text(".found"); many.Find("[name=choose]").Length() != 10 || !strings.Contains(got, "More customers match") {
		t.Errorf("many: %q", got)
	}
}

// An inactive customer's number says so at once, keeps the amount, and doesn't offer to add them again.
func TestFindingAnInactiveCustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 5)
	s.inactive(anna)
	cashier := s.signedIn(core.Cashier)
	for _, typed := range []string{anna.Phone, anna.Phone[len(anna.Phone)-4:], "lindqvist"} {
		a := cashier.script("/till/find", webtest.Form("phone", typed, "spend_amount_cents", "700"))
		if got := a.Text("#side"); a.Code != http.StatusOK || !strings.Contains(got, "This customer is inactive. A manager can reactivate them.") || strings.Contains(got, "Add customer") {
			t.Errorf("%q: %d %q", typed, a.Code, got)
		}
		whole := cashier.Post("/till/find", webtest.Form("phone", typed, "amount", "7.00"))
		if got := whole.Value("[name=amount]"); got != "7.00" {
			t.Errorf("%q, without JavaScript: the amount is %q", typed, got)
		}
	}
	// Someone who became inactive after they were chosen.
	refused := cashier.script("/till/sale", saleForm(cashier.Get("/till"), "customer_ulid", anna.ID.String(), "spend_amount_cents", "700"))
	if got := refused.Text(".problem"); refused.Code != http.StatusUnprocessableEntity || !strings.HasPrefix(got, "This customer is inactive") {
		t.Errorf("a sale: %d %q", refused.Code, got)
	}
}

// "Suggested customers are those who were just here", by first name and initial: "others see
// the screen".
func TestRecentCustomersAreShownByInitial(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.customer("Anna", 10)
	a := s.signedIn(core.Cashier).Get("/till")
	if got := a.Text(".recent li"); got != "AL Anna L. just now" {
		t.Errorf("recent customers: %q", got)
	}
}

// "A confirm that got no answer can be pressed again and records one sale".
func TestAConfirmPressedAgainIsOneSale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	cashier := s.signedIn(core.Cashier)
	sent := saleForm(cashier.serve(anna), "spend_amount_cents", "1250")
	var clicks sync.WaitGroup
	for range 20 {
		again := cashier.Clone()
		clicks.Go(func() {
			if a := again.Post("/till/sale", sent); a.Code != http.StatusSeeOther || !strings.HasPrefix(a.Header().Get("Location"), "/till/receipts/") {
				t.Errorf("a click is answered %d to %q", a.Code, a.Header().Get("Location"))
			}
		})
	}
	clicks.Wait()
	if got := s.balance(anna); got != 12 {
		t.Errorf("balance = %d, want 12", got)
	}
	if a := cashier.script("/till/sale", sent); !strings.HasPrefix(a.Header().Get("Hx-Redirect"), "/till/receipts/") {
		t.Errorf("the script's retry is answered %d %v", a.Code, a.Header())
	}

	// The same form with something else in it is not silently another sale.
	sent.Set("spend_amount_cents", "9900")
	other := cashier.script("/till/sale", sent)
	if other.Code != http.StatusUnprocessableEntity || other.Value("[name=form_key]") == sent.Get("form_key") {
		t.Errorf("with another amount: %d %q", other.Code, other.Text(".problem"))
	}
	if got := s.balance(anna); got != 12 {
		t.Errorf("balance = %d, want 12", got)
	}
}

// A reward with a picture is shown with it, and the cashier may see it.
func TestRewardPicture(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 100)
	picture := shoptest.Picture()
	s.AddReward(reward.New{Name: "Filter coffee", PointsCost: new(int64(80)), Picture: &picture})
	s.reward("Tea", 10)
	shown := s.signedIn(core.Cashier).serve(anna)
	src := shown.Attr(".uses img", "src")
	if shown.Find(".uses img").Length() != 1 || !strings.HasPrefix(src, "/admin/rewards/") || !strings.Contains(src, "/picture/") {
		t.Errorf("the rewards: %q, with the picture %q", shown.Text(".uses li"), src)
	}
}

// Rewards are "pending → fulfilled in one go", vouchers redeemed, and the receipt says what to
// hand over.
func TestRewardsAndVouchersWithASale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 100)
	coffee := s.reward("Filter coffee", 80)
	s.reward("Lunch", 900)
	voucher, _ := s.voucher(anna, 500)
	cashier := s.signedIn(core.Cashier)
	shown := cashier.serve(anna)
	if got := shown.Text(".uses li"); !strings.Contains(got, "Filter coffee Reward 80 points") || !strings.Contains(got, "€ 5.00 off Voucher, until") || strings.Contains(got, "Lunch") {
		t.Errorf("there is to use: %q", got)
	}
	used := saleForm(shown, "spend_amount_cents", "2450", "rewards", coffee.String(), "vouchers", voucher.String())
	earns := cashier.Get("/till/earns?"+used.Encode(), "Hx-Request", "true")
	if got := earns.Text("#earns"); got != "To pay € 19.50 € 24.50 − € 5.00 This sale earns +19 points New balance 39 points" {
		t.Errorf("the preview says %q", got)
	}
	receipt := cashier.script("/till/sale", used)
	if got := receipt.Text(".used"); got != "Filter coffee Hand over € 5.00 off −€ 5.00" {
		t.Errorf("the receipt says %q (%d %s)", got, receipt.Code, receipt.Text(".problem"))
	}
	if got := s.balance(anna); got != 39 {
		t.Errorf("balance = %d, want 39", got)
	}

	// Without an amount, it is only redeemed.
	bo := s.customer("Bo", 80)
	only := cashier.Post("/till/sale", saleForm(cashier.serve(bo), "rewards", coffee.String()))
	if to := only.Header().Get("Location"); !strings.HasPrefix(to, "/till/receipts/") || cashier.Get(to).Text(".used") != "Filter coffee Hand over" {
		t.Errorf("redeemed only: %d to %q", only.Code, to)
	}
	if got := s.balance(bo); got != 0 {
		t.Errorf("balance = %d, want 0", got)
	}
}

// "Redeem a reward (pending → fulfilled in one go or later)": what was redeemed before is
// handed over at the till.
func TestFulfillingWhatWasRedeemedBefore(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna, coffee := s.customer("Anna", 100), s.reward("Filter coffee", 80)
	before := s.Redeem(anna.ID, coffee)
	cashier := s.signedIn(core.Cashier)
	shown := cashier.serve(anna)
	if got := shown.Text(".uses li"); !strings.HasPrefix(got, "Filter coffee Redeemed ") || !strings.HasSuffix(got, " Free") {
		t.Errorf("there is to use: %q", got)
	}
	done := cashier.Post("/till/sale", saleForm(shown, "pending", before.ID.String()))
	if got := cashier.Get(done.Header().Get("Location")).Text(".used"); got != "Filter coffee Hand over" {
		t.Errorf("the receipt says %q", got)
	}
	if r, err := s.Rewards.FindRedemption(t.Context(), s.By, before.ID); err != nil || r.Status != reward.Fulfilled || s.balance(anna) != 20 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := cashier.serve(anna).Text(".uses li"); got != "" {
		t.Errorf("still there: %q", got)
	}
}

// "Void one's own last sale within ten minutes": its receipt is found again.
func TestTheLastSale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(core.Cashier)
	none := cashier.Ask(http.MethodGet, "/till/last")
	if got := none.Text(".problem"); none.Code != http.StatusNotFound || got != till.NoLastReceipt {
		t.Errorf("before the first: %d %q", none.Code, got)
	}
	anna := s.customer("Anna", 10)
	sold := cashier.Submitted("/till/sale", saleForm(cashier.serve(anna), "spend_amount_cents", "2450"))
	if to := cashier.Ask(http.MethodGet, "/till/last").Header().Get("Location"); to != sold {
		t.Errorf("led to %q, want %q", to, sold)
	}
	if other := s.signedIn(core.Cashier).Ask(http.MethodGet, "/till/last"); other.Code != http.StatusNotFound {
		t.Errorf("a colleague's: %d", other.Code)
	}
}

// "Ask at the till to open it": staff show the link to a customer's card as a QR code, or
// e-mail it, and go on with the sale and the PIN that they had.
func TestTheLinkToACard(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 10)
	cashier := s.signedIn(core.Cashier)
	taken := cashier.Post("/till/take", url.Values{"pin": {s.card(anna).Digits}})
	link := taken.Attr("a[href*='/card']", "href")
	shown := cashier.Get(link)
	if got := shown.Text("h1"); got != "Scan to open your card, Anna" || shown.Find(".qr").Length() != 1 || shown.Find("[action*=mail]").Length() != 0 {
		t.Errorf("%s shows %q", link, got)
	}
	back := cashier.Get(shown.Attr("[data-cancel]", "href"))
	if pin := taken.Find("[name=pin_ulid]").AttrOr("value", "none"); back.Value("[name=pin_ulid]") != pin {
		t.Errorf("the PIN %s is lost on the way back", pin)
	}
	if _, err := s.Customers.Edit(t.Context(), s.By, anna.ID, customer.Edit{Email: core.Set("anna@example.com")}); err != nil {
		t.Fatal(err)
	}
	mailed := cashier.Post(cashier.Get(link).Attr("[action*=mail]", "action"), url.Values{})
	if got := mailed.Text(".show-done"); got == "" {
		t.Errorf("e-mailed: %d %q", mailed.Code, got)
	}
}

// "A refused sale can be corrected and completed": everything stays as it was entered.
func TestARefusedSaleIsCorrected(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 50)
	dear := s.reward("Lunch", 80)
	cashier := s.signedIn(core.Cashier)
	shown := s.card(anna)
	found := cashier.script("/till/take", webtest.Form("pin", shown.Digits))
	sent := saleForm(cashier.Get("/till"), "spend_amount_cents", "2450", "customer_ulid", anna.ID.String(),
		"pin_ulid", found.Value("[name=pin_ulid]"), "rewards", dear.String())
	refused := cashier.script("/till/sale", sent)
	if refused.Code != http.StatusUnprocessableEntity || refused.Text(".problem") != "Insufficient points balance." {
		t.Fatalf("refused: %d %q", refused.Code, refused.Text(".problem"))
	}
	corrected := saleForm(refused)
	if corrected.Get("spend_amount_cents") != "2450" || corrected.Get("customer_ulid") != anna.ID.String() || corrected.Get("pin_ulid") != sent.Get("pin_ulid") {
		t.Errorf("what is left of it: %v", corrected)
	}
	corrected.Del("rewards")
	if a := cashier.script("/till/sale", corrected); a.Code != http.StatusOK || s.balance(anna) != 74 {
		t.Errorf("corrected: %d %s, balance %d", a.Code, a.Text(".problem"), s.balance(anna))
	}
	if a := cashier.script("/till/sale", saleForm(cashier.serve(anna))); a.Code != http.StatusUnprocessableEntity || a.Text(".pad .wrong") != "Enter an amount" {
		t.Errorf("without an amount: %d %q", a.Code, a.Text(".wrong"))
	}
}

// "A taken PIN completes one sale within five minutes and none after": then the customer is
// gone, and the amount is kept.
func TestAPINThatWasTakenTooLongAgo(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	cashier := s.signedIn(core.Cashier)
	found := cashier.script("/till/take", webtest.Form("pin", s.card(anna).Digits))
	sent := saleForm(cashier.Get("/till"), "spend_amount_cents", "2450", "customer_ulid", anna.ID.String(), "pin_ulid", found.Value("[name=pin_ulid]"))
	s.later(walkin.CompleteWithin + time.Second)
	late := cashier.script("/till/sale", sent)
	if late.Code != http.StatusUnprocessableEntity || late.Text(".problem") != walkin.ErrPIN.Message || late.Find("#who-name").Length() != 0 || late.Text("[data-digits]") != "24.50" {
		t.Errorf("too late: %d %q, %s", late.Code, late.Text(".problem"), late.Text("#side"))
	}
	if got := s.balance(anna); got != 0 {
		t.Errorf("balance = %d, want 0", got)
	}
}

// "Above a tenant's ceiling the panel and the till ask once more."
func TestAnAmountAboveTheCeilingIsAskedAbout(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	cashier := s.signedIn(core.Cashier)
	sent := saleForm(cashier.serve(anna), "spend_amount_cents", "100001")
	asked := cashier.script("/till/sale", sent)
	if got := asked.Text(".ask"); asked.Code != http.StatusOK || got != "Is € 1,000.01 right? It’s above € 1,000.00. Correct amount Record € 1,000.01" || s.balance(anna) != 0 {
		t.Errorf("asked %d %q, balance %d", asked.Code, got, s.balance(anna))
	}
	webtest.With(sent, "spend_amount_cents", "900000", "confirmed", "100001")
	if other := cashier.script("/till/sale", sent); other.Find(".ask").Length() != 1 || s.balance(anna) != 0 {
		t.Errorf("the confirmation of another amount counts: %s", other.Text("main"))
	}
	sent.Set("confirmed", "900000")
	if done := cashier.script("/till/sale", sent); done.Code != http.StatusOK || s.balance(anna) != 9000 {
		t.Errorf("confirmed: %d, balance %d", done.Code, s.balance(anna))
	}
	if a := cashier.script("/till/show", saleForm(cashier.Get("/till"), "spend_amount_cents", "100001")); a.Text(".ask h2") != "Is € 1,000.01 right?" {
		t.Errorf("letting the customer scan: %d %s", a.Code, a.Text("main"))
	}
}

// "Void one's own last sale within ten minutes (cashier) or any (manager)"; "undo for ten
// minutes, on the receipt".
func TestUndoingASale(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	cashier, manager := s.signedIn(core.Cashier), s.signedIn(core.Manager)
	sold := func() string {
		dbtest.Tick(s.DB)
		return cashier.Submitted("/till/sale", saleForm(cashier.serve(anna), "spend_amount_cents", "700"))
	}
	first, last := sold(), sold()
	if cashier.Get(first).Find(".undo").Length() != 0 {
		t.Error("an earlier sale is offered to be undone")
	}
	if left := cashier.Get(last).Text("[data-left]"); !strings.HasPrefix(left, "9:5") && left != "10:00 left" {
		t.Errorf("there are %q", left)
	}
	if a := cashier.script(first+"/undo", nil); a.Code != http.StatusUnprocessableEntity || !strings.HasPrefix(a.Text(".problem"), "At the till only your own last sale") {
		t.Errorf("the earlier one: %d %q", a.Code, a.Text(".problem"))
	}
	undone := cashier.script(last+"/undo", nil)
	if undone.Code != http.StatusOK || undone.Text("h1") != "Sale undone" || s.balance(anna) != 7 {
		t.Errorf("undone: %d %q, balance %d", undone.Code, undone.Text("h1"), s.balance(anna))
	}
	third := sold()
	s.later(10*time.Minute + time.Second)
	if cashier.Get(third).Find(".undo").Length() != 0 {
		t.Error("after ten minutes it is still offered")
	}
	if a := manager.Get(third); a.Find(".undo").Length() != 1 || a.Find("[data-left]").Length() != 0 {
		t.Errorf("a manager is offered %q", a.Text(".receipt-foot"))
	}
	if a := manager.Post(third+"/undo", nil); a.Code != http.StatusSeeOther || s.balance(anna) != 7 {
		t.Errorf("a manager: %d, balance %d", a.Code, s.balance(anna))
	}
}

// A device of a business with several locations is asked once for its own, before its first sale, and goes on with
// what was entered. It isn't asked if there is only one.
func TestTheLocationIsAskedOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	voucher, _ := s.voucher(anna, 300)
	var places []location.Location
	for _, name := range []string{"Harbour", "Market"} {
		l, err := core.Result(s.Locations.Add(t.Context(), s.By, location.New{Name: name}, nil))
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, l)
		if asked := s.signedIn(core.Cashier).Get("/till"); (asked.Find("main.which-place").Length() == 1) != (len(places) == 2) {
			t.Errorf("with %d locations: %q", len(places), asked.Text("main"))
		}
	}
	cashier := s.signedIn(core.Cashier)
	asked := cashier.Post("/till/take", webtest.Form("scan", voucher.String(), "amount", "7.00"))
	if got := asked.Texts(".which-place button"); !slices.Equal(got, []string{"Harbour", "Market"}) {
		t.Fatalf("it asks for %q", got)
	}
	shown := cashier.Submit("/till/location", webtest.With(asked.Fields(".which-place form"), "id", decimal(places[1].ID)))
	if shown.Text("#who-name") != "Anna Lindqvist" || shown.Value("[name=amount]") != "7.00" || shown.Value("[name=vouchers][checked]") != voucher.String() || shown.Value("[name=location_id]") != decimal(places[1].ID) {
		t.Errorf("it goes on with %s", shown.Text("main"))
	}
	if again := cashier.Get("/till"); again.Find("main.which-place").Length() != 0 || again.Text(".place-name") != "Market" {
		t.Errorf("the second time: %q", again.Text("main"))
	}
	// The script's Next sale, on a device whose location has closed.
	if _, err := core.Result(s.Locations.Add(t.Context(), s.By, location.New{Name: "Station"}, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Locations.Edit(t.Context(), s.By, places[1].ID, location.Edit{Active: core.Set(false)}); err != nil {
		t.Fatal(err)
	}
	if next := cashier.Get("/till", "Hx-Request", "true"); next.Find("main.which-place#till").Length() != 1 {
		t.Errorf("after it closed: %q", next.Text("main"))
	}
	elsewhere := cashier.Post("/till/location", webtest.Form("id", decimal(places[0].ID), "to", "https://evil.example/till"))
	if to := elsewhere.Header().Get("Location"); to != "/till" {
		t.Errorf("a forged answer leads to %q", to)
	}
}

// What expires first comes first, and the head says how much there is.
func TestWhatCanBeUsedIsInOrder(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 500)
	s.reward("Filter coffee", 80)
	s.reward("Lunch", 900)
	before := s.Redeem(anna.ID, s.reward("Bun", 100))
	late, soon := s.discount(anna, coupon.Amount, 300, 30), s.discount(anna, coupon.Percent, 20, 2)
	lasting := s.Coupon(coupon.New{Name: "Gift", BenefitType: string(coupon.Points), BenefitValue: new(int64(5)), MaxPerCustomer: new(int64(1))})
	endless := s.Voucher(lasting.ID, anna.ID)
	shown := s.signedIn(core.Cashier).serve(anna)
	if got := shown.Text(".uses-head"); got != "Rewards and vouchers 6 available" {
		t.Errorf("the head says %q", got)
	}
	var got []string
	shown.Find(".uses input").Each(func(_ int, box *goquery.Selection) { got = append(got, box.AttrOr("value", "")) })
	if want := []string{soon.String(), late.String(), before.ID.String(), endless.String()}; !slices.Equal(got[:4], want) || len(got) != 6 {
		t.Errorf("the order is %q, want %q and the affordable rewards", got, want)
	}
}

// "One act, one undo": the sale, the reward and the voucher go back together, the receipt lists each, and it is whole
// however it is opened. Undone twice is once.
func TestUndoingASaleWithItsRewardsAndVouchers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 200)
	coffee := s.reward("Filter coffee", 75)
	voucher, _ := s.voucher(anna, 500)
	cashier := s.signedIn(core.Cashier)
	receipt := cashier.Submitted("/till/sale", saleForm(cashier.serve(anna), "spend_amount_cents", "850", "rewards", coffee.String(), "vouchers", voucher.String()))
	if got := s.balance(anna); got != 128 {
		t.Fatalf("balance = %d, want 128", got)
	}
	opened := cashier.Get(cashier.Ask(http.MethodGet, "/till/last").Header().Get("Location"))
	if got := opened.Text(".used"); got != "Filter coffee Hand over € 5.00 off −€ 5.00" || !strings.Contains(opened.Text(".undo"), "Undo sale") {
		t.Errorf("the last receipt says %q, and offers %q", got, opened.Text(".undo"))
	}
	for range 2 {
		cashier.script(receipt+"/undo", nil)
		for name, undone := range map[string]webtest.Page{"undone": cashier.script(receipt+"/undo", nil), "opened again": cashier.Get(receipt)} {
			if got := undone.Text(".used"); undone.Code != http.StatusOK || got != "Filter coffee 75 points returned € 5.00 off Voucher valid again" || undone.Find(".used s").Length() != 2 {
				t.Errorf("%s: %d %q", name, undone.Code, got)
			}
			if got := undone.Text("h1"); got != "Sale undone" || undone.Find(".undo").Length() != 0 || !strings.Contains(undone.Text(".receipt-balance"), "200 points") {
				t.Errorf("%s: %q, %q", name, got, undone.Text(".receipt"))
			}
		}
	}
	if got := s.balance(anna); got != 200 {
		t.Errorf("balance = %d, want 200", got)
	}
	// The voucher is used by another sale: the first receipt stays whole.
	cashier.Submitted("/till/sale", saleForm(cashier.serve(anna), "spend_amount_cents", "850", "vouchers", voucher.String()))
	if got := cashier.Get(receipt).Text(".used"); got != "Filter coffee 75 points returned € 5.00 off Voucher returned, redeemed again since" {
		t.Errorf("the first receipt says %q", got)
	}
}

// Rewards and vouchers without a sale are undone in the same way, and what an undo leaves alone is told.
func TestUndoingARedemption(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 100)
	coffee, bun := s.reward("Filter coffee", 40), s.reward("Cinnamon bun", 10)
	before := s.Redeem(anna.ID, bun)
	cashier := s.signedIn(core.Cashier)
	redeemed := func() string {
		t.Helper()
		dbtest.Tick(s.DB)
		return cashier.Submitted("/till/sale", saleForm(cashier.serve(anna), "rewards", coffee.String(), "pending", before.ID.String()))
	}
	first := redeemed()
	if a := cashier.Get(first); a.Text("h1") != "Redeemed" || a.Text(".used") != "Cinnamon bun Hand over Filter coffee Hand over" || !strings.Contains(a.Text(".undo"), "Undo redemption") {
		t.Errorf("the receipt says %q", a.Text(".receipt"))
	}
	undone := cashier.script(first+"/undo", nil)
	if got := undone.Text(".used"); undone.Text("h1") != "Redemption undone" || got != "Cinnamon bun Reward pending again Filter coffee 40 points returned" {
		t.Errorf("undone: %q %q", undone.Text("h1"), got)
	}
	second := redeemed()
	coffeeOfSecond := shoptest.Query[core.ID](s.Shop, "select id from loyalty.redemption where tenant_id = $1 and reward_id = $2 and status = 'fulfilled'", s.By.Tenant.ID, coffee)
	s.VoidRedemption(coffeeOfSecond)
	if got := cashier.Get(second).Text(".used"); got != "Cinnamon bun Hand over Filter coffee Voided" {
		t.Errorf("after a manager's void: %q", got)
	}
	if got := cashier.script(second+"/undo", nil).Text(".used"); got != "Cinnamon bun Reward pending again Filter coffee Was voided before" {
		t.Errorf("undone: %q", got)
	}
	if got := s.balance(anna); got != 90 {
		t.Errorf("balance = %d, want 90", got)
	}
	third := redeemed()
	s.later(25 * time.Hour)
	if got := s.signedIn(core.Manager).script(third+"/undo", nil).Text(".used"); got != "Cinnamon bun Stays redeemed: used over a day ago Filter coffee Stays redeemed: used over a day ago" {
		t.Errorf("after a day: %q", got)
	}
}

// A sale that a manager voided by itself leaves its rewards and vouchers redeemed. The till undoes them.
func TestUndoingWhatAVoidLeft(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 100)
	coffee := s.reward("Filter coffee", 40)
	cashier := s.signedIn(core.Cashier)
	receipt := cashier.Submitted("/till/sale", saleForm(cashier.serve(anna), "spend_amount_cents", "350", "rewards", coffee.String()))
	id, err := core.ParseID(strings.TrimPrefix(receipt, "/till/receipts/"))
	s.Check(err)
	s.VoidSale(id)
	voided := cashier.Get(receipt)
	if voided.Text("h1") != "Sale voided" || voided.Text(".receipt-body > .quiet") != "Its rewards and vouchers stay redeemed" || !strings.Contains(voided.Text(".undo"), "Undo rewards and vouchers") {
		t.Errorf("voided: %q", voided.Text(".receipt"))
	}
	undone := cashier.script(receipt+"/undo", nil)
	if undone.Text("h1") != "Sale undone" || undone.Text(".used") != "Filter coffee 40 points returned" || s.balance(anna) != 100 {
		t.Errorf("undone: %q, balance %d", undone.Text(".receipt"), s.balance(anna))
	}
}

// "The till remembers its location, which is on each sale"; one that has closed is dropped.
func TestTheDeviceRemembersItsLocation(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	place := func(name string) location.Location {
		l, err := core.Result(s.Locations.Add(t.Context(), s.By, location.New{Name: name}, nil))
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	harbour, market := place("Harbour"), place("Market")
	cashier := s.signedIn(core.Cashier)
	if got := cashier.Get("/till").Text(".place-name"); got != "Choose location" {
		t.Errorf("at first: %q", got)
	}
	set := cashier.script("/till/location", webtest.Form("id", decimal(harbour.ID)))
	cookie := cashier.Cookies["__Host-till-location"]
	if set.Text(".place-name") != "Harbour" || cookie == nil || cookie.MaxAge != 365*24*3600 || !cookie.Secure || !cookie.HttpOnly {
		t.Errorf("set to %q, %v", set.Text(".place-name"), cookie)
	}
	shown := cashier.serve(anna)
	receipt := cashier.Submitted("/till/sale", saleForm(shown, "spend_amount_cents", "700"))
	id, err := core.ParseID(strings.TrimPrefix(receipt, "/till/receipts/"))
	if err != nil {
		t.Fatal(err)
	}
	sale, err := s.Sales.Find(t.Context(), s.By, id)
	if err != nil || sale.LocationID == nil || *sale.LocationID != harbour.ID {
		t.Errorf("the sale was made at %v, %v", sale.LocationID, err)
	}
	if _, err := s.Locations.Edit(t.Context(), s.By, harbour.ID, location.Edit{Active: core.Set(false)}); err != nil {
		t.Fatal(err)
	}
	// What was on the screen is refused, and the page that says so has dropped it.
	refused := cashier.script("/till/sale", saleForm(shown, "spend_amount_cents", "800", "form_key", core.NewID(s.DB.Now()).String()))
	if refused.Code != http.StatusUnprocessableEntity || refused.Text(".problem") != webtest.MessageApart("location_id", core.InvalidChoice) {
		t.Errorf("at a closed location: %d %q", refused.Code, refused.Text(".problem"))
	}
	if got := cashier.Get("/till").Text(".place-name"); got != market.Name {
		t.Errorf("after it closed: %q, want the one that is left", got)
	}
	if a := cashier.Post("/till/location", webtest.Form("id", decimal(harbour.ID))); a.Code != http.StatusNotFound {
		t.Errorf("choosing the closed one = %d", a.Code)
	}
}

// Without JavaScript the steps are pages, and none loses what another entered.
func TestWithoutJavaScript(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	cashier := s.signedIn(core.Cashier)
	blank := webtest.Form("form_key", cashier.Get("/till").Value("[name=form_key]"), "transaction_type_id", decimal(s.kind.ID),
		"amount", "24.50", "scan", "", "pin", s.card(anna).Digits, "phone", "")
	// Enter in the PIN's field presses the form's first button.
	blank.Set("enter", "1")
	found := cashier.Post("/till/sale", blank)
	if found.Text("#who-name") != "Anna Lindqvist" || found.Value("[name=amount]") != "24.50" {
		t.Fatalf("found: %d %s", found.Code, found.Text("main"))
	}
	sent := webtest.Form("form_key", found.Value("[name=form_key]"), "transaction_type_id", decimal(s.kind.ID), "amount", "24.50",
		"customer_ulid", anna.ID.String(), "pin_ulid", found.Value("[name=pin_ulid]"))
	done := cashier.Post("/till/sale", sent)
	if to := done.Header().Get("Location"); done.Code != http.StatusSeeOther || cashier.Get(to).Text(".amount") != "€ 24.50" {
		t.Errorf("done: %d to %q", done.Code, to)
	}
	ambiguous := cashier.Post("/till/sale", webtest.Form("customer_ulid", anna.ID.String(), "transaction_type_id", decimal(s.kind.ID), "amount", "12,505"))
	if ambiguous.Code != http.StatusUnprocessableEntity || ambiguous.Find("[name=amount_choice]").Length() != 2 {
		t.Errorf("an amount of two readings: %d %s", ambiguous.Code, ambiguous.Text(".pad"))
	}
}

// Cents depend on the currency: the keypad fills an amount from the right with its decimals.
func TestAmountsOfOtherCurrencies(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]string{"JPY": "0 2,450", "KWD": "3 2.450", "EUR": "2 24.50"} {
		s := newShop(t)
		if _, err := s.Tenants.EditSettings(t.Context(), s.By, tenant.SettingsEdit{Currency: core.Set(currency), Confirmed: "EUR-" + currency + " rule:100"}); err != nil {
			t.Fatal(err)
		}
		a := s.signedIn(core.Cashier).Get("/till?spend_amount_cents=2450")
		if got := a.Attr("#sale", "data-decimals") + " " + a.Text("[data-digits]"); got != want {
			t.Errorf("%s: %q, want %q", currency, got, want)
		}
	}
}

// "Web app manifest and icons, so the POS … can sit on a home screen"; the camera is for these
// pages alone.
func TestInstallableWithACamera(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	manifest := s.stranger().Get("/till/manifest.webmanifest")
	if got := manifest.Body.String(); !strings.Contains(got, `"start_url":"/till"`) || !strings.Contains(got, `"display":"standalone"`) || !strings.Contains(got, `"src":"/brand/icon/5746d6-512.png"`) ||
		manifest.Header().Get("Content-Type") != "application/manifest+json" {
		t.Errorf("manifest: %v %s", manifest.Header(), got)
	}
	h := s.signedIn(core.Cashier).Get("/till").Header()
	if !strings.Contains(h.Get("Content-Security-Policy"), "script-src 'self' 'wasm-unsafe-eval';") || !strings.Contains(h.Get("Permissions-Policy"), "camera=(self)") {
		t.Errorf("headers: %v", h)
	}
}

// A customer without a phone number is found by name or e-mail address. Their address is shown only once they are chosen.
func TestFindingACustomerWithoutAPhoneNumber(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Exec("update loyalty.tenant set phone_optional = true where id = $1", s.By.Tenant.ID)
	s.By.Tenant.PhoneOptional = true
	greta := s.AddCustomer(customer.New{FirstName: "Greta", LastName: "Lindqvist", Email: "greta@example.com"})
	s.customer("Gunnel", 5)
	cashier := s.signedIn(core.Cashier)
	several := cashier.script("/till/find", webtest.Form("phone", "lindqvist"))
	if got := several.Texts(".matches li"); len(got) != 2 || !slices.Contains(got, "GL Greta Lindqvist No phone number") {
		t.Errorf("several: %q", got)
	}
	for _, typed := range []string{"greta", "greta@example.com"} {
		chosen := cashier.script("/till/find", webtest.Form("phone", typed))
		if got := chosen.Text(".who-words"); got != "Greta Lindqvist greta@example.com" {
			t.Errorf("%q finds %q", typed, got)
		}
	}
	sold := cashier.script("/till/sale", saleForm(cashier.Get("/till"), "customer_ulid", greta.ID.String(), "spend_amount_cents", "700"))
	if got := s.Account(greta.ID); got.Points == 0 {
		t.Errorf("a sale: %d %q", sold.Code, sold.Text("main"))
	}
}
