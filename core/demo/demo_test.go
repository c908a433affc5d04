package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/mail"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/verify"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func TestFillMakesTheWholeStoryOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	until := instants(t)["an afternoon"]
	var last, total int
	made, err := Fill(t.Context(), d.At(until), Options{Progress: func(done, of int) {
		if done != last+1 {
			t.Errorf("progress went from %d to %d", last, done)
		}
		last, total = done, of
	}})
	if err != nil {
		t.Fatal(err)
	}
	if last != total || total != made.steps() {
		t.Errorf("progress ended at %d of %d; made %+v", last, total, made.Counts)
	}
	wantClean(t, d)
	wantStory(t, d, made)

	before := everything(t, d)
	again, err := Fill(t.Context(), d.At(until.AddDate(0, 0, 3)), Options{})
	if err != nil || !again.Existed || made.Existed || again.Tenant.ID != made.Tenant.ID || !reflect.DeepEqual(again.People, made.People) {
		t.Errorf("the second fill = %+v, %v", again, err)
	}
	if after := everything(t, d); after != before {
		t.Errorf("the second fill changed %s to %s", before, after)
	}
}

func TestFillTakesUpWhatWasCutOff(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	until := instants(t)["the middle of a night"]
	s := tell(until, stockholm(t))
	// At a send, after one, while guests are served, and before the end.
	first, fifth := s.stepsBefore(s.sends[0].at), s.stepsBefore(s.sends[4].at)
	for i, after := range []int{1, 300, first, first + 1, fifth + 1, 5000, s.steps() - 1} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Fill(ctx, d.At(until.AddDate(0, 0, i)), Options{Progress: func(done, _ int) {
			if done == after {
				cancel()
			}
		}})
		if err == nil || ctx.Err() == nil {
			t.Fatalf("fill cut off after %d steps = %v", after, err)
		}
	}
	made, err := Fill(t.Context(), d.At(until.AddDate(0, 1, 0)), Options{})
	if err != nil || made.Existed {
		t.Fatalf("the last fill = %+v, %v", made, err)
	}
	wantClean(t, d)
	wantStory(t, d, made)
	if again, err := Fill(t.Context(), d, Options{}); err != nil || !again.Existed {
		t.Errorf("one more fill = %+v, %v", again, err)
	}
}

// A crash may come between any two transactions: here a send is confirmed and not
// evaluated, and no redemption is fulfilled or voided.
func TestFillTakesUpWhatIsHalfDone(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	f := begunUntil(t, d, "a Sunday noon")
	for i := range f.story.guests {
		g := &f.story.guests[i]
		for j, x := range g.sales {
			if x.voucher != nil {
				x.voucher.fulfilled = time.Time{}
			}
			if x.redemption == nil {
				continue
			}
			x.redemption.fulfilled = time.Time{}
			if !x.redemption.voided.IsZero() {
				// What they get back is missing: this guest stops here.
				x.redemption.voided, g.sales = time.Time{}, g.sales[:j+1]
				break
			}
		}
	}
	x := f.story.sends[4]
	f.story.until, f.story.sends = x.at, f.story.sends[:4]
	if err := f.happen(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.confirm(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	made, err := Fill(t.Context(), d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantClean(t, d)
	wantStory(t, d, made)
}

// A server's jobs keep today's time: what they evaluate or expire first is no part of
// the story, and nothing depends on it.
func TestFillBearsAServerThatRunsMeanwhile(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	f := begunUntil(t, d, "a Sunday noon")
	expired, evaluated := f.story.sends[0], f.story.sends[1]
	err := errors.Join(f.serve(t.Context(), expired.at), f.send(t.Context(), expired), f.serve(t.Context(), evaluated.at))
	if err != nil {
		t.Fatal(err)
	}
	id, err := f.confirm(t.Context(), evaluated)
	if err != nil {
		t.Fatal(err)
	}
	today, err := f.couponsAt(f.story.until.AddDate(0, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := today.Evaluate(t.Context(), system(f.tenant), id); err != nil {
		t.Fatal(err)
	}
	if _, err := dbtest.Owner(d).Exec(t.Context(), "select loyalty.expire_vouchers(now() + interval '1 year', 1000) from loyalty.enter(0)"); err != nil {
		t.Fatal(err)
	}
	if made, err := Fill(t.Context(), d, Options{}); err != nil || made.Existed {
		t.Fatalf("fill = %+v, %v", made, err)
	}
	wantClean(t, d)
	if redeemed := texts(t, d, `select id::text from loyalty.voucher where status = 'redeemed' and redeemed_at < created_at`); len(redeemed) > 0 {
		t.Errorf("redeemed before they were made: %v", redeemed)
	}
}

// begunUntil is a demo that was begun at that instant, with nothing in it yet.
func begunUntil(t *testing.T, d *db.DB, instant string) *filling {
	t.Helper()
	until := instants(t)[instant]
	t0, _, err := begin(t.Context(), d.At(until))
	if err != nil {
		t.Fatal(err)
	}
	s := tell(until, t0.TimeZone)
	people, err := hire(t.Context(), d, t0, s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := prepare(t.Context(), d, t0, people, s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Here the tenant stands alone.
func TestFillTakesUpATenantWithoutPeople(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	begunAt := d.At(instants(t)["just opened"])
	if _, _, err := begin(t.Context(), begunAt); err != nil {
		t.Fatal(err)
	}
	made, err := Fill(t.Context(), d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantStory(t, d, made)
	for i, p := range made.People {
		if p.Email != team[i].Email || p.Role != team[i].Role {
			t.Errorf("person %d is %+v", i, p)
		}
	}
}

func TestFillLeavesARealBusinessAlone(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	by := system(core.Tenant{})
	other, err := db.Platform(t.Context(), d, by, func(tx *db.Tx) (core.Tenant, error) {
		return tenant.Add(t.Context(), tx, by, tenant.New{
			Name: new("Demo Records"), Slug: new(Slug), Email: new("owner@example.com"), PlanID: new(int64(1)),
			BillingCycle: new("monthly"), PaymentMethod: new("manual"),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	before := everything(t, d)
	if _, err := Fill(t.Context(), d, Options{}); !errors.Is(err, ErrNotDemo) {
		t.Errorf("fill = %v, want ErrNotDemo", err)
	}
	if _, err := Token(t.Context(), d, tokens(t, d), other); !errors.Is(err, ErrNotDemo) {
		t.Errorf("token = %v, want ErrNotDemo", err)
	}
	if after := everything(t, d); after != before {
		t.Errorf("it changed %s to %s", before, after)
	}
}

func TestTokenIsTheOwnersAndMayEverything(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	t0, _, err := begin(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	people, err := hire(t.Context(), d, t0, tell(d.Now(), t0.TimeZone), Options{})
	if err != nil {
		t.Fatal(err)
	}
	service := tokens(t, d)
	secret, err := Token(t.Context(), d, service, t0)
	if err != nil {
		t.Fatal(err)
	}
	caller, err := service.Authenticate(t.Context(), secret, Slug)
	if err != nil || caller.StaffID != people[0].ID || !slices.Equal(caller.Abilities, token.Abilities) {
		t.Errorf("the token stands for %+v, %v", caller, err)
	}
}

// A password is told of once, when it is made: a Fill that takes up another's demo does
// not know it.
func TestPeopleAreHiredOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	t0, _, err := begin(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	var told []staff.Person
	first := Options{Password: "a long enough password", Hired: func(people []staff.Person) { told = append(told, people...) }}
	people, err := hire(t.Context(), d, t0, tell(d.Now(), t0.TimeZone), first)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(told, people) || len(told) != len(team) {
		t.Errorf("told of %+v, hired are %+v", told, people)
	}
	second := Options{Password: "another password", Hired: func(people []staff.Person) { t.Errorf("told of %+v once more", people) }}
	if again, err := hire(t.Context(), d, t0, tell(d.Now(), t0.TimeZone), second); err != nil || !reflect.DeepEqual(again, people) {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	for _, hash := range texts(t, d, "select coalesce(password_hash, '') from loyalty.credential") {
		if ok, err := argon2id.ComparePasswordAndHash(first.Password, hash); err != nil || !ok {
			t.Errorf("the password is another one: %v", err)
		}
	}
}

func tokens(t *testing.T, d *db.DB) *token.Service {
	t.Helper()
	queue, err := job.New(d, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	render := func(context.Context, string, mail.Email) (mail.Rendered, error) {
		return mail.Rendered{Subject: "A token"}, nil
	}
	return token.NewService(d, queue, mail.New(d, queue, render, nil, slog.New(slog.DiscardHandler)))
}

func wantClean(t *testing.T, d *db.DB) {
	t.Helper()
	results, err := verify.Run(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Wrong != 0 {
			t.Errorf("%s Wrong: %d of %d, %v", r.Check, r.Wrong, r.Counted, r.Examples)
		}
	}
}

// wantStory compares what the database holds with what was to happen: nothing is
// missing, nothing is twice, everything is at its instant.
func wantStory(t *testing.T, d *db.DB, made Made) {
	t.Helper()
	_, state, err := find(t.Context(), d)
	if err != nil || !state.Complete {
		t.Fatalf("the demo's state is %+v, %v", state, err)
	}
	s := tell(*state.Until, made.Tenant.TimeZone)
	if made.Counts != s.Counts {
		t.Errorf("made %+v, told %+v", made.Counts, s.Counts)
	}
	tf := map[bool]string{true: "t", false: "f"}
	var sales []event
	for _, g := range s.guests {
		for _, x := range g.sales {
			sales = append(sales, event{fmt.Sprintf("%s %s %d %s %s", x.receipt, g.phone, x.cents, x.source, tf[!x.voided.IsZero()]), x.at})
		}
	}
	wantEvents(t, d, sales, `
		select concat_ws(' ', external_reference, phone, spend_amount_cents, source, voided_at is not null) as what, t.created_at as at
		from loyalty.transaction t
		join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id`)
	wantSpending(t, d, s)
	wantNothingOf(t, d, map[string]string{
		"sales outside opening hours": `
			select external_reference from loyalty.transaction
			where (created_at at time zone 'Europe/Stockholm')::time not between '07:30' and '18:00'`,
		"sales before their customer": `
			select external_reference from loyalty.transaction t
			join loyalty.customer c on c.tenant_id = t.tenant_id and c.id = t.customer_id
			where t.created_at < c.created_at`,
		"entries out of order": `
			select id::text from (
				select id, created_at < lag(created_at) over (partition by tenant_id, customer_id order by seq) as early
				from loyalty.ledger_entry) e
			where early`,
		"sales in the future": `
			select external_reference from loyalty.transaction
			where greatest(created_at, voided_at) > (select (new ->> 'until')::timestamptz from loyalty.platform_audit_entry where action = 'demo.begin')`,
		"sales of an ended type": `
			select external_reference from loyalty.transaction t
			join loyalty.transaction_type k on k.tenant_id = t.tenant_id and k.id = t.transaction_type_id
			where not k.active`,
		"types twice": `select name from loyalty.transaction_type group by name having count(*) > 1`,
	})
	active := texts(t, d, "select active::text from loyalty.transaction_type order by id")
	if strings.Join(active, " ") != "true true false" {
		t.Errorf("the types are active: %v", active)
	}
}

// event is something that happened.
type event struct {
	What string
	At   time.Time
}

// wantEvents compares what was told with what the database says.
func wantEvents(t *testing.T, d *db.DB, want []event, sql string) {
	t.Helper()
	byName := func(a, b event) int { return cmp.Or(strings.Compare(a.What, b.What), a.At.Compare(b.At)) }
	got := list[event](t, d, sql)
	slices.SortFunc(got, byName)
	slices.SortFunc(want, byName)
	if len(got) != len(want) {
		t.Fatalf("%d are recorded, %d were told: %s", len(got), len(want), sql)
	}
	for i := range got {
		// A clock that was set runs on: a busy machine may be a little late.
		if late := got[i].At.Sub(want[i].At); got[i].What != want[i].What || late < -time.Millisecond || late > 3*time.Second {
			t.Fatalf("recorded %v, told %v", got[i], want[i])
		}
	}
}

func wantNothingOf(t *testing.T, d *db.DB, statements map[string]string) {
	t.Helper()
	for what, sql := range statements {
		if found := texts(t, d, sql); len(found) > 0 {
			t.Errorf("%s: %v", what, found[:min(5, len(found))])
		}
	}
}

// everything is how much there is of what the demo makes, and the balances.
func everything(t *testing.T, d *db.DB) string {
	t.Helper()
	return strings.Join(texts(t, d, `
		select concat_ws(' ',
			(select count(*) from loyalty.tenant), (select count(*) from loyalty.staff), (select count(*) from loyalty.token),
			(select count(*) from loyalty.customer), (select count(*) from loyalty.transaction_type),
			(select count(*) from loyalty.transaction), (select count(*) from loyalty.ledger_entry),
			(select sum(stock) from loyalty.reward), (select count(*) from loyalty.reward where active),
			(select string_agg(status, '' order by id) from loyalty.redemption),
			(select sum(redemptions_count) from loyalty.coupon), (select count(*) from loyalty.coupon where active),
			(select count(*) from loyalty.coupon_send), (select string_agg(status, '' order by id) from loyalty.voucher),
			(select count(*) from loyalty.audit_entry), (select count(*) from loyalty.platform_audit_entry),
			(select sum(points) from loyalty.account), (select sum(stamps) from loyalty.account),
			(select max(updated_at) from loyalty.customer))`), "")
}

func texts(t *testing.T, d *db.DB, sql string) []string {
	t.Helper()
	type row struct{ Text string }
	var all []string
	for _, r := range list[row](t, d, "select text from ("+sql+") as asked (text)") {
		all = append(all, r.Text)
	}
	return all
}

// list asks as the owner, past the wall.
func list[T any](t *testing.T, d *db.DB, sql string) []T {
	t.Helper()
	rows, err := dbtest.Owner(d).Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	if err != nil {
		t.Fatal(err)
	}
	return all
}
