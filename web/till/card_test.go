package till_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/web/till"
	"example.com/loyalty/web/webtest"
)

// A cashier replaces a card's link after a question, and shows the new one. A scan of the old one says so.
func TestReplacingACardLink(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.customer("Anna", 0)
	token, err := s.Links.Token(link.Card, s.By.Tenant.ID, anna.ID, 0)
	s.Check(err)
	cashier := s.signedIn(core.Cashier)
	path := "/till/customers/" + anna.ID.String() + "/card"
	ask := cashier.Get(path).Links(".show-foot a")
	if len(ask) != 2 || ask[1] != path+"/replace" {
		t.Fatalf("the card leads to %q", ask)
	}
	asked := cashier.Get(ask[1])
	if asked.Text("h1") != "Replace card link?" || asked.Attr(".show-foot a", "href") != path {
		t.Errorf("asked %q", asked.Text("main"))
	}
	done := cashier.Post(asked.Attr(".show-foot form", "action"), nil)
	if done.Code != http.StatusOK || !strings.Contains(done.Text(".show-done"), "Old links no longer work") || done.Find(".show-card svg").Length() != 1 {
		t.Errorf("%d %q", done.Code, done.Text("main"))
	}
	scan := cashier.script("/till/take", webtest.Form("scan", "https://shop.localhost:8443/card/"+token))
	if got := scan.Text(".problem"); !strings.Contains(got, "This card was replaced") || strings.Contains(scan.Body.String(), "Anna") {
		t.Errorf("the old link, scanned: %q", scan.Text("main"))
	}
	if got := s.Log("customer", anna.ID); !strings.HasPrefix(got[len(got)-1], "customer.replace_link") {
		t.Errorf("the log has %q", got)
	}
}

// The till has its own budget of mails, and says when nothing was sent.
func TestTheTillSaysThatNothingWasSent(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	anna := s.AddCustomer(customer.New{FirstName: "Anna", LastName: "Lind", Phone: shoptest.Phone(), Email: core.NewID(s.DB.Now()).String() + "@till.example"})
	cashier, path := s.signedIn(core.Cashier), "/till/customers/"+anna.ID.String()+"/card/mail"
	for range 3 {
		if got := cashier.Post(path, nil); got.Text(".show-done") != "The link is being e-mailed." {
			t.Fatalf("%d %q", got.Code, got.Text("main"))
		}
	}
	if got := cashier.Post(path, nil); got.Code != http.StatusTooManyRequests || !strings.HasPrefix(got.Text(".show-done"), "Nothing was sent") {
		t.Errorf("%d %q", got.Code, got.Text(".show-done"))
	}
}

// "New card: check the phone number", until a cashier has redeemed something for them.
func TestTheCashierChecksTheNumberOfANewCard(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	joined, err := core.Result(s.Walkins.Join(t.Context(), core.Actor{Kind: core.ByCustomer, Tenant: s.By.Tenant, Address: "192.0.2.9"}, walkin.Details{
		FirstName: "Elsa", LastName: "Berg", Phone: shoptest.Phone(), Agreed: true, Terms: "Yes",
	}, nil))
	s.Check(err)
	id, err := core.ParseID(joined.CardToken[:26])
	s.Check(err)
	elsa := customer.Customer{ID: id}
	s.Sale(id, s.kind, 10_000)
	espresso := s.reward("Espresso", 10)
	cashier := s.signedIn(core.Cashier)
	desk := cashier.serve(elsa)
	if got := desk.Text("#who-check"); got != till.CheckPhone {
		t.Fatalf("the till says %q", got)
	}
	sold := cashier.script("/till/sale", saleForm(desk, "spend_amount_cents", "1000", "rewards", espresso.String()))
	if sold.Code != http.StatusOK {
		t.Fatalf("%d %s", sold.Code, sold.Text("main"))
	}
	if got := cashier.serve(elsa).Find("#who-check").Length(); got != 0 {
		t.Error("it says so again after the redemption")
	}
	if got := cashier.serve(s.customer("Anna", 0)).Find("#who-check").Length(); got != 0 {
		t.Error("it says so of a customer whom the staff added")
	}
}
