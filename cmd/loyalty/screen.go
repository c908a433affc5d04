package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mailFile has the address of the page of e-mails with its key, in the data directory, if no person reads the start-up screen.
const mailFile = "mail-address"

// announce says that the product serves: on the start-up screen or, with a JSON log, which programs read, in a line of the log.
func (a *app) announce(ctx context.Context, listens net.Addr, d *demoFacts, took time.Duration) {
	if a.Log == "json" {
		a.logServing(ctx, listens, d, took)
		return
	}
	a.screen(os.Stdout, d, took)
}

// logServing logs where the product serves. Passwords and tokens stay in their files, which the line names if they work.
func (a *app) logServing(ctx context.Context, listens net.Addr, d *demoFacts, took time.Duration) {
	about := []slog.Attr{
		slog.String("base_url", a.names.Base()),
		slog.String("address", listens.String()),
		slog.String("version", buildVersion()),
		slog.Duration("took", took),
		slog.String("data_directory", absolute(a.DataDir)),
	}
	add := func(key, value string, is bool) {
		if is {
			about = append(about, slog.String(key, value))
		}
	}
	file := func(name string) string { return absolute(filepath.Join(a.DataDir, name)) }
	if a.cluster != nil {
		add("database_directory", a.cluster.Dir(), true)
	}
	add("authority_file", a.authorityFile(), a.authorityFile() != "")
	if a.mailbox != nil {
		a.announceMailbox(a.mailbox.Address())
		add("mail_file", file(mailFile), true)
	}
	if d != nil {
		add("demo", a.names.Tenant(d.tenant.Slug), true)
		add("sign_in", signIns(d.able), len(d.able) > 0)
		add("password_file", file(demoPasswordFile), len(d.able) > 0)
		add("token_file", file(demoTokenFile), d.token != "")
		add("admin_password_file", file(adminPasswordFile), d.admin != "")
	}
	a.log.LogAttrs(ctx, slog.LevelInfo, "serving", about...)
}

// announceMailbox tells where e-mails are read: the address has a key, which must not be in a log.
func (a *app) announceMailbox(address string) {
	if a.Log != "json" {
		fmt.Printf("  Mail        %s (for another browser)\n", address)
		return
	}
	if err := writeWhole(filepath.Join(a.DataDir, mailFile), []byte(address+"\n")); err != nil {
		a.log.Warn("the address of the page of e-mails isn't stored", slog.Any("error", err))
	}
}

func absolute(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// screen prints the addresses, the sign-ins and example requests.
func (a *app) screen(w io.Writer, d *demoFacts, took time.Duration) {
	base := a.names.Base()
	// Written at once, so that no log line comes in between.
	var text strings.Builder
	defer func() { fmt.Fprint(w, text.String()) }()
	say := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	say("")
	say("  Loyalty is running (ready in %s). Press Ctrl-C to stop it.", took.Round(10*time.Millisecond))
	say("")
	say("  API         %s/api/v1", base)
	say("  Reference   %s/docs", base)
	say("  Health      %s/readyz", base)
	if a.mailbox != nil {
		say("  Mail        %s (no mail server is set: e-mails appear here)", a.mailbox.Address())
	}
	if a.cluster != nil {
		say("  Database    private PostgreSQL in %s (`loyalty reset` deletes it)", a.cluster.Dir())
	}
	if ca := a.authorityFile(); ca != "" {
		say("  Trust       %s (this machine's certificate authority: import it in your browser or client)", ca)
	}
	say("")
	if d != nil {
		a.sayDemo(say, d)
		a.sayRequests(say, d)
	}
}

// sayDemo prints how to sign in to the demo. Passwords and tokens that no longer work are left out.
func (a *app) sayDemo(say func(format string, args ...any), d *demoFacts) {
	tenant := a.names.Tenant(d.tenant.Slug)
	say("  Demo        %s, %s/admin", d.tenant.Name, tenant)
	say("  Till        %s/till; customers join at %s/join", tenant, tenant)
	switch everyone := signIns(d.people); {
	case len(d.able) == 0:
		say("  Sign in     %s", everyone)
		say("  Password    the first one was changed, or its file was deleted: reset it at %s/admin/forgot", tenant)
	case signIns(d.able) != everyone:
		say("  Sign in     %s", signIns(d.able))
		say("  Password    %s (the initial one; the others' was changed: reset it at %s/admin/forgot)", d.password, tenant)
	default:
		say("  Sign in     %s", everyone)
		say("  Password    %s (the initial one, for all)", d.password)
	}
	if d.token != "" {
		say("  Token       %s", d.token)
	} else {
		say("  Token       the first one was revoked: create one at %s/admin/settings/tokens", tenant)
	}
	if d.admin != "" {
		say("  Platform    %s/platform, sign in as %s with the password %s", a.names.Base(), demoAdminEmail, d.admin)
	} else {
		say("  Platform    %s/platform, sign in as %s; the first password was changed, or its file was deleted:", a.names.Base(), demoAdminEmail)
		say("              `loyalty admin reset-password --email %s` sets a new one", demoAdminEmail)
	}
	say("")
}

// sayRequests prints requests to paste.
func (a *app) sayRequests(say func(format string, args ...any), d *demoFacts) {
	base, curl, token := a.names.Base(), "curl", d.token
	if ca := a.authorityFile(); ca != "" {
		curl += " --cacert '" + ca + "'"
	}
	if token == "" {
		token = "YOUR_TOKEN"
	}
	curl += " -H 'Authorization: Bearer " + token + "'"
	say("  Find or add a customer:")
	say("    %s -H 'Content-Type: application/json' %s/api/v1/customers \\", curl, base)
	say(`      -d '{"first_name":"Elsa","last_name":"Berg","phone":"08-465 004 12"}'`)
	say("  Record a sale of 12.50 for %s %s:", d.customer.FirstName, d.customer.LastName)
	say("    %s -H 'Content-Type: application/json' %s/api/v1/transactions \\", curl, base)
	say(`      -d '{"customer_ulid":"%s","transaction_type_id":%d,"spend_amount_cents":1250}'`, d.customer.ID, d.typeID)
	say("  Show the new balance:")
	say("    %s %s/api/v1/customers/%s", curl, base, d.customer.ID)
	say("")
}
