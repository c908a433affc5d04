package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/loyalty/core/dbtest"
)

// Businesses move from one installation to another, which serves them at once: a file each, written by a command and
// read by another.
func TestBusinessesMove(t *testing.T) {
	t.Parallel()
	there, here := dbtest.OwnURL(t), dbtest.OwnURL(t)
	from := newInstallationOn(t, there, "LOYALTY_SANDBOX=1")
	to := newInstallationOn(t, dbtest.Serving(here), "LOYALTY_DATABASE_OWNER_URL="+withPassword(here))
	shops := from.sandbox(t).Tenants
	shop, other := shops[0], shops[1].Slug
	s := to.serve()
	s.expect(t, http.StatusUnauthorized, "GET", "/api/v1/customers", shop.Tokens["all"], "")

	dir := filepath.Join(from.top, "moved")
	file := func(slug string) string { return filepath.Join(dir, slug+".jsonl.gz") }
	from.run("export").says(t, "name the slugs of the businesses to export, or add --all")
	from.run("export", "--all", shop.Slug).says(t, "name the slugs of the businesses to export, or add --all")
	from.run("export", "--out", dir, shop.Slug, "nowhere").says(t, "no business with the slug nowhere")
	out := from.succeed("export", "--out", dir, "--all")
	for _, want := range []string{
		"exported " + shop.Slug + " to " + file(shop.Slug) + ": customers: ",
		"Not suspended: " + shop.Slug + ", " + other,
		"The files contain personal data",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("export says %q, which lacks %q", out, want)
		}
	}
	info, err := os.Stat(file(shop.Slug))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}

	out = to.succeed("import", file(shop.Slug), file(other))
	if strings.Count(out, ", as in the file\n") != 2 || !strings.Contains(out, "imported "+shop.Name+" (") {
		t.Errorf("import says %q", out)
	}
	s.expect(t, http.StatusOK, "GET", "/api/v1/customers", shop.Tokens["all"], "")
	to.succeed("verify")
	log := connect(t, here)
	if by := ask[string](log, "select string_agg(actor_name || ' ' || action, ', ' order by id) from loyalty.audit_entry where action like 'tenant.move_%' and tenant_id = $1", shop.ID); by != operator()+" tenant.move_out, "+operator()+" tenant.move_in" {
		t.Errorf("the audit log says %q", by)
	}

	to.run("import", file(shop.Slug)).says(t, file(shop.Slug)+": "+shop.Name+" is already here, under the slug "+shop.Slug)
	to.run("import", "--as=admin", file(shop.Slug)).says(t, `the slug "admin" is reserved`)
	to.run("import", "--as=copy", file(shop.Slug), file(other)).says(t, "--as is for one file")
	to.run("import", "--plan=Gold", "--as=copy", file(shop.Slug)).says(t, `there is no plan "Gold" here`)
	to.run("import", filepath.Join(dir, "none")).says(t, "no such file")
	whole, err := os.ReadFile(file(shop.Slug))
	if err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(dir, "half")
	if err := os.WriteFile(half, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	to.run("import", "--as=copy", half).says(t, half+": the file ends too early")
	to.run("import", "--as=copy", file(shop.Slug)).says(t, "add --renumber")
	out = to.succeed("import", "--as=copy", "--renumber", file(shop.Slug))
	if !strings.Contains(out, "https://copy.") || !strings.Contains(out, "Its address is another one") || !strings.Contains(out, "API tokens that don't work") {
		t.Errorf("import of a copy says %q", out)
	}
	s.stop()
}

// --suspend suspends a business before it is exported. An export that is stopped leaves no file.
func TestExportSuspends(t *testing.T) {
	t.Parallel()
	own := dbtest.OwnURL(t)
	in := newInstallationOn(t, own, "LOYALTY_SANDBOX=1")
	slug := in.sandbox(t).Tenants[0].Slug
	dir := filepath.Join(in.top, "moved")
	d := connect(t, own)
	p := in.start("", "export", "--out", dir, "--suspend=We move to another server", slug)
	await(t, "the business is suspended", func() bool {
		return ask[string](d, "select coalesce(suspend_reason, '') from loyalty.tenant where slug = $1", slug) == "We move to another server"
	})
	p.end() // it waits for requests that began before
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if mails := ask[int](d, "select count(*) from loyalty.mail where subject like '%suspended%'"); mails != 1 {
		t.Errorf("the owner got %d e-mails", mails)
	}

	d.exec("update loyalty.tenant set suspended_at = suspended_at - interval '1 hour' where slug = $1", slug)
	out := in.succeed("export", "--out", dir, "--suspend=Again", slug)
	if strings.Contains(out, "Not suspended") {
		t.Errorf("export says %q", out)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 || names[0].Name() != slug+suffix {
		t.Errorf("files: %v, %v", names, err)
	}
	out = in.succeed("import", "--as=new-place", "--renumber", filepath.Join(dir, slug+suffix))
	if !strings.Contains(out, "It is suspended, as it was") {
		t.Errorf("import says %q", out)
	}
	in.succeed("import", "--as=new-place-2", "--renumber", "--activate", filepath.Join(dir, slug+suffix))
	status := ask[[]string](d, "select array_agg(status order by slug) from loyalty.tenant where slug like 'new-place%'")
	if !slices.Equal(status, []string{"suspended", "active"}) {
		t.Errorf("the copies are %v", status)
	}
}
