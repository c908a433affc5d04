package token_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/token"
)

// mails returns the texts of the mails to a person, in order.
func (o office) mails(person core.Actor) []string {
	o.T.Helper()
	return shoptest.QueryAll[string](o.Shop, `
		select m.text from loyalty.mail m
		join loyalty.staff s on s.email = m.recipient and s.tenant_id is not distinct from m.tenant_id
		where s.id = $1
		order by m.created_at, m.id`, person.StaffID)
}

// wantMails fails unless a person got a number of mails and the last one lists the tokens.
func (o office) wantMails(person core.Actor, count int, last ...string) {
	o.T.Helper()
	texts := o.mails(person)
	if len(texts) != count {
		o.T.Fatalf("%d mails: %q, want %d", len(texts), texts, count)
	}
	rest := texts[count-1]
	for _, name := range last {
		var found bool
		if _, rest, found = strings.Cut(rest, "{Token:"+name+" "); !found {
			o.T.Errorf("the mail does not tell of %s after the others: %s", name, texts[count-1])
		}
	}
	if strings.Contains(rest, "{Token:") {
		o.T.Errorf("the mail tells of others, too: %s", rest)
	}
}

// due returns the times of the jobs that mail a person's tokens.
func (o office) due(person core.Actor) []time.Time {
	o.T.Helper()
	at := shoptest.QueryAll[time.Time](o.Shop, `
		select scheduled_at from river.river_job
		where kind = 'token_announcement' and (args->>'person')::bigint = $1
		order by scheduled_at`, person.StaffID)
	for i := range at {
		at[i] = at[i].UTC()
	}
	return at
}

func (o office) announce() {
	o.T.Helper()
	o.Check(o.Announce(o.T.Context(), token.Announcement{Tenant: o.By.Tenant.ID, Person: o.By.StaffID}))
}

// The first new token is mailed at once, those of the hour after it in one mail at its end.
func TestMailsAboutNewTokensAreGathered(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	start := o.DB.Now().Add(24 * time.Hour)
	minute := func(n int) office { return o.at(start.Add(time.Duration(n) * time.Minute)) }

	first := minute(0).create("First", "customers:read")
	o.wantMails(o.By, 1, "First")
	if due := o.due(o.By); len(due) != 0 {
		t.Errorf("jobs at %v tell of one token", due)
	}
	caller := minute(1).works(first.Secret).Actor
	caller.Address = "203.0.113.9"
	minute(5).as(caller).create("Second", "reports:read")
	third := minute(59).create("Third")
	o.Must(core.Result(minute(59).Revoke(t.Context(), o.By, third.ID, nil)))
	o.wantMails(o.By, 1, "First")
	due := o.due(o.By)
	if len(due) != 1 || due[0].Sub(first.CreatedAt) != time.Hour {
		t.Fatalf("jobs come at %v, want one at %s", due, first.CreatedAt.Add(time.Hour))
	}

	for range 2 { // the second run mails nothing
		o.at(first.CreatedAt.Add(time.Hour)).announce() // after it, also on a slow machine
		o.wantMails(o.By, 2, "Second", "Third")
	}
	mail := o.mails(o.By)[1]
	for _, part := range []string{
		"Tenant:" + o.By.Tenant.Name, "Person:A owner", "Abilities:[reports:read] By:the API token “First” Address:203.0.113.9 At:" + start.Add(5*time.Minute).Format("2006-01-02 15:04"),
		"By:A owner Address:192.0.2.7", "Revoked:true", "More:0",
	} {
		if !strings.Contains(mail, part) {
			t.Errorf("the mail does not say %q: %s", part, mail)
		}
	}

	// Another hour begins with that mail.
	minute(61).create("Fourth")
	o.wantMails(o.By, 2, "Second", "Third")
	minute(121).announce()
	o.wantMails(o.By, 3, "Fourth")
	minute(200).create("Fifth")
	o.wantMails(o.By, 4, "Fifth")

	// Each person has their own hour.
	colleague := o.as(o.As(core.Owner).By)
	colleague.create("A colleague's")
	o.wantMails(colleague.By, 1, "A colleague's")
}

// If the job is late, the next token is mailed with the waiting ones, and the job then waits for
// the hour. No token is left out or repeated.
func TestALateJobKeepsToTheHour(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	start := o.DB.Now().Add(24 * time.Hour)
	minute := func(n int) office { return o.at(start.Add(time.Duration(n) * time.Minute)) }
	minute(0).create("First")
	minute(10).create("Second")
	minute(70).create("Third") // the job of minute 60 has not run
	o.wantMails(o.By, 2, "Second", "Third")
	minute(71).announce()
	o.wantMails(o.By, 2, "Second", "Third")
	minute(72).create("Fourth")
	minute(73).announce() // the job of minute 60 again, or an early clock
	o.wantMails(o.By, 2, "Second", "Third")
	var strangers int // jobs that the jobs page would show as another's, or the platform's
	err := dbtest.Owner(o.DB).QueryRow(t.Context(), `
		select count(*)
		from river.river_job
		where kind = 'token_announcement' and args ->> 'tenant' = $1::text and metadata ->> 'tenant' is distinct from $1::text`,
		fmt.Sprint(o.By.Tenant.ID)).Scan(&strangers)
	if err != nil || strangers != 0 {
		t.Errorf("%d jobs do not name their tenant, %v", strangers, err)
	}
	due := o.due(o.By)
	if last := due[len(due)-1]; last.Sub(start).Round(time.Minute) != 130*time.Minute {
		t.Errorf("jobs come at %v, the last not at minute 130", due)
	}
	minute(131).announce()
	o.wantMails(o.By, 3, "Fourth")
}

// Many tokens at once make one job, and all are mailed.
func TestManyNewTokensAreMailedTwice(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() { o.create(fmt.Sprint("Till ", i)) })
	}
	wait.Wait()
	if mails, due := o.mails(o.By), o.due(o.By); len(mails) != 1 || len(due) != 1 {
		t.Fatalf("%d mails and %d jobs", len(mails), len(due))
	}
	later := o.at(o.DB.Now().Add(time.Hour))
	for range 4 {
		wait.Go(func() { later.announce() })
	}
	wait.Wait()
	mails := o.mails(o.By)
	if len(mails) != 2 || strings.Count(mails[0], "{Token:") != 1 || strings.Count(mails[1], "{Token:") != 19 {
		t.Errorf("the mails are %q", mails)
	}
}

// A mail lists 100 tokens and counts the others.
func TestAMailListsAtMost100Tokens(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.create("First")
	o.Exec(`
		insert into loyalty.token (tenant_id, staff_id, name, hash, abilities, revoked_at, created_at)
		select $1, $2, 'Token ' || n, '', '{}', now(), now() from generate_series(1, 130) n`, o.By.Tenant.ID, o.By.StaffID)
	o.at(o.DB.Now().Add(time.Hour)).announce()
	mails := o.mails(o.By)
	if len(mails) != 2 || strings.Count(mails[1], "{Token:") != 100 || !strings.Contains(mails[1], "More:30") {
		t.Errorf("the mails are %q", mails)
	}
}

// The same holds for the platform.
func TestMailsAboutPlatformTokensAreGathered(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	p, err := staff.CreateAdmin(t.Context(), o.DB, core.System(core.Tenant{}, "test"), staff.New{
		Name: "Root", Email: "root-" + o.By.Tenant.Slug + "@example.com",
	})
	o.Check(err)
	admin := o.as(core.Actor{Kind: core.ByAdmin, ID: fmt.Sprint(p.ID), Name: p.Name, StaffID: p.ID, Role: core.SuperAdmin})
	admin.create("First")
	admin.create("Second")
	admin.wantMails(admin.By, 1, "First")
	later := o.at(o.DB.Now().Add(time.Hour)).as(admin.By)
	later.announce()
	admin.wantMails(admin.By, 2, "Second")
	if mail := admin.mails(admin.By)[1]; !strings.Contains(mail, "{Tenant: Person:Root") {
		t.Errorf("the mail says %s", mail)
	}
	if err := o.Announce(t.Context(), token.Announcement{Tenant: o.By.Tenant.ID, Person: p.ID}); err != nil {
		t.Errorf("a person of another tenant: %v", err)
	}
}

// A token whose creation was rolled back is not mailed.
func TestRolledBackTokenIsNotMailed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	broken := errors.New("broken")
	for range 2 {
		once := &core.Once[token.Created]{
			RequestKey: core.RequestKey{Key: "form"}, Respond: func(token.Created) (core.Response, error) { return core.Response{}, broken },
		}
		if _, err := o.Create(t.Context(), o.By, token.New{Name: "Never", Scopes: &[]string{}}, once); !errors.Is(err, broken) {
			t.Fatal(err)
		}
	}
	if mails, due := o.mails(o.By), o.due(o.By); len(mails)+len(due) != 0 {
		t.Errorf("told %q, jobs at %v", mails, due)
	}
	o.create("First")
	o.wantMails(o.By, 1, "First")
}

// Another process mails the tokens that were created before a restart.
func TestNewTokensAreMailedAfterARestart(t *testing.T) {
	t.Parallel()
	o := officeIn(t, dbtest.OwnDB(t))
	past := o.at(o.DB.Now().Add(-2 * time.Hour))
	past.create("First")
	past.create("Second")
	past.create("Third")
	o.wantMails(o.By, 1, "First")

	restarted := withServices(shoptest.Of(t, o.DB, o.By))
	o.Check(restarted.Jobs.Start(t.Context()))
	for limit := time.Now().Add(time.Minute); len(o.mails(o.By)) < 2 && time.Now().Before(limit); {
		time.Sleep(50 * time.Millisecond)
	}
	o.wantMails(o.By, 2, "Second", "Third")
	if err := restarted.Jobs.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
