package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"example.com/loyalty/web/browsertest"
)

// superAdmin is a new super-admin with the password of the demo's, whose sessions and two-step
// verification no other test needs.
func (c cafe) superAdmin(t *testing.T, name, email string) {
	t.Helper()
	_, err := connect(t, c.in.url()).Exec(t.Context(), `
		with added as (
			insert into loyalty.staff (role, name, email, email_key, created_at)
			values ('super_admin', $1, $2, $2, now())
			returning id
		)
		insert into loyalty.credential (staff_id, password_hash)
		select a.id, c.password_hash
		from added a, loyalty.credential c
		join loyalty.staff p on p.id = c.staff_id
		where p.email = 'admin@loyalty.example'`, name, email)
	if err != nil {
		t.Fatal(err)
	}
}

// fillAdmin gives a super-admin's password.
func (c cafe) fillAdmin(t *testing.T, p *browsertest.Page, email string) {
	t.Helper()
	password, err := os.ReadFile(filepath.Join(c.in.data, "admin-password"))
	if err != nil {
		t.Fatal(err)
	}
	p.Open("/platform/jobs") // which leads to the sign-in, and there after it
	p.Fill("email", email)
	p.Fill("password", strings.TrimSpace(string(password)))
	p.Click(submitOf("/platform/sign-in"))
}

// signInAdmin signs a new super-admin in, who sets up two-step verification.
func (c cafe) signInAdmin(t *testing.T, p *browsertest.Page, name, email string) {
	t.Helper()
	c.superAdmin(t, name, email)
	c.fillAdmin(t, p, email)
	p.Fill("code", shown(t, p.Text("#secret"), time.Now()))
	p.Click("main form [type=submit]")
	p.WaitFor("#recovery-codes")
	p.Click("main a.btn-primary")
	p.WaitFor(".queues")
}

// shown is what an app shows at an instant for a key as a page spells it.
func shown(t *testing.T, key string, at time.Time) string {
	t.Helper()
	code, err := totp.GenerateCode(strings.ReplaceAll(key, " ", ""), at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// "Sign-in for super-admins with a second factor (TOTP, recovery codes) set up at first sign-in":
// until then there is no other page; then by a code, or by a recovery code.
func testPlatformSignIn(t *testing.T, c cafe) {
	const email = "ylva@loyalty.example"
	c.superAdmin(t, "Ylva Root", email)
	p := c.browser.NewPage(t, c.address(""))
	c.fillAdmin(t, p, email)
	p.WaitFor("#secret")
	p.Open("/platform/jobs")
	look(t, p, "platform-setup", nil)
	key := p.Text("#secret")
	p.Fill("code", "000000")
	p.Click("main form [type=submit]")
	p.WaitFor(refused)
	p.Fill("code", shown(t, key, time.Now()))
	p.Click("main form [type=submit]")
	p.WaitFor("#recovery-codes")
	look(t, p, "platform-codes", nil)
	recovery := strings.Fields(p.Text("#recovery-codes"))
	p.Click("main a.btn-primary")
	if at := p.Path(); at != "/platform/jobs" || len(recovery) != 10 {
		t.Errorf("afterwards %d codes and %s", len(recovery), at)
	}
	p.Open("/platform/account")
	p.WaitFor(linkTo("/two-step/renew"))
	look(t, p, "platform-account", nil)
	look(t, p, "platform-renew", func() { p.Open("/platform/account/two-step/renew") })

	leave := func() {
		p.Open("/platform/account")
		signOut(p)
		p.WaitFor("[name=password]")
	}
	leave()
	c.fillAdmin(t, p, email)
	p.WaitFor("[name=code]")
	look(t, p, "platform-code", nil)
	p.Fill("code", shown(t, key, time.Now().Add(30*time.Second)))
	p.Click("main form [type=submit]")
	p.WaitFor(".queues")
	leave()
	c.fillAdmin(t, p, email)
	p.Click(linkTo("?recovery=1"))
	p.Fill("code", recovery[0])
	p.Click("main form [type=submit]")
	p.Open("/platform/account")
	p.WaitForText("#two-factor", "9")
}
