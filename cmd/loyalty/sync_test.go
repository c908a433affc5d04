package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	sources "example.com/loyalty/api/clients"
	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
)

// follower is sync.py, which keeps a copy of a business in a file, reading from the running product.
type follower struct {
	*server
	t     *testing.T
	dir   string // with the program and the copy
	token string
}

func newFollower(t *testing.T, s *server, token string) follower {
	t.Helper()
	requireProgram(t, "python3")
	f := follower{s, t, t.TempDir(), token}
	if err := os.CopyFS(f.dir, sources.Files); err != nil {
		t.Fatal(err)
	}
	// Small pages, so that there are many to be killed between.
	program := filepath.Join(f.dir, "python", "sync.py")
	source, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	small := strings.Replace(string(source), "PER_PAGE = 1000", "PER_PAGE = 10", 1)
	if small == string(source) {
		t.Fatal("sync.py has no PER_PAGE")
	}
	if err := os.WriteFile(program, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

// start starts the program.
func (f follower) start(out *output, options ...string) *exec.Cmd {
	f.t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(f.t.Context()), "python3", append([]string{"-B", "sync.py", "copy.db"}, options...)...)
	cmd.Dir = filepath.Join(f.dir, "python")
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+filepath.Join(f.in.data, "ca.pem"), "LOYALTY_URL="+f.in.base, "LOYALTY_TOKEN="+f.token)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	return cmd
}

// runOnce reads everything that is new, and returns what the program printed.
func (f follower) runOnce() string {
	f.t.Helper()
	var out output
	if err := f.start(&out, "--once").Wait(); err != nil {
		f.t.Fatalf("sync.py: %v\n%s", err, out.String())
	}
	return out.String()
}

// runUntilCopied has the copy catch up with everything before the last customer was added.
func (f follower) runUntilCopied(last core.ID) {
	f.t.Helper()
	await(f.t, "the last customer is copied", func() bool {
		f.runOnce()
		return f.records("customers")[last.String()] != nil
	})
	f.runOnce() // the lists that were read before this customer's
}

// records returns the rows of a table of the copy, by ULID, as the API has them.
func (f follower) records(table string) map[string]map[string]any {
	f.t.Helper()
	return decode[map[string]map[string]any](f.t, f.onCopy(`
db.row_factory = sqlite3.Row
nested, booleans = ("metadata", "tags", "items", "tier"), ("points_capped",)
print(json.dumps({row["ulid"]: {f: json.loads(row[f]) if f in nested and row[f] else bool(row[f]) if f in booleans else row[f] for f in row.keys()}
    for row in db.execute("select * from " + sys.argv[1])}))`, table))
}

// onCopy runs lines of Python on the copy, db, and returns what they print.
func (f follower) onCopy(program string, arguments ...string) string {
	f.t.Helper()
	const head = "import json, sqlite3, sys\ndb = sqlite3.connect('copy.db', isolation_level=None)\n"
	cmd := exec.CommandContext(f.t.Context(), "python3", append([]string{"-c", head + program}, arguments...)...)
	cmd.Dir = filepath.Join(f.dir, "python")
	printed, err := cmd.Output()
	if err != nil {
		f.t.Fatal(err)
	}
	return string(printed)
}

// truth returns the records of a list of the API, by ULID.
func (f follower) truth(list string) map[string]map[string]any {
	f.t.Helper()
	all := map[string]map[string]any{}
	for next := "/api/v1/" + list + "?per_page=1000"; next != ""; {
		got := f.expect(f.t, http.StatusOK, "GET", next, f.token, "")
		var page struct {
			Data  []map[string]any
			Links struct{ Next *string }
		}
		if err := json.Unmarshal([]byte(got.body), &page); err != nil {
			f.t.Fatal(err)
		}
		for _, record := range page.Data {
			all[record["ulid"].(string)] = record
		}
		next = core.OrZero(page.Links.Next)
	}
	return all
}

// follow runs the program again and again, and kills most of the runs at a random moment, until done.
func (f follower) follow(done *atomic.Bool) (kills int) {
	f.t.Helper()
	for !done.Load() {
		var out output
		cmd := f.start(&out, "--once")
		kill := time.AfterFunc(time.Duration(150+rand.IntN(400))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		if !kill.Stop() {
			kills++
		} else if err != nil {
			f.t.Errorf("sync.py: %v\n%s", err, out.String())
			return kills
		}
	}
	return kills
}

// followedShop is a business in which everything happens that a copy must follow.
type followedShop struct {
	shoptest.Shop
	kind   transaction.Type
	hot    core.ID // a customer of all tills
	reward core.ID
}

func (s followedShop) sell(to core.ID, cents int64) transaction.Sale {
	return transaction.Sale{
		CustomerID: to, TransactionTypeID: s.kind.ID, SpendAmountCents: cents, Source: transaction.API,
		Metadata: core.Metadata{"order": fmt.Sprint(cents)},
	}
}

func (s followedShop) sold(to core.ID, cents int64) core.ID {
	s.T.Helper()
	sale, err := core.Result(s.Sales.Record(s.T.Context(), s.By, s.sell(to, cents), nil, nil))
	s.Check(err)
	return sale.ID
}

// regular adds a customer who buys, and takes a reward.
func (s followedShop) regular() core.ID {
	s.T.Helper()
	id := s.Customer().ID
	s.sold(id, 2_000)
	s.Redeem(id, s.reward)
	return id
}

// soldSlowly records a sale that others overtake: it commits later than those with higher IDs.
func (s followedShop) soldSlowly(to core.ID, cents int64, takes time.Duration) {
	s.T.Helper()
	s.Check(db.Run(s.T.Context(), s.DB.Tenant(s.By), func(tx *db.Tx) error {
		if _, err := s.Sales.RecordIn(s.T.Context(), tx, s.By, core.NewID(tx.Now), s.sell(to, cents), core.NewCheck(nil)); err != nil {
			return err
		}
		_, err := db.One[bool](s.T.Context(), tx, `select pg_sleep(@seconds) is not null`, db.Args{"seconds": takes.Seconds()})
		return err
	}))
}

// merge merges a duplicate into another customer. The product may be at work on the coupon that was sent first.
func (s followedShop) merge(kept, duplicate core.ID) {
	s.T.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		_, err := core.Result(s.Merging.Merge(s.T.Context(), s.By, kept, duplicate, nil, nil))
		if errors.Is(err, coupon.ErrSending) && time.Now().Before(end) {
			continue
		}
		s.Check(err)
		return
	}
}

// live has a number of days pass in a few moments.
func (s followedShop) live(days int) {
	s.T.Helper()
	ctx := s.T.Context()
	for day := range int64(days) {
		anna, bo, carl := s.Customer(), s.Customer(), s.Customer()
		voided, refunded := s.sold(anna.ID, 5_000+day), s.sold(bo.ID, 4_000+day)
		s.sold(s.hot, 1_000+day)
		s.sold(carl.ID, 700+day)
		s.VoidSale(voided)
		s.Refund(refunded, 1_500)
		s.Adjust(anna.ID, ledger.Points, 100)
		s.Must(s.Customers.Edit(ctx, s.By, anna.ID, customer.Edit{FirstName: core.Set(fmt.Sprint("Annika ", day))}))
		fulfilled, undone := s.Redeem(anna.ID, s.reward), s.Redeem(anna.ID, s.reward)
		s.Must(core.Result(s.Rewards.Fulfil(ctx, s.By, fulfilled.ID, nil)))
		s.VoidRedemption(undone.ID)
		s.soldSlowly(bo.ID, 300+day, time.Duration(rand.IntN(1_200))*time.Millisecond)
		switch day % 3 {
		case 0:
			s.merge(bo.ID, anna.ID)
			s.merge(carl.ID, bo.ID)
			s.sold(carl.ID, 900+day)
		case 1:
			s.Must(s.Privacy.Erase(ctx, s.By, anna.ID))
		case 2:
			s.merge(bo.ID, anna.ID)
			s.Must(s.Privacy.Erase(ctx, s.By, bo.ID))
		}
	}
}

// The copy that sync.py keeps is the business, field by field, although 16 writers went on while it was loaded and followed, some of them
// slow to commit, and although it was killed again and again.
func TestACopyStaysInStep(t *testing.T) {
	t.Parallel()
	url := dbtest.OwnURL(t)
	in := newInstallationOn(t, url, "LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0")
	server := in.serve()
	d, err := db.Open(t.Context(), url, db.Options{MaxConns: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	s := followedShop{Shop: shoptest.In(t, d)}
	s.kind, s.hot, s.reward = s.Points(100), s.Customer().ID, s.Reward(5, nil)
	owner := s.As(core.Owner)
	hello := s.Coupon(coupon.New{Name: "Hello", BenefitType: "points", BenefitValue: new(int64(3))})
	voucher := s.Voucher(hello.ID, s.hot)
	s.live(1) // before there is a copy
	dora, ella, fia := s.regular(), s.regular(), s.regular()

	f := newFollower(t, server, issue(owner, token.CustomersRead, token.TransactionsWrite, token.RewardsRead, token.CouponsRead))
	var (
		writers sync.WaitGroup
		written atomic.Bool
	)
	for range 16 {
		writers.Go(func() { s.live(4) })
	}
	go func() {
		writers.Wait()
		written.Store(true)
	}()
	kills := f.follow(&written)
	if kills < 2 {
		t.Errorf("the program was killed %d times, want 2 or more", kills)
	}
	f.runUntilCopied(s.Customer().ID)
	// Now that what they bought is in the copy, it must follow to another customer, or lose what programs keep with it.
	s.merge(ella, dora)
	s.Must(s.Privacy.Erase(t.Context(), s.By, fia))
	s.RedeemVoucher(voucher)
	f.runUntilCopied(s.Customer().ID)

	f.compareAll(s)
	if got := f.records("vouchers")[voucher.String()]["change"]; got != "changed" {
		t.Errorf("the redeemed voucher is %v in the copy, want changed", got)
	}
	f.loadsAnew(s)
	f.endsCleanly()
	f.readsWhatItMay(s, owner)
	t.Logf("%d kills, %d customers, %d transactions, %d redemptions", kills, len(f.truth("customers")), len(f.truth("transactions")), len(f.truth("redemptions")))
	server.stop()
}

// issue creates a token of a person.
func issue(of shoptest.Shop, abilities ...token.Ability) string {
	of.T.Helper()
	scopes := make([]string, len(abilities))
	for i, a := range abilities {
		scopes[i] = string(a)
	}
	made, err := core.Result(of.Tokens.Create(of.T.Context(), of.By, token.New{Name: "Copy", Scopes: &scopes}, nil))
	of.Check(err)
	return made.Secret
}

// compareAll compares the copy with the business.
func (f follower) compareAll(s followedShop) {
	f.t.Helper()
	f.compare("customers", map[string]any{"kept_ulid": nil}, f.merged(s))
	f.compare("transactions", nil, nil)
	f.compare("redemptions", nil, nil)
}

// loadsAnew checks what becomes of a copy that is too old to follow.
func (f follower) loadsAnew(s followedShop) {
	f.t.Helper()
	old := core.Cursor{At: s.DB.Now().AddDate(0, 0, -61), ID: core.NewID(s.DB.Now().AddDate(0, 0, -61))}
	f.onCopy("db.execute('delete from customers'); db.execute('update progress set cursor = ?', sys.argv[1:])", old.String())
	if printed := f.runOnce(); !strings.Contains(printed, "too old to follow") {
		f.t.Errorf("with a cursor of 61 days, sync.py printed %s", printed)
	}
	f.compareAll(s)
}

// readsWhatItMay checks a copy with a token for customers alone.
func (f follower) readsWhatItMay(s followedShop, owner shoptest.Shop) {
	f.t.Helper()
	other := newFollower(f.t, f.server, issue(owner, token.CustomersRead))
	if printed := other.runOnce(); !strings.Contains(printed, "the token may not read transactions") {
		f.t.Errorf("with a token for customers, sync.py printed %s", printed)
	}
	other.compare("customers", map[string]any{"kept_ulid": nil}, f.merged(s))
	if got := other.records("transactions"); len(got) > 0 {
		f.t.Errorf("the copy has %d transactions", len(got))
	}
}

// merged returns the rows that the copy should have of merged customers.
func (f follower) merged(s followedShop) map[string]map[string]any {
	f.t.Helper()
	rows := map[string]map[string]any{}
	for _, pair := range shoptest.QueryAll[[]core.ID](s.Shop, "select array[merged_id, kept_id] from loyalty.customer_merge where tenant_id = $1", s.By.Tenant.ID) {
		rows[pair[0].String()] = map[string]any{"ulid": pair[0].String(), "kept_ulid": pair[1].String()}
	}
	return rows
}

// compare compares a table of the copy with the API's list, and with further rows, whose other fields are null. Each row of the list has
// the further fields, too.
func (f follower) compare(list string, further map[string]any, rows map[string]map[string]any) {
	f.t.Helper()
	got, want := f.records(list), f.truth(list)
	for _, record := range want {
		maps.Copy(record, further)
	}
	maps.Copy(want, rows)
	for ulid, row := range got {
		maps.DeleteFunc(row, func(_ string, value any) bool { return value == nil && rows[ulid] != nil })
	}
	wrong := 0
	for _, ulid := range slices.Sorted(maps.Keys(want)) {
		if diff := cmp.Diff(want[ulid], got[ulid]); diff != "" {
			if wrong++; wrong <= 3 {
				f.t.Errorf("%s: %s in the copy (-want +got):\n%s", list, ulid, diff)
			}
		}
	}
	if wrong > 3 {
		f.t.Errorf("%s: %d of %d are wrong", list, wrong, len(want))
	}
	if len(got) != len(want) {
		f.t.Errorf("%s: the copy has %d rows, want %d", list, len(got), len(want))
	}
}

var passed = regexp.MustCompile(`\d+ requests .*, \d+ records`)

// endsCleanly checks that the program goes on by itself, and ends when it is asked to.
func (f follower) endsCleanly() {
	f.t.Helper()
	var out output
	cmd := f.start(&out)
	await(f.t, "sync.py has read what is new", func() bool { return passed.MatchString(out.String()) })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		f.t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || strings.Contains(out.String(), "Traceback") {
		f.t.Errorf("after SIGTERM: %v\n%s", err, out.String())
	}
}
