package main

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/mail/smtptest"
)

// named returns the process whose queue has a name, which ends with the time when the queue was made.
func (c cluster) named(t *testing.T, worker string) *server {
	t.Helper()
	const layout = "2006_01_02T15_04_05.000000"
	if len(worker) < len(layout) {
		t.Fatalf("a worker is named %q", worker)
	}
	made := []byte(worker[len(worker)-len(layout):])
	made[strings.IndexByte(layout, '.')] = '.'
	at, err := time.Parse(layout, string(made))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range slices.Backward(c.servers) {
		if s.began.Before(at) {
			return s
		}
	}
	t.Fatalf("no process began before %s", at)
	return nil
}

// at returns the number of a process.
func (c cluster) at(s *server) int { return slices.Index(c.servers, s) + 1 }

// runner returns the name of the worker that runs a job of a kind; "" if none does.
func (c cluster) runner(kind string) string {
	c.d.t.Helper()
	return ask[string](c.d, `
		select coalesce((select attempted_by[cardinality(attempted_by)] from river.river_job where kind = $1 and state = 'running' limit 1), '')`, kind)
}

// awaitIdle waits until no job is left but those that are to run later.
func (c cluster) awaitIdle(t *testing.T) {
	t.Helper()
	await(t, "no job is left", func() bool {
		return ask[bool](c.d, "select not exists (select from river.river_job where finalized_at is null and scheduled_at < now() + interval '1 minute')")
	})
}

// Three processes share a send, an import and other jobs. One is killed while it mails the send, and another is
// stopped during its work; the third finishes everything. What is promised then:
//
//   - Each customer has one voucher, and each row is imported once.
//   - Each customer gets one mail. A kill may repeat the one mail that was on its way, under the same Message-ID: docs/decisions.md
//     §7 promises "at least once with a stable Message-ID". A process that is stopped repeats none.
//   - A periodic job is queued once a period, and once more when another process begins to lead.
func TestThreeProcessesShareWork(t *testing.T) {
	if testing.Short() {
		t.Skip("mails 2,000 vouchers, 50 a second: make test-long")
	}
	t.Parallel()
	const (
		members = 2_000 // of the send
		rows    = 25_000
		subject = "A cinnamon bun, on us"
	)
	mails := smtptest.New(t)
	c := newCluster(t, 3, "LOYALTY_SMTP_URL="+mails.URL, "LOYALTY_MAIL_FROM=Loyalty <loyalty@example.com>", "LOYALTY_STOP_DELAY=1s",
		"LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0")
	leaders := watchTerms(t, c.url)
	first, second, third := c.servers[0], c.servers[1], c.servers[2]
	office := newOffice(t, first.http, strings.TrimSuffix(c.shop.PanelURL, "/admin"), c.shop.Staff[core.Owner])

	imported := func(path string) bool {
		return ask[string](c.d, "select status from loyalty.customer_import where id = $1", sendOrImport(t, path)) == "done"
	}
	list := office.upload(first.http, customersFile(1_000_000, members))
	office.send(first.http, list+"/run", nil)
	await(t, "the members are there", func() bool { return imported(list) })

	sentPage := office.mail(first.http, c.shop.Coupon, subject)
	send := sendOrImport(t, sentPage)
	importPage := office.upload(second.http, customersFile(2_000_000, rows))
	for i, role := range []core.Role{core.Owner, core.Manager, core.Cashier} {
		office.send(c.servers[i].http, "/admin/forgot", url.Values{"email": {c.shop.Staff[role].Email}})
	}

	// watch compares the page of the send at a process with the mail server, which has at most two mails more: the
	// one on its way, and the one that was when a process was killed.
	shown := 0
	watch := func(at *server) {
		t.Helper()
		before := len(copies(mails, subject))
		done, isShown := office.progress(at.http, sentPage)
		after := len(copies(mails, subject))
		if isShown && (done < before-2 || done > after || done < shown) {
			t.Errorf("process %d shows %d mails, while the mail server had %d to %d, and %d were shown before", c.at(at), done, before, after, shown)
		}
		if isShown {
			shown = done
		}
	}
	await(t, "vouchers are mailed", func() bool {
		watch(third)
		return len(copies(mails, subject)) >= 200
	})
	office.send(second.http, importPage+"/run", nil)
	var mailer, importer string
	await(t, "both run", func() bool {
		mailer, importer = c.runner("coupon_delivery"), c.runner("customer_import")
		return mailer != "" && importer != "" && ask[int](c.d, "select done_count from loyalty.customer_import where id = $1", sendOrImport(t, importPage)) > 0
	})

	killed := c.named(t, mailer)
	killed.signal(syscall.SIGKILL)
	<-killed.exited
	stopped := c.named(t, importer)
	left := slices.DeleteFunc(slices.Clone(c.servers), func(s *server) bool { return s == killed })
	if stopped == killed {
		stopped = left[0]
	}
	left = slices.DeleteFunc(left, func(s *server) bool { return s == stopped })
	stopped.signal(syscall.SIGTERM)
	mailedBefore := len(copies(mails, subject))
	t.Logf("process %d mailed and was killed after %d mails; process %d imported; process %d was stopped", c.at(killed), mailedBefore, c.at(c.named(t, importer)), c.at(stopped))
	// The two minutes pass after which its claims have ended.
	c.d.exec(`
		update river.river_job
		set attempted_at = attempted_at - interval '2 minutes'
		where state = 'running' and attempted_by[cardinality(attempted_by)] = $1`, mailer)
	c.d.exec("update loyalty.voucher_mail set due_at = due_at - interval '2 minutes' where send_id = $1 and status = 'queued' and due_at > now()", send)
	if code := stopped.exit(); code != 0 {
		t.Errorf("the stopped process ended with %d", code)
	}
	if len(copies(mails, subject)) == members || mailedBefore >= members {
		t.Error("the send was over before the processes ended")
	}
	await(t, "the third process finishes everything", func() bool {
		watch(left[0])
		return imported(importPage) && ask[string](c.d, "select status from loyalty.coupon_send where id = $1", send) == "done"
	})
	c.awaitIdle(t)
	if done, isShown := office.progress(left[0].http, sentPage); isShown && done < members {
		t.Errorf("at the end, %d mails are shown", done)
	}
	left[0].stop()

	c.checkMails(t, mails, subject, members, 1)
	c.checkImport(importPage, rows)
	passwords := copies(mails, "Reset your password for "+c.shop.Name)
	for _, role := range []core.Role{core.Owner, core.Manager, core.Cashier} {
		got := passwords[c.shop.Staff[role].Email]
		if ids := slices.Collect(maps.Values(got)); !slices.Equal(ids, []int{1}) { // long before the kill
			t.Errorf("the %s got the mails %v, want one", role, got)
		}
	}
	t.Logf("%d periodic jobs in %d terms", leaders.checkPeriodic(c.d), len(leaders.began))
	c.checkWorkers(t, 0)
	left[0].in.succeed("verify")
}

// checkMails checks the vouchers of a send, and the mails of the members that were imported for it.
func (c cluster) checkMails(t *testing.T, server *smtptest.Server, subject string, members, most int) {
	t.Helper()
	if got := ask[string](c.d, `
		select concat_ws(' ', sent = (select count(*) from loyalty.voucher where send_id = s.id), sent = (select count(distinct customer_id) from loyalty.voucher where send_id = s.id), delivered = mails, failed)
		from loyalty.coupon_send s
		where subject = $1`, subject); got != "t t t 0" {
		t.Errorf("vouchers, their customers, their mails, failures: %s", got)
	}
	if got := ask[int](c.d, "select count(*) from loyalty.voucher v join loyalty.customer k on k.id = v.customer_id join loyalty.coupon_send s on s.id = v.send_id where k.email like 'elsa-1%' and s.subject = $1", subject); got != members {
		t.Errorf("%d members have a voucher, want %d", got, members)
	}
	taken, again := copies(server, subject), 0
	for i := range members {
		if n := len(taken[customerAddress(1_000_000+i)]); n != 1 {
			t.Errorf("member %d got %d mails", i, n)
		}
	}
	for _, byID := range taken {
		for _, n := range byID {
			again += n - 1
		}
	}
	if again > most {
		t.Errorf("%d mails came again, want at most %d", again, most)
	}
	t.Logf("%d recipients, %d copies", len(taken), again)
}

// checkImport checks that each row of a file was imported once, with its points.
func (c cluster) checkImport(page string, rows int) {
	c.d.t.Helper()
	if got := ask[string](c.d, "select concat_ws(' ', done_count, created_count, failed_count) from loyalty.customer_import where id = $1", sendOrImport(c.d.t, page)); got != fmt.Sprintf("%d %d 0", rows, rows) {
		c.d.t.Errorf("done, created, failed: %s, want %d rows", got, rows)
	}
	var customers, distinct, points int64
	if err := c.d.QueryRow(c.d.t.Context(), `
		select count(*), count(distinct k.id), coalesce(sum(e.amount), 0)::bigint
		from loyalty.customer k
		left join loyalty.ledger_entry e on e.tenant_id = k.tenant_id and e.customer_id = k.id
		where k.email like 'elsa-2%'`).Scan(&customers, &distinct, &points); err != nil {
		c.d.t.Fatal(err)
	}
	first, n := int64(2_000_000), int64(rows)
	if want := n*first + n*(n-1)/2; customers != n || distinct != n || points != want {
		c.d.t.Errorf("%d entries of %d customers with %d points, want %d rows with %d", customers, distinct, points, n, want)
	}
}

// checkWorkers checks that more than one process took the jobs of the send, and that no job of this build failed but by
// the end of its process. The first processes are of an older build, whose failed jobs others repeat.
func (c cluster) checkWorkers(t *testing.T, older int) {
	t.Helper()
	took := func(condition string) (processes []int) {
		t.Helper()
		for _, worker := range ask[[]string](c.d, "select array_agg(distinct w) from river.river_job, unnest(attempted_by) w where "+condition) {
			processes = append(processes, c.at(c.named(t, worker)))
		}
		slices.Sort(processes)
		return processes
	}
	all, send, files := took("true"), took("kind = 'coupon_delivery'"), took("kind = 'customer_import'")
	t.Logf("processes that took jobs: %v; of the send: %v; of the imports: %v", all, send, files)
	if len(send) < 2 {
		t.Errorf("only the processes %v took jobs of the send", send)
	}
	for _, failed := range ask[[]string](c.d, `
		select coalesce(array_agg(distinct concat_ws(' ', attempted_by[(e ->> 'attempt')::int], kind, e ->> 'error')), '{}')
		from river.river_job, unnest(errors) e
		where e ->> 'error' <> 'the process that ran this job is gone'`) {
		worker, what, _ := strings.Cut(failed, " ")
		if process := c.at(c.named(t, worker)); process > older {
			t.Errorf("a job of process %d failed: %s", process, what)
		} else {
			t.Logf("a job of process %d, of an older build, failed: %s", process, what)
		}
	}
}
