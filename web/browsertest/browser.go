// Package browsertest runs tests in the system's Chromium with chromedp. It adds what these
// tests share: a page that carries the test, waits for the page to come to rest after each
// step, accessibility checks with axe, and a check for content wider than the window.
//
// Its surprising rule: errors in the console, violations of the Content-Security-Policy and
// failed requests fail the test at its end, unless the test expects them.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
)

// Browser is a running Chromium with a new profile. Tests that run in parallel can each
// open pages in it.
type Browser struct{ ctx context.Context }

// Start starts the browser, which ends with the test. The test is skipped where no Chromium
// is installed.
func Start(t *testing.T, flags ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	program := ""
	for _, name := range []string{
		"chromium-headless-shell", // takes half the processor time
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
		"/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	} {
		if found, err := exec.LookPath(name); err == nil && program == "" {
			program = found
		}
	}
	if program == "" {
		t.Skip("no Chromium on this machine: `make test` installs it where it may; else install chromium")
	}
	tmp, err := os.MkdirTemp("", "browser-") //nolint:usetesting // the name of a socket in t.TempDir would be too long
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.Env("TMPDIR="+tmp),
		chromedp.DisableGPU,
		chromedp.Flag("js-flags", "--no-opt --no-maglev"), // no page lives long enough to be worth optimizing
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("font-render-hinting", "none"),
		// A page that requests anything from another host must fail.
		chromedp.Flag("host-resolver-rules", "MAP localhost 127.0.0.1, MAP *.localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.IgnoreCertErrors, // other tests check the certificates
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // the sandbox refuses root
	}
	// The test's own context ends before its clean-up, which still needs the browser.
	ctx, free := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), append(options, flags...)...)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		end()
		free() // waits until every process has ended
		_ = os.RemoveAll(tmp)
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	return &Browser{ctx}
}
