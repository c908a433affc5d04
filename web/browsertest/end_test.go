package browsertest_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/loyalty/web/browsertest"
)

// ending makes TestEnding, in a process of its own, end in a certain way.
const ending = "BROWSERTEST_ENDING"

// TestEnding is run by the tests below.
func TestEnding(t *testing.T) {
	if os.Getenv(ending) == "" {
		t.Skip("only the tests of this file run it")
	}
	p := browsertest.Start(t).NewPage(t, serve(t))
	p.Open("/faults")
	switch os.Getenv(ending) {
	case "panic":
		panic("on purpose")
	case "exit":
		os.Exit(3)
	case "kill":
		_, _ = os.Stdout.WriteString("open\n")
		select {}
	}
}

// end runs TestEnding in a process of its own, with a directory for temporary files.
func end(t *testing.T, how string) (cmd *exec.Cmd, tmp string) {
	t.Helper()
	tmp, err := os.MkdirTemp("", "end-") //nolint:usetesting // the name of a socket in t.TempDir would be too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	cmd = exec.Command(os.Args[0], "-test.run=^TestEnding$")
	cmd.Env = append(os.Environ(), ending+"="+how, "TMPDIR="+tmp)
	return cmd, tmp
}

// "any console error, CSP violation or failed request fails the test at its end", unless
// the test has asked for it.
func testFaultsFailTheTest(t *testing.T) {
	cmd, _ := end(t, "quietly")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("a test with faults passed")
	}
	for _, want := range []string{"in the browser: console: a complaint of 1 script", "missing.png: 404", "in the browser: security: "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

// Whichever way a test ends, its browser ends with it.
func testNothingIsLeftBehind(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the processes of others are listed in /proc")
	}
	for _, how := range []string{"quietly", "panic", "exit", "kill"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			cmd, tmp := end(t, how)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			if how == "kill" {
				lines.Scan()
				if len(processes(t, tmp)) < 3 {
					t.Errorf("of the browser only %d processes are seen", len(processes(t, tmp)))
				}
				_ = cmd.Process.Signal(syscall.SIGKILL)
			}
			for lines.Scan() { // until its end
			}
			_ = cmd.Wait()
			for enough := time.Now().Add(30 * time.Second); len(processes(t, tmp)) > 0; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(enough) {
					t.Fatalf("left behind: %q", processes(t, tmp))
				}
			}
			left, err := filepath.Glob(filepath.Join(tmp, "*"))
			if err != nil {
				t.Fatal(err)
			}
			if clean := how == "quietly" || how == "panic"; clean && len(left) > 0 {
				t.Errorf("files are left behind: %q", left)
			}
		})
	}
}

// processes are those, apart from us, that were started with a directory for temporary files.
func processes(t *testing.T, tmp string) (commands []string) {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		environment, _ := os.ReadFile(filepath.Join(dir, "environ"))
		if strings.Contains(string(command)+string(environment), tmp) {
			commands = append(commands, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return commands
}
