package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
)

// A refused form "keeps what was typed", says what is wrong beside each field, and leads there.
func TestAddingACustomer(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	cashier := s.signedIn(t, core.Cashier)
	refused := cashier.post("/admin/customers/new", form("first_name", "Elsa <b>", "last_name", "", "phone", "08-465 004 12", "email", "elsa"))
	if refused.Code != http.StatusUnprocessableEntity {
		t.Fatalf("answered %d", refused.Code)
	}
	if got := refused.words(".invalid-feedback"); got != "The last name field is required. The e-mail field must be a valid email address." {
		t.Errorf("beside the fields: %q", got)
	}
	if typed, _ := refused.Find("#field-first_name").Attr("value"); typed != "Elsa <b>" {
		t.Errorf("first name is now %q", typed)
	}
	if link, _ := refused.Find(".alert a").Last().Attr("href"); refused.Find(link).Length() != 1 {
		t.Errorf("the summary leads to %q", link)
	}

	made := cashier.post("/admin/customers/new", form("first_name", "Elsa", "last_name", "Berg", "phone", "08-465 004 12", "email", ""))
	if made.Code != http.StatusSeeOther || !strings.HasPrefix(made.Header().Get("Location"), "/admin/customers/") {
		t.Fatalf("answered %d, to %s", made.Code, made.Header().Get("Location"))
	}
	list := cashier.get("/admin/customers?search=erg")
	if got := list.words("#flashes"); got != "Elsa Berg is a customer now." {
		t.Errorf("flash = %q", got)
	}
	if got := list.words("tbody"); !strings.Contains(got, "Elsa Berg") {
		t.Errorf("list = %q", got)
	}
}
