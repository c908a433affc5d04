package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"example.com/loyalty/web/browsertest"
)

var screenshots = flag.String("screenshots", "", "write pictures of the pages into this directory instead of testing them")

// view is a page of the product.
type view struct {
	name    string // of its pictures
	path    string
	foreign string // selector of what others draw on it, in ways of their own
}

// views are the pages that people see.
var views = []view{
	{name: "home", path: "/"},
	{name: "reference", path: "/docs", foreign: "#reference"}, // Scalar's buttons lack names, its page has a second <main>
	{name: "retries", path: "/docs/retries"},
	{name: "versioning", path: "/docs/versioning"},
	{name: "changelog", path: "/docs/changelog"},
	{name: "problems", path: "/problems"},
	{name: "problem", path: "/problems/insufficient-points"},
}

// TestBrowser goes through the product in a real browser.
func TestBrowser(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t)
	s := newInstallation(t, "LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0").serve()
	for name, test := range map[string]func(*testing.T, *browsertest.Browser, *server){
		"Pages": testPages,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, b, s)
		})
	}
}

func testPages(t *testing.T, b *browsertest.Browser, s *server) {
	tabs := make(chan *browsertest.Page, runtime.GOMAXPROCS(0))
	for range cap(tabs) {
		tabs <- b.NewPage(t, s.in.base)
	}
	for i, v := range append(append(append(append(append(append(append(append([]view{}, views[2:]...), views...), views[2:]...),views[2:]...), views[2:]...), views[2:]...), views[2:]...), views[2:]...) {
		t.Run(v.name + fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			tab := <-tabs
			t.Cleanup(func() { tabs <- tab })
			p := tab.For(t)
			look := v.examine
			if *screenshots != "" {
				look = v.photograph
			}
			look(t, p)
		})
	}
}

// "axe-core finds no violation on any page in light and dark"; "phone layout down to 360 px".
func (v view) examine(t *testing.T, p *browsertest.Page) {
	t0 := time.Now()
	lap := func(what string) { t.Log(what, time.Since(t0)); t0 = time.Now() }
	p.Emulate(360, 800, false)
	lap("emu")
	p.Open(v.path)
	lap("open")
	for _, width := range []int{360, 390, 1440} {
		p.Emulate(width, 800, false)
		lap("emu")
		for _, wide := range p.Sideways() {
			t.Errorf("at %d px: %s", width, wide)
		}
		lap("side")
		if width == 360 {
			continue
		}
		for _, dark := range []bool{false, true} {
			p.Emulate(width, 800, dark)
			lap("emu")
			for _, violation := range p.Axe(v.foreign) {
				t.Errorf("at %d px, dark %t: %s", width, dark, violation)
			}
			lap("axe")
		}
	}
}

// photograph writes pictures of the page on a desk and on a phone, in light and dark.
func (v view) photograph(t *testing.T, p *browsertest.Page) {
	for _, width := range []int{390, 1440} {
		for theme, dark := range map[string]bool{"light": false, "dark": true} {
			p.Emulate(width, 900, dark)
			p.Open(v.path)
			p.Screenshot(filepath.Join(*screenshots, fmt.Sprintf("%s-%d-%s.png", v.name, width, theme)))
		}
	}
}
