package walkin_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/walkin"
)

// renewed shows a card's PIN and renews it, and returns the last one.
func (s shop) renewed(c customer.Customer, times int) walkin.Shown {
	s.T.Helper()
	shown := s.card(c)
	for range times {
		next, err := s.Walkins.RenewCard(s.T.Context(), walkin.Card{Customer: c}.Actor(s.By.Tenant, "192.0.2.7", ""), c.ID, shown.ID)
		s.Check(err)
		shown = next
	}
	return shown
}

// pins are the entries of the audit log about PINs, oldest first.
func (s shop) pins() []string {
	s.T.Helper()
	return shoptest.QueryAll[string](s.Shop, `
		select action || coalesce(' ' || (new ->> 'renewals'), '') || ' by ' || actor_name
		from loyalty.audit_entry
		where tenant_id = $1 and subject_kind = 'pin'
		order by id`, s.By.Tenant.ID)
}

func wantPINs(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("%s: the log has %q, want %q", what, got, want)
	}
}

// The renewals of one showing are one entry with their number: when a till takes the PIN, and when the card shows a new one
// later.
func TestRenewalsAreOneEntry(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Customer()
	shown := s.renewed(c, 5)
	wantPINs(t, "while it is shown", s.pins(), "pin.issue by Anna Lindqvist")
	for range 2 { // again: the same till
		if _, err := s.Walkins.TakeCard(t.Context(), s.cashier, "till", walkin.Key{Code: shown.Code}); err != nil {
			t.Fatal(err)
		}
	}
	taken := s.pins()
	if len(taken) != 4 || !strings.HasPrefix(taken[1], "pin.renew 5 ") {
		t.Errorf("after the take: %q", taken)
	}

	s = newShop(t)
	c = s.Customer()
	s.renewed(c, 3)
	s.card(c)
	wantPINs(t, "after another showing", s.pins(), "pin.issue by Anna Lindqvist", "pin.renew 3 by Anna Lindqvist", "pin.issue by Anna Lindqvist")
}

// Pages of one card that renew the same PIN at once: each PIN is in the log once, as a showing or as one of its renewals.
func TestRenewalsAtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c := s.Customer()
	const before, atOnce = 3, 12
	shown := s.renewed(c, before)
	var all sync.WaitGroup
	var busy atomic.Int64
	for range atOnce {
		all.Go(func() {
			_, err := s.Walkins.RenewCard(t.Context(), walkin.Card{Customer: c}.Actor(s.By.Tenant, "192.0.2.7", ""), c.ID, shown.ID)
			if refusal := (*core.Error)(nil); errors.As(err, &refusal) && refusal.Kind == core.KindUnavailable {
				busy.Add(1)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.renewed(c, 0) // ends the last showing, in the log, too
	want := 1 + before + atOnce - busy.Load() + 1
	logged := shoptest.Query[int64](s.Shop, `
		select sum(coalesce((new ->> 'renewals')::bigint, 1))::bigint
		from loyalty.audit_entry
		where tenant_id = $1 and action in ('pin.issue', 'pin.renew')`, s.By.Tenant.ID)
	if issued := shoptest.Query[int64](s.Shop, "select count(*) from loyalty.pin where tenant_id = $1", s.By.Tenant.ID); logged != want || issued != want {
		t.Errorf("the log has %d PINs, and %d were issued, want %d: %q", logged, issued, want, s.pins())
	}
}

// A showing that nothing follows is one entry, too, when its PINs are deleted.
func TestRenewalsThatEndedUnseenAreOneEntry(t *testing.T) {
	t.Parallel()
	s := shopIn(t, dbtest.OwnDB(t))
	c := s.Customer()
	last := s.renewed(c, 4)
	later := s.after(2 * time.Hour)
	for range 2 {
		s.Check(later.Walkins.DeleteOldPINs(t.Context()))
	}
	wantPINs(t, "when it ended unseen", s.pins(), "pin.issue by Anna Lindqvist", "pin.renew 4 by Anna Lindqvist")
	if got := s.Log("pin", last.ID); len(got) != 1 || !strings.Contains(got[0], "pin.renew") {
		t.Errorf("the entry is about %q", got)
	}
}

// mailsTo counts the mails to addresses that end so.
func (s shop) mailsTo(ending string) int {
	s.T.Helper()
	return shoptest.Query[int](s.Shop, "select count(*) from loyalty.mail where tenant_id = $1 and recipient like '%' || $2", s.By.Tenant.ID, ending)
}

// joins has strangers join, each with the next address.
func (s shop) joins(times int, address func(i int) string) {
	s.T.Helper()
	for i := range times {
		d := elsa(shoptest.Phone())
		d.Email = address(i)
		joined, err := core.Result(s.Walkins.Join(s.T.Context(), s.visitor(), d, nil))
		s.Check(err)
		if !joined.New {
			s.T.Fatalf("%s joined before", d.Email)
		}
	}
}

// What strangers may have a business mail is bounded by business, mailbox and domain; they can join nevertheless.
func TestMailsOfJoinsAreBounded(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	own := strings.ToLower(core.NewID(s.DB.Now()).String())
	tagged := func(i int) string { return "victim+" + strings.Repeat("x", i) + "@" + own + "-box.example" }
	s.joins(5, tagged)
	if n := s.mailsTo(own + "-box.example"); n != 3 {
		t.Errorf("%d mails to one mailbox, want 3", n)
	}
	at := func(domain string) func(int) string {
		return func(i int) string { return strings.Repeat("v", i+1) + "-" + own[10:] + "@" + domain }
	}
	s.joins(40, at(own+"-domain.example"))
	next := newShop(t)
	next.Walkins = s.Walkins // one installation
	next.joins(25, func(i int) string { return strings.Repeat("w", i+1) + "@" + own + "-domain.example" })
	if n := s.mailsTo(own+"-domain.example") + next.mailsTo(own+"-domain.example"); n != 60 {
		t.Errorf("%d mails to one domain, want 60", n)
	}
	s.joins(20, at("gmail.com"))
	if n := s.mailsTo("@gmail.com"); n != 60-3-40 {
		t.Errorf("%d mails to a provider, want the rest of the business's 60", n)
	}
	if n := s.mailsTo(""); n != 60 {
		t.Errorf("%d mails of the business, want 60", n)
	}
}

// Strangers can't use up what the staff may send, and the staff are told when nothing was sent.
func TestTheStaffHaveTheirOwnMails(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	email := strings.ToLower(core.NewID(s.DB.Now()).String()) + "@budget.example"
	c := s.AddCustomer(customer.New{FirstName: "Anna", LastName: "Berg", Phone: shoptest.Phone(), Email: email})
	for range 5 {
		s.Check(s.Walkins.MailCard(t.Context(), s.visitor(), email))
	}
	if n := s.mailsTo(email); n != 3 {
		t.Errorf("%d mails by strangers, want 3", n)
	}
	for range 3 {
		s.Check(s.Walkins.SendCard(t.Context(), s.cashier, c.ID))
	}
	err := s.Walkins.SendCard(t.Context(), s.cashier, c.ID)
	if !core.IsKind(err, core.KindThrottled) || !strings.Contains(err.Error(), "Nothing was sent") || s.mailsTo(email) != 6 {
		t.Errorf("%v, %d mails", err, s.mailsTo(email))
	}
	silent := s.Customer()
	if err := s.Walkins.SendCard(t.Context(), s.cashier, silent.ID); err == nil || err.Error() != walkin.ErrNoAddress.Error() {
		t.Errorf("without an address: %v", err)
	}
}

// A card that was opened online is marked until its phone number was checked: the cashier is told once.
func TestTheNumberOfANewCardIsChecked(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	unchecked := func(id core.ID) bool {
		t.Helper()
		w, err := s.Walkins.Customer(t.Context(), s.cashier, id)
		s.Check(err)
		return w.UncheckedSince != nil
	}
	join := func() (core.ID, string) {
		t.Helper()
		d := elsa(shoptest.Phone())
		joined, err := core.Result(s.Walkins.Join(t.Context(), s.visitor(), d, nil))
		s.Check(err)
		id, err := core.ParseID(joined.CardToken[:26])
		s.Check(err)
		if !unchecked(id) {
			t.Fatal("a card that was opened online counts as checked")
		}
		return id, d.Phone
	}
	if unchecked(s.Customer().ID) {
		t.Error("the staff's customers are asked about")
	}

	id, _ := join()
	s.Adjust(id, "points", 100)
	espresso := s.Reward(10, nil)
	sale := walkin.Sale{CustomerID: id, Sold: s.sale(core.ID{}, 1000).Sold, Rewards: []core.ID{espresso}}
	plain := sale
	plain.Rewards = nil
	s.Must(core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", plain, nil, nil)))
	if !unchecked(id) {
		t.Error("a sale alone checks the number")
	}
	s.Must(core.Result(s.Walkins.Complete(t.Context(), s.cashier, "till", sale, nil, nil)))
	if unchecked(id) {
		t.Error("it is asked about after a redemption")
	}

	id, number := join()
	s.Must(s.found(number[len(number)-4:]))
	if !unchecked(id) {
		t.Error("the last digits check the number")
	}
	s.Must(s.found(number))
	if unchecked(id) {
		t.Error("the whole number, told to a cashier, doesn't check it")
	}

	id, _ = join()
	s.Must(s.Customers.Edit(t.Context(), s.By, id, customer.Edit{Phone: core.Set(shoptest.Phone())}))
	if unchecked(id) {
		t.Error("a number that the staff typed is asked about")
	}
}

func (s shop) found(typed string) (customer.Customer, error) {
	list, _, err := s.Walkins.FindCustomers(s.T.Context(), s.cashier, typed)
	if len(list) == 0 {
		s.T.Fatalf("%q finds no one", typed)
	}
	return list[0], err
}
