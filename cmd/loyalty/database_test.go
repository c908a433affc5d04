package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alexedwards/argon2id"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/sandbox"
	"example.com/loyalty/core/token"
)

// emptyDatabase creates a database without migrations.
func emptyDatabase(t *testing.T) string {
	t.Helper()
	own := dbtest.OwnURL(t)
	name := "empty_" + strings.ToLower(rand.Text())
	connect(t, own).exec("create database " + name)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		conn, err := pgx.Connect(ctx, own)
		if err == nil {
			defer conn.Close(ctx)
			_, err = conn.Exec(ctx, "drop database "+name+" with (force)")
		}
		if err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(own)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// "`/readyz` (database reachable, migrations current)"; "says whether the database can be
// used and has every migration, and if not, what to do". With DATABASE_URL there is no private
// PostgreSQL and no demo.
func TestEmptyDatabase(t *testing.T) {
	t.Parallel()
	empty := emptyDatabase(t)
	in := newInstallationOn(t, empty, "LOYALTY_SANDBOX=1")
	s := in.serve()
	if s.token != "" || s.out.has("curl") || s.out.has("Demo") || s.out.has("PostgreSQL") {
		t.Errorf("the screen shows a demo:\n%s", s.out.String())
	}
	if exists(in.cluster()) || exists(filepath.Join(in.data, "secret")) {
		t.Error("a private database was created")
	}
	got := s.expect(t, http.StatusServiceUnavailable, "GET", "/readyz", "", "")
	got.is(t, http.StatusServiceUnavailable, "application/json",
		"{\"status\":\"unavailable\",\"reason\":\"the database is empty: run `loyalty migrate up`\"}\n")
	if got.header.Get("Retry-After") == "" {
		t.Error("/readyz has no Retry-After")
	}
	if !s.log.has("serving, but not ready") {
		t.Error("the log does not say that the database is empty")
	}
	s.expect(t, http.StatusOK, "GET", "/healthz", "", "")
	s.expect(t, http.StatusOK, "GET", "/problems", "", "")
	if s.out.has("/mail") {
		t.Error("the screen shows a mailbox")
	}

	steps := regexp.MustCompile(`(?m)^(\S+\.sql|\d+ \(in Go\)) +missing$`)
	before := in.succeed("migrate", "status")
	pending := len(steps.FindAllString(before, -1))
	if pending == 0 || pending != strings.Count(before, "\n") {
		t.Errorf("migrate status of an empty database:\n%s", before)
	}
	if up := in.succeed("migrate", "up"); strings.Count(up, "applied: ") != pending {
		t.Errorf("migrate up, of %d steps:\n%s", pending, up)
	}
	if up := in.succeed("migrate", "up"); up != "the database is up to date\n" {
		t.Errorf("migrate up, again:\n%s", up)
	}
	taken := regexp.MustCompile(`(?m)^\S.* +\d{4}-\d\d-\d\d \d\d:\d\d UTC$`)
	if after := in.succeed("migrate", "status"); len(taken.FindAllString(after, -1)) != pending {
		t.Errorf("migrate status of a migrated database:\n%s", after)
	}
	await(t, "/readyz sees the migrations", func() bool { // what it found before is kept for a second
		got, err := s.call("GET", "/readyz", "", "")
		return err == nil && got.status == http.StatusOK
	})

	// Jobs run, too: the owner of a new token is e-mailed.
	shop := in.sandbox(t).Tenants[0]
	d := connect(t, empty)
	if _, err := d.Exec(t.Context(), "update loyalty.token set told_at = told_at - interval '1 hour'"); err != nil { // or it waits for the hour to end
		t.Fatal(err)
	}
	s.expect(t, http.StatusCreated, "POST", "/api/v1/tokens", shop.Tokens["all"], `{"name":"After the migration","scopes":[]}`)
	await(t, "the mail is delivered", func() bool {
		return ask[int](d, "select count(*) from loyalty.mail where status = 'kept' and text like '%After the migration%'") == 1
	})
	s.expect(t, http.StatusNotFound, "GET", "/mail", "", "") // with DATABASE_URL it is other people's
	s.stop()
}

// sandbox creates a sandbox and reads its file.
func (in *installation) sandbox(t *testing.T) sandbox.File {
	t.Helper()
	file := filepath.Join(in.top, "tokens.json")
	in.succeed("sandbox", "--out", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return decode[sandbox.File](t, string(text))
}

// "`demo`: makes the demo business in the database of `DATABASE_URL`"
func TestDemoCommand(t *testing.T) {
	t.Parallel()
	own := dbtest.OwnURL(t)
	in := newInstallationOn(t, own)
	secret := regexp.MustCompile(`(?m)^API token, shown once: (\d+\|\S{48})$`)
	first := in.succeed("demo")
	made := secret.FindStringSubmatch(first)
	again := in.succeed("demo")
	in.hidden = append(in.hidden, checkSignIns(t, in, own, first, again))
	another := secret.FindStringSubmatch(again)
	if !strings.Contains(again, "the demo business already exists: "+strings.Replace(in.base, "localhost", "demo.localhost", 1)) {
		t.Errorf("demo, again:\n%s", again)
	}
	if made == nil || another == nil || made[1] == another[1] {
		t.Fatalf("two runs print %v and %v", made, another)
	}
	in.hidden = append(in.hidden, made[1], another[1])
	s := in.serve()
	one := s.expect(t, http.StatusOK, "GET", "/api/v1/customers", made[1], "")
	other := s.expect(t, http.StatusOK, "GET", "/api/v1/customers", another[1], "")
	if len(decode[many[customerRecord]](t, one.body).Data) == 0 || one.body != other.body {
		t.Errorf("the demo's tokens show %s and %s", one.body, other.body)
	}
	if s.out.has("Token") {
		t.Error("the start-up screen shows the demo's token")
	}
	s.stop()
}

// checkSignIns checks that the demo's password is printed once, and works.
func checkSignIns(t *testing.T, in *installation, database, first, again string) (password string) {
	t.Helper()
	panel := strings.Replace(in.base, "localhost", "demo.localhost", 1) + "/admin"
	signIn := regexp.MustCompile(`(?m)^sign in at (\S+)\nas (.*)\nwith the password, shown once: (\S{26})$`)
	told := signIn.FindStringSubmatch(first)
	if told == nil || told[1] != panel || !strings.Contains(told[2], "maja@cafearo.example (owner)") || !strings.Contains(told[2], "(cashier)") {
		t.Fatalf("demo:\n%s", first)
	}
	if strings.Contains(again, told[3]) || !strings.Contains(again, "its password was shown when it was created") {
		t.Errorf("demo, again:\n%s", again)
	}
	for _, hash := range strings.Fields(ask[string](connect(t, database), "select string_agg(password_hash, ' ') from loyalty.credential where tenant_id is not null")) {
		if ok, err := argon2id.ComparePasswordAndHash(told[3], hash); err != nil || !ok {
			t.Errorf("the printed password doesn't work: %v", err)
		}
	}
	return told[3]
}

// "`loyalty sandbox` is refused unless `LOYALTY_SANDBOX=1` or the database is the private
// one." "It works against the database that `serve` uses, while `serve` runs."
func TestSandboxCommand(t *testing.T) {
	t.Parallel()
	own := dbtest.OwnURL(t)
	in := newInstallationOn(t, own)
	file := filepath.Join(in.top, "tokens.json")
	in.run("sandbox", "--out", file).says(t, "set LOYALTY_SANDBOX=1")
	if exists(file) {
		t.Fatal("a refused sandbox wrote a file")
	}
	allowed := in.with("LOYALTY_SANDBOX=1", "LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0")
	s := allowed.serve()
	f := allowed.sandbox(t)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v: %v, want mode 0600", err, info.Mode())
	}
	if f.BaseURL != in.base || f.CAFile != filepath.Join(in.data, "ca.pem") || f.TransactionsPostScope != token.TransactionsWrite || len(f.Tenants) != 2 {
		t.Errorf("%+v", f)
	}
	for i, shop := range f.Tenants {
		checkTokens(t, s, shop)
		if want := strings.Replace(in.base, "localhost", shop.Slug+".localhost", 1); shop.PanelURL != want+"/admin" {
			t.Errorf("the panel is %s", shop.PanelURL)
		}
		// "on a tenant host a token of another tenant is 401"
		other := f.Tenants[1-i]
		s.expect(t, http.StatusUnauthorized, "GET", strings.TrimSuffix(shop.PanelURL, "/admin")+"/api/v1/customers", other.Tokens["all"], "")
	}
	// "A platform token on a tenant endpoint: 403."
	s.expect(t, http.StatusForbidden, "GET", "/api/v1/customers", f.Platform.Token, "")
	s.expect(t, http.StatusOK, "GET", "/api/v1/tokens", f.Platform.Token, "")
	// "Creating one makes its owner and queues the invitation", which leads to its own host.
	create := f.Platform.TenantCreate
	s.expect(t, http.StatusCreated, "POST", "/api/v1/platform/tenants", f.Platform.Token, fmt.Sprintf(
		`{"name":"New","slug":"new-shop","email":"new@example.com","plan_id":%d,"billing_cycle":%q,"payment_method":%q}`,
		create.PlanID, create.BillingCycle, create.PaymentMethod))
	invitation := strings.Replace(in.base, "localhost", "new-shop.localhost", 1) + "/admin/invitation/"
	d := connect(t, own)
	await(t, "the invitation is delivered", func() bool {
		return ask[int](d, "select count(*) from loyalty.mail where status = 'kept' and recipient = 'new@example.com' and text like '%"+invitation+"%'") == 1
	})

	// "run again it makes two more", and a file that others may read becomes private.
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	more := allowed.sandbox(t)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v: written over a file, it has %v", err, info.Mode())
	}
	s.expect(t, http.StatusOK, "GET", "/api/v1/customers", more.Tenants[0].Tokens["all"], "")
	s.expect(t, http.StatusOK, "GET", "/api/v1/customers", f.Tenants[0].Tokens["all"], "")
	if more.Tenants[0].ID == f.Tenants[0].ID || more.Platform.Email == f.Platform.Email {
		t.Error("the second sandbox is the same as the first")
	}
	s.stop()
}

// checkTokens checks that each token has exactly the ability in its name.
func checkTokens(t *testing.T, s *server, shop sandbox.Tenant) {
	t.Helper()
	all := s.expect(t, http.StatusOK, "GET", "/api/v1/tokens?per_page=100", shop.Tokens["all"], "")
	type record struct {
		Name      string          `json:"name"`
		Abilities []token.Ability `json:"abilities"`
	}
	listed := decode[many[record]](t, all.body).Data
	if len(listed) != 2+len(token.Abilities) || len(shop.Tokens) != len(listed) {
		t.Errorf("%d tokens are in the file, %d in the list", len(shop.Tokens), len(listed))
	}
	for name, secret := range shop.Tokens {
		s.in.hidden = append(s.in.hidden, secret)
		may := map[token.Ability]bool{}
		for _, a := range token.Abilities {
			may[a] = name == "all" || name == string(a)
		}
		if !slices.ContainsFunc(listed, func(r record) bool {
			same := r.Name == name
			for a, yes := range may {
				same = same && slices.Contains(r.Abilities, a) == yes
			}
			return same
		}) {
			t.Errorf("no token in the list is %s", name)
		}
		for _, r := range []struct {
			needs        token.Ability
			method, path string
			status       int // for who may
		}{
			{token.CustomersRead, "GET", "/api/v1/customers", http.StatusOK},
			{token.CustomersWrite, "POST", "/api/v1/customers", http.StatusUnprocessableEntity},
			{token.TransactionsWrite, "POST", "/api/v1/transactions", http.StatusUnprocessableEntity},
		} {
			want, body := http.StatusForbidden, ""
			if may[r.needs] {
				want = r.status
			}
			if r.method == "POST" {
				body = "{}"
			}
			s.expect(t, want, r.method, r.path, secret, body)
		}
	}
	s.expect(t, http.StatusUnauthorized, "GET", "/api/v1/tokens", shop.RevokedToken, "")

	// A sale of each kind.
	made := s.expect(t, http.StatusCreated, "POST", "/api/v1/customers", shop.Tokens["customers:write"],
		`{"first_name":"Elsa","last_name":"Berg","phone":"0701740699"}`)
	customer := decode[single[customerRecord]](t, made.body).Data.ULID
	for kind, award := range map[int64]string{
		shop.TransactionTypeID: `"points_awarded":12,"stamps_awarded":null`, shop.StampsTransactionTypeID: `"points_awarded":null,"stamps_awarded":1`,
	} {
		sold := s.expect(t, http.StatusCreated, "POST", "/api/v1/transactions", shop.Tokens["transactions:write"],
			fmt.Sprintf(`{"customer_ulid":%q,"transaction_type_id":%d,"spend_amount_cents":1250}`, customer, kind))
		if !strings.Contains(sold.body, award) {
			t.Errorf("%s, want %s", sold.body, award)
		}
	}
}

// "`admin create`: makes a super-admin." "Passwords: … at least 12 characters, not among
// common ones."
func TestAdminCreate(t *testing.T) {
	t.Parallel()
	own := dbtest.OwnURL(t)
	in := newInstallationOn(t, own)
	create := func(stdin string, args ...string) *process {
		p := in.start(stdin, append([]string{"admin", "create", "--name=Åsa Root"}, args...)...)
		p.exit()
		return p
	}
	admins := func() int {
		return ask[int](connect(t, own), "select count(*) from loyalty.staff p join loyalty.credential c on c.staff_id = p.id where p.role = 'super_admin' and p.tenant_id is null and c.password_hash like '$argon2id$%'")
	}
	made := create("", "--email=Asa@example.com")
	password := regexp.MustCompile(`^created super-admin Åsa Root <Asa@example.com>\npassword: (\S{20,})\n$`).FindStringSubmatch(made.out.String())
	if made.exit() != 0 || password == nil || admins() != 1 {
		t.Fatalf("exit %d: %s%s", made.exit(), made.out.String(), made.log.String())
	}
	in.hidden = append(in.hidden, password[1])
	create("", "--email=asa@example.com").says(t, says("email", core.Duplicate))
	for weak, reason := range map[string]string{
		"short":                            says("password", core.MinLength(12)),
		"passwordpassword":                 says("password", core.Violation{Rule: "easy_password"}),
		"bo@example.com":                   says("password", core.Violation{Rule: "easy_password"}),
		strings.Repeat("long ", 210) + ".": says("password", core.MaxLength(1024)),
	} {
		create(weak+"\n", "--email=bo@example.com", "--password-stdin").says(t, reason)
	}
	create("", "--email=bo@example.com", "--password-stdin").says(t, "read the password")
	create("", "--email=bo").says(t, says("email", core.MustBeEmail))
	if admins() != 1 {
		t.Errorf("%d super-admins, want 1", admins())
	}
	const chosen = "a password of my own"
	in.hidden = append(in.hidden, chosen)
	own2 := create(chosen+"\r\n", "--email=bo@example.com", "--password-stdin")
	if own2.exit() != 0 || own2.out.has(chosen) || admins() != 2 {
		t.Errorf("exit %d: %s%s", own2.exit(), own2.out.String(), own2.log.String())
	}
}

// "No password reset by mail": the operator resets passwords, and turns off two-step verification
// of super-admins and of people of a business.
func TestAdminReset(t *testing.T) {
	t.Parallel()
	own := dbtest.OwnURL(t)
	in := newInstallationOn(t, own, "LOYALTY_SANDBOX=1")
	f := in.sandbox(t)
	admin := func(args ...string) *process {
		p := in.start("", append([]string{"admin"}, args...)...)
		p.exit()
		return p
	}
	conn := connect(t, own)
	hash := "select password_hash from loyalty.credential c join loyalty.staff p on p.id = c.staff_id where p.email = $1 and p.tenant_id is null"
	before := ask[string](conn, hash, f.Platform.Email)
	const mailed = "select count(*) from loyalty.mail where recipient = $1"
	mails := ask[int](conn, mailed, f.Platform.Email)
	admin("reset-password", "--email=unknown@example.com").says(t, "no active super-admin with the e-mail address unknown@example.com")
	reset := admin("reset-password", "--email="+strings.ToUpper(f.Platform.Email))
	password := regexp.MustCompile(`^reset the password of Sandbox admin <(\S+)> and ended their sessions\npassword: (\S{20,})\n$`).FindStringSubmatch(reset.out.String())
	if reset.exit() != 0 || password == nil || password[1] != f.Platform.Email {
		t.Fatalf("exit %d: %s%s", reset.exit(), reset.out.String(), reset.log.String())
	}
	in.hidden = append(in.hidden, password[2])
	if right, err := argon2id.ComparePasswordAndHash(password[2], ask[string](conn, hash, f.Platform.Email)); err != nil || !right || before == "" {
		t.Errorf("the printed password does not work: %v", err)
	}
	const enrolled = "select count(*) from loyalty.credential where totp_secret is not null and tenant_id is null"
	if ask[int](conn, enrolled) != 1 {
		t.Fatal("resetting the password turned two-step verification off")
	}
	off := admin("reset-factor", "--email="+f.Platform.Email)
	if want := "turned off two-step verification of Sandbox admin <" + f.Platform.Email + "> and ended their sessions\n"; off.exit() != 0 || off.out.String() != want || ask[int](conn, enrolled) != 0 {
		t.Errorf("exit %d: %s%s", off.exit(), off.out.String(), off.log.String())
	}
	admin("reset-factor", "--email="+f.Platform.Email).says(t, "is already off")
	admin("reset-factor", "--email="+f.Platform.Email, "--tenant="+f.Tenants[0].Slug).says(t, "no person at ")
	admin("reset-factor", "--email="+f.Platform.Email, "--tenant=nowhere").says(t, "no business with the slug nowhere")
	const logged = "select string_agg(action || ' by ' || actor_name, ', ' order by created_at, id) from loyalty.platform_audit_entry where actor_name like 'loyalty admin %'"
	if got := ask[string](conn, logged); got != "staff.reset_password by loyalty admin reset-password, staff.drop_totp by loyalty admin reset-factor" {
		t.Errorf("the audit log says %s", got)
	}
	if got := ask[int](conn, mailed, f.Platform.Email) - mails; got != 2 {
		t.Errorf("%d e-mails about the changes, want 2", got)
	}
}

// "`loyalty verify` recomputes everything and exits non-zero on any difference."
// "`psql --tenant SLUG`: opens psql inside one business: what it sees and no more"
func TestVerifyAndPsql(t *testing.T) {
	t.Parallel()
	own := dbtest.OwnURL(t)
	in := newInstallationOn(t, own, "LOYALTY_SANDBOX=1")
	f := in.sandbox(t)
	s := in.serve()
	shop := apiTill{s, t, f.Tenants[0].Tokens["all"], "", fmt.Sprint(f.Tenants[0].TransactionTypeID)}
	made := s.expect(t, http.StatusCreated, "POST", "/api/v1/customers", shop.token, `{"first_name":"Elsa","last_name":"Berg","phone":"0701740699"}`)
	shop.customer = decode[single[customerRecord]](t, made.body).Data.ULID
	for _, reference := range []string{"one", "two"} {
		if got, err := shop.sell(reference); err != nil || got.status != http.StatusCreated {
			t.Fatalf("%v %+v", err, got)
		}
	}
	s.stop()

	const claim = `Every balance is the sum of its entries.`
	right := in.succeed("verify")
	if !regexp.MustCompile(`(?m)^`+claim+` +\d+ checked +ok$`).MatchString(right) || !strings.HasSuffix(right, "\nno differences\n") {
		t.Errorf("verify:\n%s", right)
	}
	d := connect(t, own)
	d.exec("update loyalty.account set points = points + 1 where customer_id = (select id from loyalty.customer where first_name = 'Elsa')")
	wrong := in.run("verify")
	named := fmt.Sprintf(`(?m)^%s +\d+ checked +1 WRONG: tenant %d: %s$`, claim, f.Tenants[0].ID, shop.customer)
	if wrong.exit() != 1 || !regexp.MustCompile(named).MatchString(wrong.out.String()) || !wrong.out.has("differences\n") {
		t.Errorf("verify of a damaged balance: exit %d\n%s%s", wrong.exit(), wrong.out.String(), wrong.log.String())
	}

	in.run("psql", "--tenant=nowhere").says(t, "no business with the slug nowhere")
	if _, err := exec.LookPath("psql"); err != nil {
		t.Log("psql is not installed")
		return
	}
	sees := regexp.MustCompile(`loyalty_app\|(\d+)\|t`)
	var counted [2]int
	for i := range counted {
		p := in.start(`\pset tuples_only on
\pset format unaligned
select current_user, (select count(*) from customer), (select count(*) from ledger_entry) > 0;
`, "psql", "--tenant="+f.Tenants[i].Slug)
		if code, found := p.exit(), sees.FindStringSubmatch(p.out.String()); code == 0 && found != nil {
			counted[i], _ = strconv.Atoi(found[1])
		} else {
			t.Errorf("psql: exit %d: %s%s", code, p.out.String(), p.log.String())
		}
	}
	// Without --write it is read-only; the business's audit log has both.
	for _, c := range []struct{ flag, want string }{{"", "cannot execute INSERT in a read-only transaction"}, {"--write", "INSERT 0 1"}} {
		args := append([]string{"psql", "--tenant=" + f.Tenants[0].Slug}, strings.Fields(c.flag)...)
		p := in.start("insert into location (tenant_id, name) values (current_setting('app.tenant_id')::bigint, 'Hornstull');\n", args...)
		if p.exit(); !p.out.has(c.want) && !p.log.has(c.want) {
			t.Errorf("psql %s: %s%s", c.flag, p.out.String(), p.log.String())
		}
	}
	opened := ask[string](d, "select string_agg(action, ' ' order by id) from loyalty.audit_entry where tenant_id = $1 and action like 'tenant.open%' and actor_name <> ''", f.Tenants[0].ID)
	if opened != "tenant.open_read tenant.open_read tenant.open_write" {
		t.Errorf("the audit log says: %s", opened)
	}
	if counted[0] != counted[1]+1 { // the sandbox's own, and in the first one Elsa
		t.Errorf("psql sees %v customers, want one more in the first", counted)
	}
}

// "a statement that hangs is cut"; "503 Service Unavailable … with `Retry-After`"; "a
// refusal frees the key".
func TestHangingStatement(t *testing.T) {
	t.Parallel()
	own := dbtest.OwnURL(t)
	in := newInstallationOn(t, own, "LOYALTY_SANDBOX=1")
	f := in.sandbox(t)
	s := in.serve()
	shop := apiTill{s, t, f.Tenants[0].Tokens["all"], "", fmt.Sprint(f.Tenants[0].TransactionTypeID)}
	made := s.expect(t, http.StatusCreated, "POST", "/api/v1/customers", shop.token, `{"first_name":"Elsa","last_name":"Berg","phone":"0701740699"}`)
	shop.customer = decode[single[customerRecord]](t, made.body).Data.ULID

	release := hold(t, own)
	sale := shop.begin("receipt")
	awaitWaiter(t, own)
	// Other requests do not wait.
	s.expect(t, http.StatusOK, "GET", "/api/v1/customers/"+shop.customer, shop.token, "")
	if got := <-sale; !got.isUnavailable() {
		t.Errorf("a sale that cannot be recorded: %+v", got)
	} else {
		got.carries(t, aYear)
	}
	release()
	got, err := shop.sell("receipt")
	if err != nil || got.status != http.StatusCreated || got.header.Get("Idempotent-Replayed") != "" {
		t.Errorf("the sale, once it can be: %v %+v", err, got)
	}
	if now := shop.points(); now != 12 {
		t.Errorf("after a sale of 12.50 the balance is %d, want 12", now)
	}
	s.stop()
}

func TestVersion(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	if out := in.succeed("version"); !regexp.MustCompile(`^loyalty \S+ go1\.\S+.*\n$`).MatchString(out) {
		t.Errorf("version: %q", out)
	}
	if exists(in.data) {
		t.Error("it created a data directory")
	}
	for version, want := range map[string]string{
		"v1.4.0": "", "v1.4.0-rc.1": "",
		"v1.4.0+dirty":                         ", not a release: it has changes that aren't committed",
		"v0.0.0-20261126113000-67243585abcd":   ", not a release: its commit has no tag",
		"v1.4.1-0.20261126113000-67243585abcd": ", not a release: its commit has no tag",
		"(devel)":                              ", not a release: it wasn't built in a clone",
	} {
		if got := unreleased(version); got != want {
			t.Errorf("%s%s, want %q", version, got, want)
		}
	}
}
