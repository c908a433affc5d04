package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
)

// sendLoad is how many sales a second another business records while a send is evaluated.
const sendLoad = 100

// sendRounds is how often the product and psql create the vouchers, in turn.
const sendRounds = 2

// measureSend prints what a send to everybody in a large business takes: its preview, and
// its vouchers beside psql running the same statement as the serving role, and beside a
// bare insert without keys and policies; and what it does to another business's sales.
func measureSend(ctx context.Context, p *product, s *shop, databaseURL, superuserURL, dir string, o options) error {
	conn, err := pgx.Connect(ctx, superuserURL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	fmt.Fprintf(os.Stderr, "send: making %d customers … ", o.crowd)
	crowd, err := s.gather(ctx, conn, "sender", o.crowd)
	if err != nil {
		return err
	}
	by := core.System(crowd.tenant, "bench")
	b := &sendBench{ctx: ctx, product: p, shop: s, by: by, conn: conn, url: databaseURL, dir: dir}
	fmt.Fprint(os.Stderr, "previews … ")
	if err := b.previews(); err != nil {
		return err
	}

	fmt.Fprint(os.Stderr, "sales alone … ")
	o.steady = sendLoad
	alone := openLoop(ctx, p, s, scenarios[0], o)
	if alone.err != nil {
		return alone.err
	}
	var product, psql, bare []time.Duration
	var during result
	idle, peak := p.memory(), int64(0)
	for range sendRounds {
		fmt.Fprint(os.Stderr, "psql … ")
		took, err := b.psql()
		if err != nil {
			return err
		}
		psql = append(psql, took)
		fmt.Fprint(os.Stderr, "the product … ")
		took, most, err := b.send()
		if err != nil {
			return err
		}
		product, peak = append(product, took), max(peak, most)
		fmt.Fprint(os.Stderr, "bare … ")
		if took, err = b.bare(); err != nil {
			return err
		}
		bare = append(bare, took)
	}
	fmt.Fprint(os.Stderr, "sales during a send … ")
	loaded := make(chan result)
	go func() { loaded <- openLoop(ctx, p, s, scenarios[0], o) }()
	beside, most, err := b.send()
	during = <-loaded
	if err := errors.Join(err, during.err); err != nil {
		return err
	}
	peak = max(peak, most)
	fmt.Fprintln(os.Stderr, "done")

	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "a send of %d vouchers\tseconds\t\t\n", b.vouchers)
	fmt.Fprintf(table, "the product\t%s\t\t\n", seconds(product))
	fmt.Fprintf(table, "psql, the same statement\t%s\tratio %.2f\t\n", seconds(psql), ratio(product, psql))
	fmt.Fprintf(table, "a bare insert\t%s\tratio %.2f\t\n", seconds(bare), ratio(product, bare))
	fmt.Fprintf(table, "the product, beside %d sales a second\t%.1f\t\t\n", sendLoad, beside.Seconds())
	for _, line := range b.lines {
		fmt.Fprint(table, line)
	}
	fmt.Fprintf(table, "sales of another business\tp50\tp95\tp99\t\n")
	fmt.Fprintf(table, "alone\t%s\t%s\t%s\t\n", alone.percentile(50), alone.percentile(95), alone.percentile(99))
	fmt.Fprintf(table, "during the send\t%s\t%s\t%s\tp99 ratio %.2f\t\n", during.percentile(50), during.percentile(95), during.percentile(99),
		float64(during.at(99))/float64(alone.at(99)))
	fmt.Fprintf(table, "memory of the process\tbefore %d MB\tduring, at most %d MB\t\n", idle>>20, peak>>20)
	return table.Flush()
}

// sendBench is a business that sends to all of its customers, again and again.
type sendBench struct {
	ctx      context.Context
	product  *product
	shop     *shop
	by       core.Actor
	conn     *pgx.Conn // a superuser's
	url      string
	dir      string
	vouchers int64
	lines    []string
}

func (b *sendBench) coupon(by core.Actor) (coupon.Coupon, error) {
	kind, value := string(coupon.Points), int64(5)
	return b.shop.coupons.Add(b.ctx, by, coupon.New{Name: new("Thank you"), BenefitType: &kind, BenefitValue: &value})
}

func toEverybody() coupon.Send {
	return coupon.Send{Segment: coupon.All, FormKey: core.NewID(time.Now()).String()}
}

// previews measures the page that comes before a send.
func (b *sendBench) previews() error {
	c, err := b.coupon(b.by)
	if err != nil {
		return err
	}
	b.lines = append(b.lines, "preview\tseconds\t\t\n")
	measure := func(name string, fn func() error) error {
		best := time.Duration(0)
		for range 3 {
			began := time.Now()
			if err := fn(); err != nil {
				return err
			}
			best = max(best, time.Since(began))
		}
		b.lines = append(b.lines, fmt.Sprintf("%s\t%.2f\tslowest of 3\t\n", name, best.Seconds()))
		return nil
	}
	err = measure("the size of each segment", func() error {
		_, err := b.shop.coupons.Audiences(b.ctx, b.by)
		return err
	})
	for _, segment := range []coupon.Segment{coupon.All, coupon.LongStanding, coupon.RecentPurchase} {
		if err != nil {
			return err
		}
		err = measure(string(segment), func() error {
			p, err := b.shop.coupons.Preview(b.ctx, b.by, c.ID, coupon.Send{Segment: segment})
			if segment == coupon.All {
				b.vouchers = p.Sent
			}
			return err
		})
	}
	return err
}

// send has the product send a coupon to everybody, and returns how long the vouchers took
// and the most memory that the process had meanwhile.
func (b *sendBench) send() (took time.Duration, memory int64, err error) {
	if err := b.tidy(); err != nil {
		return 0, 0, err
	}
	c, err := b.coupon(b.by)
	if err != nil {
		return 0, 0, err
	}
	sent, err := b.shop.coupons.Send(b.ctx, b.by, c.ID, toEverybody())
	if err != nil {
		return 0, 0, err
	}
	var began time.Time
	for {
		memory = max(memory, b.product.memory())
		now, err := b.shop.coupons.FindSend(b.ctx, b.by, sent.ID)
		switch {
		case err != nil:
			return 0, 0, err
		case now.BegunAt != nil && began.IsZero():
			began = time.Now()
		case now.EvaluatedAt != nil:
			took = time.Since(began)
			if now.Sent != b.vouchers {
				return 0, 0, fmt.Errorf("%d vouchers, want %d", now.Sent, b.vouchers)
			}
			// The e-mails are no part of this, and would be at work during the next measurement.
			_, err := b.shop.coupons.StopMails(b.ctx, b.by, sent.ID)
			return took, memory, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// tidy leaves each measurement a database that has nothing to catch up with.
func (b *sendBench) tidy() error {
	for _, sql := range []string{"vacuum analyze loyalty.voucher", "vacuum analyze loyalty.voucher_mail", "checkpoint"} {
		if _, err := b.conn.Exec(b.ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// psql runs the statement that the product sends, for another send of the same business,
// as the serving role. What it creates is rolled back: its send counts none of it.
func (b *sendBench) psql() (time.Duration, error) {
	if err := b.tidy(); err != nil {
		return 0, err
	}
	statement, err := b.statement()
	if err != nil {
		return 0, err
	}
	script := fmt.Sprintf("begin;\nselect set_config('role', 'loyalty_app', true), set_config('app.tenant_id', '%d', true);\n"+
		"set local statement_timeout = 0;\n%s;\nrollback;\n", b.by.Tenant.ID, statement)
	file := filepath.Join(b.dir, "send.sql")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return 0, err
	}
	u, err := url.Parse(b.url)
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(b.ctx, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, u.String())
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("psql: %w\n%s", err, out)
	}
	return time.Since(began), nil
}

// statement overhears what the product sends for a small business, and says it of the
// large one.
func (b *sendBench) statement() (string, error) {
	small, err := b.coupon(b.shop.by)
	if err != nil {
		return "", err
	}
	few, err := b.shop.coupons.Send(b.ctx, b.shop.by, small.ID, toEverybody())
	if err != nil {
		return "", err
	}
	large, err := b.coupon(b.by)
	if err != nil {
		return "", err
	}
	all, err := b.shop.coupons.Send(b.ctx, b.by, large.ID, func() coupon.Send {
		s := toEverybody()
		s.At = new(b.shop.db.Now().Add(24 * time.Hour)) // its job must not come first
		return s
	}())
	if err != nil {
		return "", err
	}
	trips, err := b.shop.seen.overhear(func() error {
		_, err := b.shop.coupons.Evaluate(b.ctx, b.shop.by, few.ID)
		return err
	})
	if err != nil {
		return "", err
	}
	for _, trip := range trips {
		for _, q := range trip {
			if !strings.Contains(q.SQL, "insert into loyalty.voucher ") {
				continue
			}
			args := make([]any, len(q.Arguments))
			for i, arg := range q.Arguments {
				switch arg {
				case any(small.ID):
					arg = large.ID
				case any(few.ID):
					arg = all.ID
				case any(int64(b.shop.by.Tenant.ID)):
					arg = int64(b.by.Tenant.ID)
				}
				args[i] = arg
			}
			return literals{large.ID: 0, all.ID: 0}.fill(q.SQL, args), nil
		}
	}
	return "", errors.New("the product created no vouchers")
}

// bare inserts as many rows of the same columns into a table without keys, indexes,
// references and policies.
func (b *sendBench) bare() (time.Duration, error) {
	if _, err := b.conn.Exec(b.ctx, "drop table if exists bare; create table bare (like loyalty.voucher); checkpoint"); err != nil {
		return 0, err
	}
	began := time.Now()
	tag, err := b.conn.Exec(b.ctx, `
		insert into bare (tenant_id, id, coupon_id, send_id, customer_id, status, created_at)
		select tenant_id, loyalty.new_ulid(now()), id, id, id, 'pending', now()
		from loyalty.customer
		where tenant_id = $1
			and status = $2`, b.by.Tenant.ID, customer.Active)
	if err != nil {
		return 0, err
	}
	took := time.Since(began)
	if tag.RowsAffected() != b.vouchers {
		return 0, fmt.Errorf("%d rows, want %d", tag.RowsAffected(), b.vouchers)
	}
	_, err = b.conn.Exec(b.ctx, "drop table bare")
	return took, err
}

func seconds(of []time.Duration) string {
	texts := make([]string, len(of))
	for i, d := range of {
		texts[i] = fmt.Sprintf("%.1f", d.Seconds())
	}
	return strings.Join(texts, ", ")
}

func ratio(a, b []time.Duration) float64 {
	var sumA, sumB time.Duration
	for i := range a {
		sumA, sumB = sumA+a[i], sumB+b[i]
	}
	return float64(sumA) / float64(sumB)
}
