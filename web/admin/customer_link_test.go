package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/webtest"
)

// Cashiers and above replace a card's link after a question; the new one is offered, not mailed unasked.
func TestReplaceCardLink(t *testing.T) {
	t.Parallel()
	s := newTill(t)
	email := strings.ToLower(core.NewID(s.DB.Now()).String()) + "@link.example"
	s.Must(s.Customers.Edit(t.Context(), s.By, s.elsa.ID, customer.Edit{Email: core.Set(email)}))
	version := func() int64 {
		c, err := s.Customers.Find(t.Context(), s.By, s.elsa.ID)
		s.Check(err)
		return c.LinkVersion
	}
	before := version()
	cashier := s.signedIn(core.Cashier)
	if cashier.Get(s.path()).Find("a[href='"+s.path()+"/card-link']").Length() != 1 {
		t.Error("the page doesn't offer it")
	}
	asked := cashier.Get(s.path()+"/card-link", "Hx-Request", "true")
	if got := asked.Text("#dialog-title"); !strings.HasPrefix(got, "Replace the card link of Elsa") || version() != before {
		t.Errorf("asked %q", got)
	}
	done := cashier.Submit(s.path()+"/card-link", nil)
	if !done.Flashed(ui.Done, "was replaced") || done.Text(".flash-undo button") != "E-mail new link" || version() != before+1 || s.Count("mail where recipient = '"+email+"'") != 0 {
		t.Errorf("done: %q, %d mails", done.Text("#flashes"), s.Count("mail where recipient = '"+email+"'"))
	}
	mail := done.Attr(".flash-undo", "action")
	if sent := cashier.Submit(mail, nil); !sent.Flashed(ui.Done, "being e-mailed") || s.Count("mail where recipient = '"+email+"'") != 1 {
		t.Errorf("mailed: %q", sent.Text("#flashes"))
	}
	cashier.Submit(mail, nil)
	cashier.Submit(mail, nil)
	if full := cashier.Submit(mail, nil); !full.Flashed(ui.Warning, "Nothing was sent") {
		t.Errorf("too many: %q", full.Text("#flashes"))
	}
	edited := s.signedIn(core.Manager).Submit(s.path()+"/edit", webtest.Form("first_name", "Elsa", "last_name", "Berg", "phone", "08-465 004 99", "email", email))
	if !edited.Flashed(ui.Done, "the card link was replaced, too") || version() != before+2 {
		t.Errorf("edited: %q", edited.Text("#flashes"))
	}
	stranger := newShop(t).signedIn(core.Owner)
	for _, path := range []string{"/card-link", "/card-link/mail"} {
		if got := stranger.Post(s.path()+path, nil); got.Code != http.StatusNotFound {
			t.Errorf("another business's %s: %d", path, got.Code)
		}
	}
}
