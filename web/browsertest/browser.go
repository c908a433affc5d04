// Package browsertest drives the system's Chromium through pages as people go through
// them: open, fill in, click, read.
//
// Its surprising rule: what goes wrong in a page unnoticed (an error in the console, a
// breach of the security policy, a request that fails) fails the test at its end. Every
// step waits until what it needs is there, and then until the page has come to rest;
// none sleeps.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
)

// Browser is a running Chromium with a new profile. Any number of pages may be open at
// once, in tests that run in parallel.
type Browser struct{ ctx context.Context }

// Start starts the browser, which ends with the test. Where there is none, the test is
// skipped.
func Start(t *testing.T) *Browser {
	t.Helper()
	return start(t)
}

// StartWithCamera starts a browser whose camera sees a video: a file of uncompressed frames
// (.y4m), read whenever the camera is opened. Pages get the camera without asking.
func StartWithCamera(t *testing.T, video string) *Browser {
	t.Helper()
	return start(t,
		chromedp.Flag("use-fake-device-for-media-stream", true),
		chromedp.Flag("use-fake-ui-for-media-stream", true),
		chromedp.Flag("use-file-for-fake-video-capture", video),
	)
}

func start(t *testing.T, more ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	program := find()
	if program == "" {
		t.Skip("no Chromium on this machine: `make test` installs it where it may; else install chromium")
	}
	tmp, err := os.MkdirTemp("", "browser-") //nolint:usetesting // the name of a socket in t.TempDir would be too long
	if err != nil {
		t.Fatal(err)
	}
	// The test's own context ends before its clean-up, which still needs the browser.
	ctx, free := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), append(options(program, tmp), more...)...)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		end()
		free() // waits until every process is gone, and the profile with them
		_ = os.RemoveAll(tmp)
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	return &Browser{ctx}
}

// find is the browser's program, or "".
func find() string {
	for _, name := range []string{
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
		"/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	return ""
}

// options are chromedp's, and what a machine without a network or a screen needs besides.
// Names lead to this machine or nowhere: a page that asks somebody else for anything fails.
func options(program, tmp string) []chromedp.ExecAllocatorOption {
	all := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.Env("TMPDIR="+tmp), // where it leaves things when it ends
		chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("font-render-hinting", "none"),
		chromedp.Flag("host-resolver-rules", "MAP localhost 127.0.0.1, MAP *.localhost 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		chromedp.IgnoreCertErrors, // the authority of an installation under test is minutes old; other tests check it
	)
	if os.Geteuid() == 0 {
		all = append(all, chromedp.NoSandbox) // the sandbox refuses root
	}
	return all
}
