package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/web/browsertest"
)

// "Import a CSV": from the list to the report, with the page that asks as a dialog and a
// progress that moves on by itself; the same without JavaScript, by links.
func testImport(t *testing.T, c cafe) {
	// One after the other: of two imports at once, one would be told to wait.
	for _, scripts := range []bool{true, false} {
		t.Run(map[bool]string{true: "with scripts", false: "without"}[scripts], func(t *testing.T) {
			p, code := c.page(t), "47"
			examine := func() { c.accessible(t, p) }
			if !scripts {
				p.WithoutJavaScript()
				code, examine = "45", func() {} // axe is a script
			}
			file := filepath.Join(t.TempDir(), "customers.csv")
			content := "Name;Phone;Points\nGudrun Ekeby;+" + code + " 32 12 34 51;120\nHalvar Ekeby;+" + code + " 32 12 34 52;\nNobody;1;many\n"
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			c.signIn(t, p, core.Manager)
			p.Within("main").Click("Import")
			p.Click("Upload")
			p.WaitFor("Choose a file first.")
			p.Attach("File", file)
			p.Click("Upload")
			p.WaitFor("What do the columns hold?")
			examine()
			p.Fill("Column C holds", "Leave out")
			p.Click("Check all rows")
			c.patient(t, p, "2 customers to add")
			p.WaitFor("The phone field must be a valid phone number.")
			examine()

			p.Click("Change columns")
			p.Fill("Column C holds", "Points")
			p.Click("Check all rows")
			c.patient(t, p, "The points field must be a whole number")

			p.Click("Import 2 customers")
			p.WaitFor("An import can be stopped")
			p.Within("#dialog[open], .form-card").Click("Import")
			c.patient(t, p, "2 customers added")
			examine()
			p.Click("See the customers")
			p.WaitFor("Gudrun Ekeby")
		})
	}
}

// patient waits until a job is done: by itself, or by refreshing the page.
func (c cafe) patient(t *testing.T, p *browsertest.Page, text string) {
	t.Helper()
	for range 60 {
		if strings.Contains(p.Text("main"), text) {
			return
		}
		if strings.Contains(p.Text("main"), "Refresh") {
			p.Click("Refresh")
		} else {
			p.WaitFor(text)
		}
	}
	t.Fatalf("“%s” is not shown", text)
}

// accessible says what axe-core finds on the page, which no address leads to.
func (c cafe) accessible(t *testing.T, p *browsertest.Page) {
	t.Helper()
	for _, width := range []int{360, 1440} {
		for theme, dark := range themes {
			p.Emulate(width, 900, dark)
			for _, violation := range p.Axe() {
				t.Errorf("%d px %s: %s", width, theme, violation)
			}
		}
		for _, wide := range p.Sideways() {
			t.Errorf("at %d px it scrolls sideways: %s", width, wide)
		}
	}
}
