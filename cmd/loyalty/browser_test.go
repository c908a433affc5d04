package main

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/demo"
	"example.com/loyalty/web/browsertest"
)

var screenshots = flag.String("screenshots", "", "write pictures of the pages into this directory instead of testing them")

// TestBrowser goes through the product in a real browser: one server with the demo, and
// one browser in which each test is somebody else.
func TestBrowser(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t)
	c := cafe{newInstallation(t, "LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0").serve(), b}
	for name, test := range map[string]func(*testing.T, cafe){
		"Pages": testPages,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, c)
		})
	}
}

// cafe is the demo as people see it.
type cafe struct {
	*server
	browser *browsertest.Browser
}

// address is where a host's pages are: of a tenant, or with "" of the platform.
func (c cafe) address(slug string) string {
	if slug == "" {
		return c.in.base
	}
	return strings.Replace(c.in.base, "localhost", slug+".localhost", 1)
}

// people of the café, by what they may do.
var people = map[core.Role]string{
	core.Owner: "maja@cafearo.example", core.Manager: "emre@cafearo.example", core.Cashier: "linnea@cafearo.example",
}

// page is a tab at the café's own host, of one of its people or with "" of a stranger.
func (c cafe) page(t *testing.T, as core.Role) *browsertest.Page {
	t.Helper()
	p := c.browser.NewPage(t, c.address(demo.Slug))
	if as == "" {
		return p
	}
	password, err := os.ReadFile(filepath.Join(c.in.data, "demo-password"))
	if err != nil {
		t.Fatal(err)
	}
	p.Open("/admin/sign-in?to=/admin/customers")
	p.Fill("email", people[as])
	p.Fill("password", strings.TrimSpace(string(password)))
	p.Click("Sign in")
	if at := p.Path(); at != "/admin/customers" {
		t.Fatalf("the sign-in of %s leads to %s", people[as], at)
	}
	return p
}

// view is a page of the product.
type view struct {
	name    string // of its pictures
	host    string // slug of a tenant; "": the platform's
	path    string
	as      core.Role // "": a stranger
	status  int       // 0: 200
	foreign string    // selector of what others draw on it, in ways of their own
}

// panel is a page of the panel, as the owner sees it.
func panel(name, path string) view {
	return view{name: name, host: demo.Slug, path: path, as: core.Owner}
}

// views are the pages that people see.
var views = []view{
	{name: "home", path: "/"},
	// What Scalar draws has a second <main>, buttons without names, lists that take no focus.
	{name: "reference", path: "/docs", foreign: "#content"},
	{name: "retries", path: "/docs/retries"},
	{name: "versioning", path: "/docs/versioning"},
	{name: "changelog", path: "/docs/changelog"},
	{name: "problems", path: "/problems"},
	{name: "problem", path: "/problems/insufficient-points"},
	{name: "missing", path: "/nowhere", status: http.StatusNotFound},

	{name: "sign-in", host: demo.Slug, path: "/admin/sign-in"},
	{name: "forgot", host: demo.Slug, path: "/admin/forgot"},
	{name: "door-missing", host: demo.Slug, path: "/admin/nowhere", status: http.StatusNotFound},

	panel("customers", "/admin/customers"),
	panel("customers-none", "/admin/customers?search=nobody-is-called-so"),
	panel("customer-new", "/admin/customers/new"),
	{name: "panel-missing", host: demo.Slug, path: "/admin/nowhere", as: core.Owner, status: http.StatusNotFound},
}

// testPages looks at every page. Those that the same person sees take turns in their tabs.
func testPages(t *testing.T, c cafe) {
	tabs := map[core.Role]chan *browsertest.Page{}
	for _, v := range views {
		if tabs[v.as] != nil {
			continue
		}
		first := c.page(t, v.as)
		tabs[v.as] = make(chan *browsertest.Page, runtime.GOMAXPROCS(0))
		tabs[v.as] <- first
		for len(tabs[v.as]) < cap(tabs[v.as]) {
			tabs[v.as] <- first.NewTab(t)
		}
	}
	look := view.examine
	if *screenshots != "" {
		look = view.photograph
	}
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			tab := <-tabs[v.as]
			t.Cleanup(func() { tabs[v.as] <- tab })
			p := tab.For(t)
			p.Expect(cmp.Or(v.status, http.StatusOK))
			v.path = c.address(v.host) + v.path
			look(v, t, p)
		})
	}
}

// "axe-core finds no violation on any page in light and dark" and "phone layout down to
// 360 px"; no page has errors in the console either.
func (v view) examine(t *testing.T, p *browsertest.Page) {
	p.Emulate(360, 800, false)
	p.Open(v.path)
	found := map[string][]string{} // where each violation is seen
	for _, width := range []int{360, 390, 1440} {
		p.Emulate(width, 900, false)
		for _, wide := range p.Sideways() {
			t.Errorf("at %d px it scrolls sideways: %s", width, wide)
		}
		if width == 360 {
			continue // to axe, phones are one
		}
		for theme, dark := range themes {
			p.Emulate(width, 900, dark)
			for _, violation := range p.Axe(v.foreign) {
				found[violation.String()] = append(found[violation.String()], fmt.Sprintf("%d px %s", width, theme))
			}
		}
	}
	for violation, where := range found {
		t.Errorf("%s: %s", strings.Join(where, ", "), violation)
	}
}

var themes = map[string]bool{"light": false, "dark": true}

// "screenshots of every page at 1440 and 390 px"
func (v view) photograph(t *testing.T, p *browsertest.Page) {
	for _, width := range []int{390, 1440} {
		for theme, dark := range themes {
			p.Emulate(width, 900, dark)
			p.Open(v.path)
			p.Screenshot(filepath.Join(*screenshots, fmt.Sprintf("%s-%d-%s.png", v.name, width, theme)))
		}
	}
}
