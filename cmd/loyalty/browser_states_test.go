package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"example.com/loyalty/core"
	"example.com/loyalty/web/browsertest"
)

// hired adds a member of staff whose sessions and two-step verification no other test uses.
func (c cafe) hired(t *testing.T, role core.Role, name, email string) {
	t.Helper()
	c.hiredAt(t, 0, role, name, email)
}

// hiredAt adds a member of staff of any business with the café's password; 0: the café.
func (c cafe) hiredAt(t *testing.T, business core.TenantID, role core.Role, name, email string) {
	t.Helper()
	_, err := connect(t, c.in.url()).Exec(t.Context(), `
		with added as (
			insert into loyalty.staff (tenant_id, role, name, email, email_key, created_at)
			select coalesce(nullif($4::bigint, 0), tenant_id), role, $2, $3, $3, created_at
			from loyalty.staff
			where email = $1
			returning id, tenant_id
		)
		insert into loyalty.credential (staff_id, tenant_id, password_hash)
		select a.id, a.tenant_id, c.password_hash
		from added a, loyalty.credential c
		join loyalty.staff p on p.id = c.staff_id
		where p.email = $1`, addresses[role], name, email, int64(business))
	if err != nil {
		t.Fatal(err)
	}
}

// confirmPassword gives the password of one of the café's people once more.
func (c cafe) confirmPassword(t *testing.T, p *browsertest.Page) {
	t.Helper()
	password, err := os.ReadFile(filepath.Join(c.in.data, "demo-password"))
	if err != nil {
		t.Fatal(err)
	}
	p.Fill("confirmation", strings.TrimSpace(string(password)))
	p.Click("main .form-card [type=submit]")
}

// "Optional TOTP second factor with recovery codes": set up by the key that is shown, asked
// for at the next sign-in, and given by a recovery code where the phone is lost.
func testTwoFactor(t *testing.T, c cafe) {
	const email = "runa@cafearo.example"
	c.hired(t, core.Cashier, "Runa Vik", email)
	p := c.page(t)
	c.signInAs(t, p, email)
	p.Open("/admin/settings/security")
	p.Click(linkTo("/two-step/begin"))
	c.confirmPassword(t, p)
	p.WaitFor("#secret")
	look(t, p, "factor-setup", nil)
	code, err := totp.GenerateCode(strings.ReplaceAll(p.Text("#secret"), " ", ""), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p.Fill("code", code)
	p.Click("main .form-card [type=submit]")
	p.WaitFor("#recovery-codes")
	look(t, p, "factor-codes", nil)
	recovery := strings.Fields(p.Text("#recovery-codes"))[0]
	p.Click("main a.btn-primary")
	look(t, p, "security-factor", nil)
	look(t, p, "factor-off", func() { p.Open("/admin/settings/security/two-step/off") })
	look(t, p, "factor-renew", func() { p.Open("/admin/settings/security/codes") })

	signOut(p)
	c.fillSignIn(t, p, email)
	p.WaitFor(linkTo("?recovery=1"))
	look(t, p, "sign-in-code", nil)
	p.Fill("code", code)
	p.Click("main form [type=submit]")
	p.WaitFor(refused)
	p.Click(linkTo("?recovery=1"))
	look(t, p, "sign-in-recovery", nil)
	p.Fill("code", recovery)
	p.Click("main form [type=submit]")
	p.WaitFor("[data-side=find]") // a cashier begins at the till
}

// What a customer's page is where it has little to offer.
func testGoneCustomers(t *testing.T, c cafe) {
	made := c.expect(t, http.StatusCreated, "POST", "/api/v1/customers", c.token, `{"first_name":"Signe","last_name":"Falk","phone":"+46 74 333 22 11"}`)
	path := "/admin/customers/" + decode[struct{ Data struct{ ULID string } }](t, made.body).Data.ULID
	p := c.page(t)
	c.signIn(t, p, core.Manager)
	p.Open(path + "/deactivate")
	p.Click(submitOf("/deactivate"))
	p.WaitForText(done, "Signe Falk")
	look(t, p, "customer-inactive", func() { p.Open(path) })
	p.Open(path + "/erase")
	p.Click("[name=understood]")
	c.waitingFiles.Lock()
	defer c.waitingFiles.Unlock()
	p.Click(submitOf("/erase"))
	p.WaitFor(done)
	look(t, p, "customer-erased", func() { p.Open(path) })
}

// fillToken makes a token, whose secret is shown.
func fillToken(p *browsertest.Page) {
	p.Fill("name", "Till")
	p.Click(choice("scopes", "customers:read"))
	p.Click(submitOf("/admin/settings/tokens/new"))
}
