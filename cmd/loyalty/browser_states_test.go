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

// hired is somebody new of the staff, whose sessions and second factor no other test needs.
func (c cafe) hired(t *testing.T, role core.Role, name, email string) {
	t.Helper()
	_, err := connect(t, c.in.url()).Exec(t.Context(), `
		with added as (
			insert into loyalty.staff (tenant_id, role, name, email, email_key, created_at)
			select tenant_id, role, $2, $3, $3, created_at
			from loyalty.staff
			where email = $1
			returning id, tenant_id
		)
		insert into loyalty.credential (staff_id, tenant_id, password_hash)
		select a.id, a.tenant_id, c.password_hash
		from added a, loyalty.credential c
		join loyalty.staff p on p.id = c.staff_id
		where p.email = $1`, people[role], name, email)
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
	p.Fill("Your password", strings.TrimSpace(string(password)))
	p.Click("Continue")
}

// "Optional TOTP second factor with recovery codes": set up by the key that is shown, asked
// for at the next sign-in, and given by a recovery code where the phone is lost.
func testSecondFactor(t *testing.T, c cafe) {
	const email = "runa@cafearo.example"
	c.hired(t, core.Cashier, "Runa Vik", email)
	p := c.page(t)
	c.signInAs(t, p, email)
	p.Open("/admin/settings/security")
	p.Click("Set up")
	c.confirmPassword(t, p)
	p.WaitFor("Scan this QR code")
	look(t, p, "factor-setup", "", stays)
	code, err := totp.GenerateCode(strings.ReplaceAll(p.Text("#secret"), " ", ""), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	p.Fill("Authentication code", code)
	p.Click("Turn on")
	p.WaitFor("Two-step verification is on.")
	look(t, p, "factor-codes", "", stays)
	recovery := strings.Fields(p.Text("#recovery-codes"))[0]
	p.Click("I've saved these codes")
	look(t, p, "security-factor", "", stays)
	look(t, p, "factor-off", "", func() { p.Open("/admin/settings/security/factor/off") })
	look(t, p, "factor-renew", "", func() { p.Open("/admin/settings/security/codes") })

	p.Within("header").Click("Your account")
	p.Click("Sign out")
	c.fillSignIn(t, p, email)
	p.WaitFor("Use a recovery code")
	look(t, p, "sign-in-code", "", stays)
	p.Expect(http.StatusUnprocessableEntity)
	p.Fill("Authentication code", code)
	p.Click("Sign in")
	p.WaitFor("This authentication code is wrong or was already used.")
	p.Click("Use a recovery code")
	look(t, p, "sign-in-recovery", "", stays)
	p.Fill("Recovery code", recovery)
	p.Click("Sign in")
	p.WaitFor("Find the customer") // a cashier begins at the till
}

// What a customer's page is where it has little to offer.
func testGoneCustomers(t *testing.T, c cafe) {
	made := c.expect(t, http.StatusCreated, "POST", "/api/v1/customers", c.token, `{"first_name":"Signe","last_name":"Falk","phone":"+46 74 333 22 11"}`)
	path := "/admin/customers/" + decode[struct{ Data struct{ ULID string } }](t, made.body).Data.ULID
	p := c.page(t)
	c.signIn(t, p, core.Manager)
	p.Open(path + "/deactivate")
	p.Within("main").Click("Deactivate")
	p.WaitFor("Signe Falk is inactive now")
	look(t, p, "customer-inactive", "", func() { p.Open(path) })
	p.Open(path + "/erase")
	p.Click("I understand that this cannot be undone.")
	p.Within("main form").Click("Erase")
	p.WaitFor("The customer is erased.")
	look(t, p, "customer-erased", "", func() { p.Open(path) })
}

// fillToken makes a token, whose secret is shown.
func fillToken(p *browsertest.Page) {
	p.Fill("Name", "Till")
	p.Click("See customers")
	p.Click("Make the token")
}
