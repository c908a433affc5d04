package ledger_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
)

// unopened adds customers without an account.
func unopened(t *testing.T, d *db.DB, by core.Actor, n int) (ids []core.ID) {
	t.Helper()
	for i := range n {
		id := core.NewID(d.Now())
		_, err := dbtest.Owner(d).Exec(t.Context(), `
			insert into loyalty.customer (tenant_id, id, first_name, last_name, phone, phone_key, created_at, updated_at)
			values ($1, $2, 'Anna', 'Lindqvist', $3, $3, now(), now())`, by.Tenant.ID, id, fmt.Sprintf("+4670174%04d", i))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func openAll(t *testing.T, d *db.DB, by core.Actor, openings ...ledger.Opening) error {
	t.Helper()
	_, err := db.In(t.Context(), d.Tenant(by), func(tx *db.Tx) (int, error) {
		return 0, ledger.OpenAll(tx, by, "Import customers.csv", openings)
	})
	return err
}

// "A balance is the sum of its entries at every instant", also for accounts with opening balances.
func TestOpeningManyAccounts(t *testing.T) {
	t.Parallel()
	s := shoptest.New(t)
	d, by := s.DB, s.By
	who := unopened(t, d, by, 4)
	err := openAll(t, d, by, ledger.Opening{Customer: who[0]}, ledger.Opening{Customer: who[1], Points: 120},
		ledger.Opening{Customer: who[2], Stamps: 7}, ledger.Opening{Customer: who[3], Points: ledger.MaxAward, Stamps: 1})
	s.Check(err)
	for i, want := range [][]line{
		{},
		{{1, ledger.Points, 120, 120, ledger.Opened}},
		{{1, ledger.Stamps, 7, 7, ledger.Opened}},
		{{1, ledger.Points, ledger.MaxAward, ledger.MaxAward, ledger.Opened}, {2, ledger.Stamps, 1, 1, ledger.Opened}},
	} {
		b := book{s, who[i]}
		if diff := cmp.Diff(want, b.lines()); diff != "" {
			t.Errorf("customer %d (-want +got):\n%s", i, diff)
		}
		var sum ledger.Account
		for _, l := range want {
			if l.Unit == ledger.Points {
				sum.Points += l.Amount
			} else {
				sum.Stamps += l.Amount
			}
		}
		if got := b.balance(); got != sum {
			t.Errorf("customer %d has %+v, want %+v", i, got, sum)
		}
	}
	// The numbering continues.
	b := book{s, who[2]}
	if got := b.adjust(ledger.Points, 5); got != (ledger.Account{Points: 5, Stamps: 7}) || b.lines()[1].Seq != 2 {
		t.Errorf("afterwards: %+v, %+v", got, b.lines())
	}
	var reason, actor string
	err = dbtest.Owner(d).QueryRow(t.Context(), "select reason, actor_name from loyalty.ledger_entry where tenant_id = $1 and customer_id = $2",
		by.Tenant.ID, who[1]).Scan(&reason, &actor)
	if err != nil || reason != "Import customers.csv" || actor != by.Name {
		t.Errorf("reason %q by %q, %v", reason, actor, err)
	}
}

// An account can't be opened twice, with a balance below zero, or for another tenant's customer. One refusal
// refuses all.
func TestAnAccountIsOpenedOnce(t *testing.T) {
	t.Parallel()
	b := newBook(t)
	stranger := newBook(t)
	b.adjust(ledger.Points, 10)
	who := unopened(t, b.DB, b.By, 1)[0]
	for name, second := range map[string]ledger.Opening{
		"opened before": {Customer: b.customer, Points: 5},
		"below zero":    {Customer: core.NewID(b.DB.Now()), Stamps: -1},
		"a stranger's":  {Customer: stranger.customer, Points: 5},
	} {
		if err := openAll(t, b.DB, b.By, ledger.Opening{Customer: who, Points: 1}, second); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	accounts := b.Count("account")
	if got := b.balance(); got.Points != 10 || accounts != 1 {
		t.Errorf("balance %+v, %d accounts, want what was there", got, accounts)
	}
}
