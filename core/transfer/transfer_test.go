package transfer_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/pquerna/otp/totp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/job"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/loyalty"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/transfer"
	"example.com/loyalty/core/vault"
	"example.com/loyalty/core/verify"
	"example.com/loyalty/core/walkin"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const known = shoptest.Password

// business is one with everything: a row in every table, people who sign in, an API token.
type business struct {
	shoptest.Shop
	secret string // of the owner's two-step verification
	api    token.Created
	card   string
}

// newBusiness makes a business whose numbers are unmistakable in any text.
func newBusiness(t *testing.T, d *db.DB) business {
	t.Helper()
	root := shoptest.Of(t, d, core.System(core.Tenant{}, "test"))
	for sequence, at := range map[string]int64{"tenant": 70100, "staff": 80100, "token": 90100, "location": 60100, "transaction_type": 50100} {
		root.Exec("select setval('loyalty."+sequence+"_id_seq', greatest($1, nextval('loyalty."+sequence+"_id_seq')))", at)
	}
	b := business{Shop: shoptest.In(t, d), secret: auth.NewTOTPSecret()}
	b.WriteEverything()
	b.GivePassword(b.By)
	by, ctx := b.By, t.Context()
	_, err := db.In(ctx, d.Tenant(by), func(tx *db.Tx) (int, error) {
		return 0, auth.EnrolTwoFactor(ctx, tx, by, dbtest.Keys(), by.StaffID, b.secret)
	})
	b.Check(err)
	b.Exec("insert into loyalty.recovery_code (tenant_id, staff_id, hash) values ($1, $2, 'a hash')", by.Tenant.ID, by.StaffID)
	b.Exec("insert into loyalty.weekly_mail (tenant_id, week, queued_at) values ($1, '2026-06-01', now())", by.Tenant.ID)
	b.Exec("insert into loyalty.tenant_setup (tenant_id, updated_at) values ($1, now()) on conflict do nothing", by.Tenant.ID)
	b.Exec("insert into loyalty.customer_key (tenant_id, kind, key, customer_id, text, created_at) select tenant_id, 'email', 'old@example.com', id, 'old@example.com', now() from loyalty.customer where tenant_id = $1 and phone_key is not null limit 1", by.Tenant.ID)
	b.Exec("insert into loyalty.notification (tenant_id, id, kind, cause, staff_id, day, name, created_at) values ($1, gen_random_uuid(), 'staff_activity', $2::bigint || ' 2026-06-01', $2, '2026-06-01', 'Maja', now())", by.Tenant.ID, by.StaffID)
	scopes := []string{"customers:read"}
	b.api, err = core.Result(b.Tokens.Create(ctx, by, token.New{Name: "Till", Scopes: &scopes}, nil))
	b.Check(err)
	kind := b.Stamps()
	for _, caller := range []core.Actor{by, {Kind: core.ByToken, ID: strconv.FormatInt(b.api.ID, 10), Name: "Till", Tenant: by.Tenant, StaffID: by.StaffID, Role: core.Owner}} {
		sale := transaction.Sale{CustomerID: b.Customer().ID, TransactionTypeID: kind.ID, SpendAmountCents: 500, Source: transaction.POS}
		b.Must(b.Sales.Record(ctx, caller, sale, nil, &core.Once[transaction.Transaction]{
			RequestKey: core.RequestKey{Key: "receipt"},
			Respond: func(transaction.Transaction) (core.Response, error) {
				return core.Response{Status: 201, Body: []byte("{}")}, nil
			},
		}))
	}
	_, err = b.Billing.EditDetails(ctx, by, billing.DetailsInput{Address: "Götgatan 1"})
	b.Check(err)
	b.card, err = b.Walkins.CardToken(by.Tenant.ID, b.Customer())
	b.Check(err)
	return b
}

// cards returns the service of customers' cards, in another process with its own keys.
func (b business) cards(keys vault.Keys) *walkin.Service {
	jobs, err := job.New(b.DB, slog.New(slog.DiscardHandler))
	b.Check(err)
	return loyalty.New(b.DB, jobs, b.Mails, keys, loyalty.Options{}).Walkins
}

// in is the business in another database.
func (b business) in(d *db.DB) business {
	b.Shop = shoptest.Of(b.T, d, b.By)
	return b
}

func mover(d *db.DB) transfer.Mover {
	return transfer.Mover{DB: d, Keys: dbtest.Keys(), Operator: "ops", Version: "test"}
}

func export(t *testing.T, d *db.DB, slug string) (transfer.Header, []byte) {
	t.Helper()
	var file bytes.Buffer
	h, err := mover(d).Export(t.Context(), slug, &file)
	if err != nil {
		t.Fatal(err)
	}
	return h, file.Bytes()
}

func opening(file []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }
}

// rows returns the rows of a tenant in all tables that move, as JSON, but the audit entries of moving it.
func rows(t *testing.T, d *db.DB, id core.TenantID) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, name := range moved {
		column := "tenant_id"
		if name == "tenant" {
			column = "id"
		}
		found, _ := dbtest.Owner(d).Query(t.Context(), "select to_jsonb(r)::text from loyalty."+name+" r where "+column+" = $1", int64(id))
		list, err := pgx.CollectRows(found, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		list = slices.DeleteFunc(list, func(row string) bool { return strings.Contains(row, "tenant.move_") })
		slices.Sort(list)
		all[name] = list
	}
	return all
}

func tenantOf(t *testing.T, d *db.DB, slug string) core.Tenant {
	t.Helper()
	found, err := tenant.BySlug(t.Context(), d, slug)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// wantVerified fails unless all checks of the whole database find nothing.
func wantVerified(t *testing.T, d *db.DB) {
	t.Helper()
	results, err := verify.Run(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Wrong > 0 {
			t.Errorf("%s %d wrong: %v", r.Check, r.Wrong, r.Examples)
		}
	}
}

// In another installation a business is what it was: every row, with its numbers, and people, programs and customers
// go on as before.
func TestEverythingMoves(t *testing.T) {
	t.Parallel()
	from, to := dbtest.OwnDB(t), dbtest.OwnDB(t)
	b := newBusiness(t, from)
	stranger := shoptest.In(t, from)
	stranger.Sale(stranger.Customer().ID, stranger.Points(100), 1000)
	before := rows(t, from, b.By.Tenant.ID)
	for name, list := range before {
		if len(list) == 0 {
			t.Errorf("%s has no row: let newBusiness write one", name)
		}
	}
	slug := b.By.Tenant.Slug
	h, file := export(t, from, slug)
	if strings.Contains(unpacked(t, file), stranger.By.Tenant.Name) {
		t.Error("the file has another business")
	}

	done, err := mover(to).Import(t.Context(), opening(file), transfer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if done.Facts != h.Facts || h.Customers < 5 || h.Points == "0" || done.Moved || done.NoSecret || done.Suspended || len(done.Unread)+len(done.StoppedTokens) > 0 {
		t.Errorf("imported %+v", done)
	}
	if diff := cmp.Diff(before, rows(t, to, b.By.Tenant.ID)); diff != "" {
		t.Errorf("rows (-there +here):\n%s", diff)
	}
	wantVerified(t, to)

	here := b.in(to)
	here.signsIn(slug)
	if _, err := here.Tokens.Authenticate(t.Context(), b.api.Secret, slug); err != nil {
		t.Errorf("the API token: %v", err)
	}
	if _, err := here.Walkins.OpenCard(t.Context(), tenantOf(t, to, slug), b.card); err != nil {
		t.Errorf("the card's link: %v", err)
	}
	// New records don't get numbers that the business has.
	branch, err := core.Result(location.NewService(to).Add(t.Context(), here.By, location.New{Name: "Hornstull"}, nil))
	here.Check(err)
	kind := here.Type("Lunch", ledger.Points, transaction.Rule{PointsPerUnit: 1, UnitCents: 100})
	if branch.ID <= 60100 || kind.ID <= 50100 {
		t.Errorf("a new location and transaction type have the numbers %d and %d", branch.ID, kind.ID)
	}
	here.Sale(here.Customer().ID, kind, 700)
	here.Person(core.Cashier)
	if second := dbtest.Tenant(t, to); second.Tenant.ID <= b.By.Tenant.ID {
		t.Errorf("the next business has the number %d", second.Tenant.ID)
	}
	for d, want := range map[*db.DB]string{from: "tenant.move_out", to: "tenant.move_out tenant.move_in"} {
		log := shoptest.Query[string](shoptest.Of(t, d, b.By), "select string_agg(action, ' ' order by id) from loyalty.audit_entry where action like 'tenant.move%' and actor_name = 'ops' and subject_id = $1::bigint::text", b.By.Tenant.ID)
		if log != want {
			t.Errorf("the audit log has %s, want %s", log, want)
		}
	}
}

// signsIn signs the owner in, with the password and a code.
func (b business) signsIn(slug string) {
	b.T.Helper()
	ctx, now := b.T.Context(), b.DB.Now().Add(time.Minute)
	visitor := auth.Visitor{Tenant: tenantOf(b.T.(*testing.T), b.DB, slug), Address: "192.0.2.1"}
	service := b.At(now).Auth
	in, err := service.SignIn(ctx, visitor, auth.Credentials{Email: "maja@example.com", Password: known})
	if err != nil || !in.NeedsCode {
		b.T.Fatalf("%+v, %v: want that a code is asked for", in, err)
	}
	code, err := totp.GenerateCode(b.secret, now)
	b.Check(err)
	if _, err := service.VerifyCode(ctx, visitor, in.Proof, code); err != nil {
		b.T.Errorf("the code: %v", err)
	}
}

// In the same database, all numbers that must be unique change, and everything that names them follows.
func TestACopyHasItsOwnNumbers(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	b := newBusiness(t, d)
	original := rows(t, d, b.By.Tenant.ID)
	h, file := export(t, d, b.By.Tenant.Slug)
	if _, err := mover(d).Import(t.Context(), opening(file), transfer.Options{}); err == nil || !strings.Contains(err.Error(), "is already here, under the slug "+b.By.Tenant.Slug) {
		t.Errorf("a second import: %v", err)
	}

	if _, err := mover(d).Import(t.Context(), opening(file), transfer.Options{As: "the-copy"}); err == nil || !strings.Contains(err.Error(), "would stop working: API tokens (1). ") {
		t.Errorf("with a token that others have: %v", err)
	}
	done, err := mover(d).Import(t.Context(), opening(file), transfer.Options{As: "the-copy", Renumber: true})
	if err != nil {
		t.Fatal(err)
	}
	if !done.Moved || done.As != "the-copy" || !slices.Equal(done.StoppedTokens, []int64{b.api.ID}) || len(done.Unread) > 0 {
		t.Errorf("imported %+v", done)
	}
	copied := tenantOf(t, d, "the-copy")
	there, here := rows(t, d, b.By.Tenant.ID), rows(t, d, copied.ID)
	if diff := cmp.Diff(original, there); diff != "" {
		t.Errorf("the original changed (-before +after):\n%s", diff)
	}
	// Whatever differs between two rows is a number, or follows from a new one.
	numbers := map[string]bool{strconv.FormatInt(h.TenantID, 10): true}
	for _, list := range h.Numbers {
		for _, n := range list {
			numbers[strconv.FormatInt(n, 10)] = true
		}
	}
	number := regexp.MustCompile(`\b[789]01\d\d\b`)
	for name, list := range here {
		for i, row := range list {
			for _, n := range number.FindAllString(row, -1) {
				if numbers[n] {
					t.Errorf("%s names the original's %s: %s", name, n, row)
				}
			}
			list[i] = number.ReplaceAllString(row, "N")
		}
		for i, row := range there[name] {
			there[name][i] = number.ReplaceAllString(row, "N")
		}
		slices.Sort(list)
		slices.Sort(there[name])
	}
	sealed := regexp.MustCompile(`"(totp_secret|revoked_at|slug)": (null|"[^"]*")`)
	for _, name := range []string{"credential", "token", "tenant"} {
		for _, list := range [][]string{there[name], here[name]} {
			for i := range list {
				list[i] = sealed.ReplaceAllString(list[i], `"$1": …`)
			}
		}
	}
	if diff := cmp.Diff(there, here); diff != "" {
		t.Errorf("rows (-original +copy):\n%s", diff)
	}
	wantVerified(t, d)

	b.signsIn("the-copy")
	b.signsIn(b.By.Tenant.Slug)
	if _, err := b.Tokens.Authenticate(t.Context(), b.api.Secret, b.By.Tenant.Slug); err != nil {
		t.Errorf("the original's API token: %v", err)
	}
	live := shoptest.Query[int64](b.Shop, "select count(*) from loyalty.token where tenant_id = $1 and revoked_at is null", copied.ID)
	if live != 0 {
		t.Error("the copy has a live token that no one can use")
	}
}

// Without the other installation's secret, links and two-step verification wait for it, and the import says so. No one
// gets in without a code meanwhile.
func TestTheSecretMayComeLater(t *testing.T) {
	t.Parallel()
	from, to := dbtest.OwnDB(t), dbtest.OwnDB(t)
	b := newBusiness(t, from)
	slug := b.By.Tenant.Slug
	_, file := export(t, from, slug)
	const other = "another secret of 32 characters!"
	keys, err := vault.New([]string{other})
	b.Check(err)
	m := mover(to)
	m.Keys = keys
	done, err := m.Import(t.Context(), opening(file), transfer.Options{})
	b.Check(err)
	want := []auth.Moved{{LostTwoFactor: auth.LostTwoFactor{Email: b.Email(b.By), Slug: slug}}}
	if !done.NoSecret || !cmp.Equal(done.Unread, want) {
		t.Errorf("imported %+v", done)
	}
	here := b.in(to)
	visitor := auth.Visitor{Tenant: tenantOf(t, to, slug), Address: "192.0.2.1"}
	in, err := here.Auth.SignIn(t.Context(), visitor, auth.Credentials{Email: "maja@example.com", Password: known})
	if err != nil || !in.NeedsCode {
		t.Errorf("%+v, %v: want that a code is asked for", in, err)
	}
	both, err := vault.New([]string{other, "a secret of thirty-two characters"})
	b.Check(err)
	for name, c := range map[string]struct {
		keys vault.Keys
		want error
	}{"without the secret": {keys, core.ErrNotFound}, "with both": {both, nil}} {
		if _, err := here.cards(c.keys).OpenCard(t.Context(), visitor.Tenant, b.card); !errors.Is(err, c.want) {
			t.Errorf("%s, the card's link: %v", name, err)
		}
	}
	here.signsIn(slug) // with the secret
}

// Where others have its numbers, a business is imported only if links and tokens may stop.
func TestTakenNumbersNeedRenumber(t *testing.T) {
	t.Parallel()
	from, to := dbtest.OwnDB(t), dbtest.OwnDB(t)
	b := newBusiness(t, from)
	host := newBusiness(t, to) // made in the same way, it has the same numbers
	_, file := export(t, from, b.By.Tenant.Slug)
	before := rows(t, to, host.By.Tenant.ID)
	_, err := mover(to).Import(t.Context(), opening(file), transfer.Options{})
	want := "other businesses have its numbers here, so these would stop working: links in e-mails and to customers' cards; API tokens (1). To import it nevertheless, add --renumber"
	if err == nil || err.Error() != want {
		t.Fatalf("%v, want: %s", err, want)
	}
	done, err := mover(to).Import(t.Context(), opening(file), transfer.Options{Renumber: true})
	b.Check(err)
	if !done.Moved || len(done.StoppedTokens) != 1 || done.As != b.By.Tenant.Slug {
		t.Errorf("imported %+v", done)
	}
	if diff := cmp.Diff(before, rows(t, to, host.By.Tenant.ID)); diff != "" {
		t.Errorf("the other business changed (-before +after):\n%s", diff)
	}
	wantVerified(t, to)
	b.in(to).signsIn(b.By.Tenant.Slug)
}

// unpacked returns the text of a file.
func unpacked(t *testing.T, file []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func packed(text string) []byte {
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	_, _ = w.Write([]byte(text)) // to memory
	_ = w.Close()
	return file.Bytes()
}

// forged returns a file with changed lines, and an end that fits them.
func forged(t *testing.T, file []byte, change func(lines []string) []string) []byte {
	t.Helper()
	lines := strings.SplitAfter(strings.TrimSuffix(unpacked(t, file), "\n"), "\n")
	lines = change(lines[:len(lines)-1])
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	end, err := json.Marshal(map[string]any{"end": map[string]any{"rows": len(lines) - 1, "sha256": sum[:]}})
	if err != nil {
		t.Fatal(err)
	}
	return packed(strings.Join(lines, "") + string(end) + "\n")
}

// replaced replaces a part of the first line that has it.
func replaced(t *testing.T, lines []string, pattern, by string) []string {
	t.Helper()
	expression := regexp.MustCompile(pattern)
	for i, line := range lines {
		if changed := expression.ReplaceAllString(line, by); changed != line {
			lines[i] = changed
			return lines
		}
	}
	t.Fatalf("no line has %s", pattern)
	return nil
}

// state returns the number of rows of every table.
func state(t *testing.T, d *db.DB) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	found, _ := dbtest.Owner(d).Query(t.Context(), "select relname from pg_class where relnamespace = 'loyalty'::regnamespace and relkind = 'r'")
	names, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		var n int64
		if err := dbtest.Owner(d).QueryRow(t.Context(), "select count(*) from loyalty."+name).Scan(&n); err != nil {
			t.Fatal(err)
		}
		counts[name] = n
	}
	return counts
}

// What is wrong with a file is found, and then nothing of it is imported.
func TestBadFilesLeaveNothing(t *testing.T) {
	t.Parallel()
	from, to := dbtest.OwnDB(t), dbtest.OwnDB(t)
	b := newBusiness(t, from)
	host := shoptest.In(t, to)
	_, file := export(t, from, b.By.Tenant.Slug)
	text := unpacked(t, file)
	flipped := bytes.Clone(file)
	flipped[len(file)/2] ^= 0x10
	change := func(pattern, by string) []byte {
		return forged(t, file, func(lines []string) []string { return replaced(t, lines, pattern, by) })
	}
	before := state(t, to)
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":                  {nil, "this is not a file of `loyalty export`"},
		"a text":                 {[]byte("first_name;last_name\n"), "this is not a file of `loyalty export`"},
		"another compressed one": {packed("{\"a\":1}\n"), "this is not a file of `loyalty export`"},
		"a byte changed":         {flipped, "the file is damaged"},
		"cut in the middle":      {file[:len(file)/2], "the file ends too early"},
		"cut at its end":         {file[:len(file)-1], "the file "},
		"cut between lines":      {packed(text[:strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")+1]), "the file ends too early"},
		"something behind it":    {append(bytes.Clone(file), "x"...), "the file is damaged"},
		"another line behind it": {packed(text + "{}\n"), "the file is damaged"},
		"a line missing":         {packed(regexp.MustCompile(`(?m)^{"table":"account".*\n`).ReplaceAllString(text, "")), "the file is damaged"},
		"a letter changed":       {packed(strings.Replace(text, "Lindqvist", "Lindqvisd", 1)), "the file is damaged"},
		"another format":         {change(`"format":1,`, `"format":2,`), "the file has format 2, and this build reads format 1: import it with the build that exported it (test)"},
		"an older schema":        {change(`"schema":\d+,`, `"schema":102,`), "the file was written with migration 0102, and this database has 0"},
		"a newer schema":         {change(`"schema":\d+,`, `"schema":9999,`), "the file was written with migration 9999, and this database has 0"},
		"another sum":            {change(`"points":"\d+",`, `"points":"1",`), "not imported: the business would have customers: "},
		"a person too many":      {change(`"people":\d+,`, `"people":99,`), "not imported: the business would have customers: "},
		"a row too few": {forged(t, file, func(lines []string) []string {
			return slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, `"table":"customer_tag"`) })
		}), "not imported: the rows of the tables differ from the file: "},
		"another balance":                     {change(`("table":"account".*"points":)\d+`, `${1}77`), "not imported: after the import this would be wrong for 1 records, and in the file for 0: Every balance is the sum of its entries."},
		"an entry of another customer":        {change(`("table":"ledger_entry".*"customer_id":")[0-9a-f-]{36}`, `${1}00000000-0000-0000-0000-000000000000`), "not imported: after the import this would be wrong"},
		"a table that stays behind":           {change(`"table":"customer_tag"`, `"table":"session"`), `it has rows of "session"`},
		"a table of the platform":             {change(`"table":"customer_tag"`, `"table":"plan"`), `it has rows of "plan"`},
		"a table that doesn't exist":          {change(`"table":"customer_tag"`, `"table":"x\";drop table y"`), `it has rows of "x\";drop table y"`},
		"two tenants":                         {forged(t, file, func(lines []string) []string { return append(lines, lines[1]) }), `it has rows of "tenant"`},
		"no tenant":                           {forged(t, file, func(lines []string) []string { return slices.Delete(lines, 1, 2) }), "the file is damaged"},
		"a credential of another's person":    {change(`("table":"credential".*"staff_id":)\d+`, `${1}`+host.By.ID), "rows of credential: "},
		"a number that no installation has":   {change(`"token":\[`, `"token":[4611686018427387904,`), "it has the number 4611686018427387904"},
		"a row with a letter where none fits": {change(`("table":"account".*"points":)\d+`, `${1}"x"`), "rows of account: "},
	} {
		_, err := mover(to).Import(t.Context(), opening(c.file), transfer.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want: %s", name, err, c.want)
		}
	}
	if diff := cmp.Diff(before, state(t, to)); diff != "" {
		t.Errorf("rows were left (-before +after):\n%s", diff)
	}
	// A file that ends too early is found before anything is written.
	m := mover(to)
	m.Progress = func(string) transfer.Progress { return func(done, _ int) { t.Errorf("%d rows were written", done) } }
	if _, err := m.Import(t.Context(), opening(file[:len(file)-1]), transfer.Options{}); err == nil {
		t.Error("a file without its end was imported")
	}
	// A row that names another tenant becomes the imported one's: no file reaches others.
	foreign := change(`("table":"customer_tag".*"tenant_id":)\d+`, fmt.Sprintf(`${1}%d`, host.By.Tenant.ID))
	if _, err := mover(to).Import(t.Context(), opening(foreign), transfer.Options{}); err != nil {
		t.Error(err)
	}
	if n := shoptest.Query[int64](host, "select count(*) from loyalty.customer_tag where tenant_id = $1", host.By.Tenant.ID); n != 0 {
		t.Error("the file wrote into another business")
	}
}

// An import that is stopped anywhere leaves nothing.
func TestAStoppedImportLeavesNothing(t *testing.T) {
	t.Parallel()
	from, to := dbtest.OwnDB(t), dbtest.OwnDB(t)
	b := newBusiness(t, from)
	_, file := export(t, from, b.By.Tenant.Slug)
	before := state(t, to)
	lines := strings.Count(unpacked(t, file), "\n")
	for _, share := range []int{0, 30, 60, 90} {
		ctx, cancel := context.WithCancel(t.Context())
		m := mover(to)
		m.Progress = func(string) transfer.Progress {
			return func(done, _ int) {
				if done >= lines*share/100 {
					cancel()
				}
			}
		}
		if _, err := m.Import(ctx, opening(file), transfer.Options{}); err == nil {
			t.Errorf("stopped after %d %%: no error", share)
		}
		cancel()
		if diff := cmp.Diff(before, state(t, to)); diff != "" {
			t.Errorf("stopped after %d %% (-before +after):\n%s", share, diff)
		}
	}
	if _, err := mover(to).Import(t.Context(), opening(file), transfer.Options{}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// A file has one instant, whatever is sold meanwhile.
func TestAFileIsOneInstant(t *testing.T) {
	t.Parallel()
	from, to := dbtest.OwnDB(t), dbtest.OwnDB(t)
	shop := shoptest.In(t, from)
	kind, customers := shop.Points(100), shop.AddCustomers(20)
	var tills sync.WaitGroup
	ctx, close := context.WithCancel(t.Context())
	for till := range 3 {
		tills.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				shop.Sale(customers[(till+n)%len(customers)], kind, 1000)
			}
		})
	}
	var files [][]byte
	var headers []transfer.Header
	for range 3 {
		h, file := export(t, from, shop.By.Tenant.Slug)
		headers, files = append(headers, h), append(files, file)
	}
	close()
	tills.Wait()
	for i, file := range files {
		done, err := mover(to).Import(t.Context(), opening(file), transfer.Options{As: fmt.Sprintf("copy-%d", i), Renumber: true})
		if err != nil {
			t.Fatal(err)
		}
		entries := strings.Count(unpacked(t, file), `{"table":"ledger_entry"`)
		if want := strconv.Itoa(entries * 10); done.Points != want || headers[i].Rows["transaction"] != int64(entries) {
			t.Errorf("file %d: points %s, want %s; %d sales", i, done.Points, want, headers[i].Rows["transaction"])
		}
	}
	if headers[0].Points == headers[2].Points {
		t.Error("nothing was sold meanwhile")
	}
}

// The plan has the same name, or is chosen. Billing begins on the day of the import, unless more was billed.
func TestPlanAndBilling(t *testing.T) {
	t.Parallel()
	from, to := dbtest.OwnDB(t), dbtest.OwnDB(t)
	shop, there := shoptest.In(t, from), shoptest.Of(t, to, core.System(core.Tenant{}, "test"))
	shop.Exec("update loyalty.plan set name = 'Growth' where id = 1")
	shop.Exec("update loyalty.tenant set created_at = now() - interval '1 year' where id = $1", shop.By.Tenant.ID)
	_, file := export(t, from, shop.By.Tenant.Slug)
	_, err := mover(to).Import(t.Context(), opening(file), transfer.Options{})
	if want := `there is no plan "Growth" here: create it, or choose one of these (--plan): Free`; err == nil || err.Error() != want {
		t.Errorf("%v, want: %s", err, want)
	}
	if _, err := mover(to).Import(t.Context(), opening(file), transfer.Options{Plan: "Free"}); err != nil {
		t.Fatal(err)
	}
	const owed = "select billed_through - ((now() at time zone 'Europe/Stockholm')::date - 1) from loyalty.billing_account where tenant_id = $1"
	if days := shoptest.Query[int64](there, owed, shop.By.Tenant.ID); days != 0 {
		t.Errorf("billed through %d days after yesterday", days)
	}
	shop.Exec("insert into loyalty.billing_account (tenant_id, anchor_day, billed_through) values ($1, 5, current_date + 100) on conflict (tenant_id) do update set billed_through = current_date + 100", shop.By.Tenant.ID)
	_, file = export(t, from, shop.By.Tenant.Slug)
	done, err := mover(to).Import(t.Context(), opening(file), transfer.Options{Plan: "Free", As: "paid-ahead"})
	shop.Check(err)
	if days := shoptest.Query[int64](there, owed, tenantOf(t, to, "paid-ahead").ID); days < 99 || done.Plan != "Free" {
		t.Errorf("billed through %d days after yesterday", days)
	}
}

// A suspended business stays suspended unless the operator says otherwise.
func TestSuspension(t *testing.T) {
	t.Parallel()
	from, to := dbtest.OwnDB(t), dbtest.OwnDB(t)
	shop := shoptest.In(t, from)
	shop.Exec("update loyalty.tenant set status = 'suspended', suspended_at = now() - interval '28 seconds', suspend_reason = 'We move' where id = $1", shop.By.Tenant.ID)
	// A super-admin suspended it, who is no one in the other installation.
	shop.Exec("insert into loyalty.audit_entry (tenant_id, id, action, subject_kind, subject_id, actor_kind, actor_id, actor_name, address, request_id, created_at) values ($1, gen_random_uuid(), 'tenant.edit', 'tenant', $1::bigint::text, 'admin', '1', 'Root', '', '', now())", shop.By.Tenant.ID)
	began := time.Now()
	_, file := export(t, from, shop.By.Tenant.Slug)
	if waited := time.Since(began); waited < 1500*time.Millisecond {
		t.Errorf("exported after %s, before requests from before the suspension had ended", waited)
	}
	for slug, activate := range map[string]bool{"closed-shop": false, "open-shop": true} {
		done, err := mover(to).Import(t.Context(), opening(file), transfer.Options{As: slug, Activate: activate})
		shop.Check(err)
		if found := tenantOf(t, to, slug); found.Suspended == activate || done.Suspended == activate {
			t.Errorf("activate: %t, suspended: %t", activate, found.Suspended)
		}
		here := shoptest.Of(t, to, core.System(core.Tenant{}, "test"))
		if by := shoptest.Query[string](here, "select actor_name || ' ' || actor_id from loyalty.audit_entry where tenant_id = $1 and actor_kind = 'admin'", tenantOf(t, to, slug).ID); by != "Root 0" {
			t.Errorf("the super-admin is %s", by)
		}
	}
}

// What is wrong in a business before it moves doesn't keep it from moving.
func TestDifferencesMoveToo(t *testing.T) {
	t.Parallel()
	from, to := dbtest.OwnDB(t), dbtest.OwnDB(t)
	shop := shoptest.In(t, from)
	shop.Sale(shop.Customer().ID, shop.Points(100), 1000)
	shop.Exec("update loyalty.account set points = points + 1 where tenant_id = $1", shop.By.Tenant.ID)
	h, file := export(t, from, shop.By.Tenant.Slug)
	want := map[string]int64{"Every balance is the sum of its entries.": 1}
	if !maps.Equal(h.Differences, want) {
		t.Errorf("the file says %v", h.Differences)
	}
	if _, err := mover(to).Import(t.Context(), opening(file), transfer.Options{}); err != nil {
		t.Error(err)
	}
}

// failing is a disk that is full after a while.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

func TestAFullDiskIsNamed(t *testing.T) {
	t.Parallel()
	d := dbtest.OwnDB(t)
	b := newBusiness(t, d)
	for _, left := range []int{0, 10, 1000} {
		if _, err := mover(d).Export(t.Context(), b.By.Tenant.Slug, &failing{left}); err == nil || !strings.HasPrefix(err.Error(), "no space left") {
			t.Errorf("after %d bytes: %v", left, err)
		}
	}
	if _, err := mover(d).Export(t.Context(), "nowhere", io.Discard); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("an unknown business: %v", err)
	}
}
