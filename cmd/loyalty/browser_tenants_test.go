package main

import (
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/core"
)

// A super-admin adds a tenant, suspends it and reactivates it; every page on the way is fit to
// be read by everyone.
func testTenants(t *testing.T, c cafe) {
	p := c.browser.NewPage(t, c.address(""))
	c.signInAdmin(t, p, "Tove Root", "tove@loyalty.example")
	open := func(path string) func() { return func() { p.Open(path) } }
	look(t, p, "tenants", "", open("/platform/tenants"))
	look(t, p, "tenants-none", "", open("/platform/tenants?search=nothing-is-called-so"))
	look(t, p, "tenant-new", "", open("/platform/tenants/new"))

	// "The errors beside the fields."
	p.Emulate(1440, 900, false)
	p.Open("/platform/tenants")
	p.Click("Add tenant")
	p.WaitFor("Payment methods are names only")
	p.Expect(http.StatusUnprocessableEntity)
	p.Fill("Name", "Kahvila Meri")
	p.Click("Add tenant")
	p.WaitFor(says("Host", core.Required))
	look(t, p, "tenant-refused", "", stays)
	p.Fill("Host", "kahvila-meri")
	p.Fill("Owner’s e-mail", "meri@kahvila.example")
	p.Fill("Plan", "Free: free")
	p.Fill("Country", "Finland")
	p.Fill("Time zone", "Helsinki")
	p.Click("Add tenant")
	p.WaitFor("Kahvila Meri was added. The invitation is on its way to meri@kahvila.example.")
	path := p.Path()
	look(t, p, "tenant", "", stays)
	look(t, p, "tenant-edit", "", open(path+"/edit"))

	p.Emulate(1440, 900, false)
	p.Open(path)
	p.Click("Send invitation again")
	p.WaitFor("Another invitation is on its way")

	p.Click("Suspend tenant")
	p.WaitFor("The owner gets it by e-mail")
	look(t, p, "tenant-suspend-dialog", "", stays)
	p.Emulate(1440, 900, false)
	p.Expect(http.StatusUnprocessableEntity)
	p.Within("#dialog").Click("Suspend tenant")
	p.WaitFor(says("Reason", core.Required))
	p.Fill("Reason", "Asked for by the owner.")
	p.Within("#dialog").Click("Suspend tenant")
	p.WaitFor("Kahvila Meri is suspended.")
	p.WaitFor("Asked for by the owner.")
	look(t, p, "tenant-suspended", "", stays)

	// "Its panel shows a plain notice": to whom it may concern, on each of its pages.
	theirs := c.browser.NewPage(t, c.address("kahvila-meri"))
	for name, path := range map[string]string{"suspended": "/admin/sign-in", "suspended-till": "/till", "suspended-join": "/join"} {
		look(t, theirs, name, "", func() {
			theirs.Expect(http.StatusForbidden)
			theirs.Open(path)
		})
	}
	look(t, p, "tenant-reactivate", "", open(path+"/reactivate"))

	// From the list, found as it is typed.
	p.Emulate(1440, 900, false)
	p.Open("/platform/tenants")
	p.Fill("Search", "meri")
	p.WaitFor("1–1 of 1")
	if at := p.Path(); !strings.Contains(at, "search=meri") {
		t.Errorf("the list is at %s", at)
	}
	if tabs := strings.Join(strings.Fields(p.Text("#tenant-tabs")), " "); tabs != "All 1 Active 0 Setting up 0 Late 0 Suspended 1" {
		t.Errorf("the tabs are %q", tabs)
	}
	p.Within(".tenants tbody").Click("Actions for Kahvila Meri")
	p.Click("Reactivate tenant")
	p.WaitFor("Billing goes on")
	p.Within("#dialog").Click("Reactivate tenant")
	p.WaitFor("Kahvila Meri is active again.")

	// Without scripts, too.
	plain := p.NewTab(t)
	plain.WithoutJavaScript()
	plain.Open(path)
	plain.Click("Suspend tenant")
	plain.WaitFor("Suspend Kahvila Meri?")
	plain.Fill("Reason", "Once more.")
	plain.Click("Suspend tenant")
	plain.WaitFor("Kahvila Meri is suspended.")
}
