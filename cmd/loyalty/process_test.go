package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/loyalty/core/dbtest"
)

// These tests run the product as whole processes: started again with this variable,
// the test binary is the product.
const beTheProduct = "BE_THE_PRODUCT"

func TestMain(m *testing.M) {
	if os.Getenv(beTheProduct) != "" {
		endWithTheTests()
		limitClock = clockAhead(os.Getenv(limitClockFile))
		main()
	}
	dbtest.Main(m)
}

// limitClockFile names the file with the time by which the clock of the rate limits is ahead.
const limitClockFile = "LIMIT_CLOCK_FILE"

func clockAhead(file string) func() time.Time {
	return func() time.Time {
		text, _ := os.ReadFile(file) // missing until a test moves the clock
		ahead, _ := time.ParseDuration(string(text))
		return time.Now().Add(ahead)
	}
}

// lifeline is a pipe from the tests: they hold its other end, and the system lets
// go of it however they end.
const lifeline = 3

func endWithTheTests() {
	syscall.CloseOnExec(lifeline)
	pipe := os.NewFile(lifeline, "lifeline")
	go func() {
		_, _ = io.Copy(io.Discard, pipe)
		os.Exit(3)
	}()
}

// patience is how long anything is waited for: only a fault takes so long.
const patience = 2 * time.Minute

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// installation is a place where the product runs: a data directory, a port and settings.
type installation struct {
	t       *testing.T
	top     string // holds the data directory and whatever else a test writes
	data    string // does not exist before the first start
	addr    string
	base    string
	program string
	env     []string
	as      *syscall.Credential // nil: ourselves
	hidden  []string            // secrets that no log may hold
}

// newInstallation makes one with a private database.
func newInstallation(t *testing.T, settings ...string) *installation {
	t.Helper()
	top := openDir(t)
	port := strconv.Itoa(freePort(t))
	in := &installation{
		t: t, top: top, data: filepath.Join(top, "data"), program: os.Args[0],
		addr: "127.0.0.1:" + port, base: "https://localhost:" + port,
	}
	in.env = append([]string{
		beTheProduct + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + top, "TMPDIR=" + os.TempDir(),
		"GORACE=atexit_sleep_ms=0",
		"LOYALTY_DATA_DIR=" + in.data, "LOYALTY_ADDR=" + in.addr, "LOYALTY_BASE_URL=" + in.base,
		"LOYALTY_METRICS_ADDR=off", limitClockFile + "=" + filepath.Join(top, "limit-clock"),
	}, settings...)
	t.Cleanup(func() { // once its processes have ended
		for _, pid := range in.postgres() {
			t.Errorf("PostgreSQL's process %s is left behind", pid)
			if number, err := strconv.Atoi(pid); err == nil {
				_ = syscall.Kill(number, syscall.SIGKILL)
			}
		}
	})
	return in
}

// moveLimitClock moves the clock of the rate limits forward.
func (in *installation) moveLimitClock(t *testing.T, ahead time.Duration) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(in.top, "limit-clock"), []byte(ahead.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

const (
	databasePassword = "correct-horse-of-the-database"
	testSecret       = "0123456789abcdef0123456789abcdef-test"
)

// newInstallationOn makes one with the database at url. Its password, which the test
// cluster does not ask for, must not turn up anywhere.
func newInstallationOn(t *testing.T, url string, settings ...string) *installation {
	t.Helper()
	in := newInstallation(t, append([]string{"DATABASE_URL=" + withPassword(url), "LOYALTY_SECRET=" + testSecret}, settings...)...)
	in.hidden = append(in.hidden, databasePassword, testSecret)
	return in
}

func withPassword(url string) string {
	login, rest, _ := strings.Cut(url, "@")
	return login + ":" + databasePassword + "@" + rest
}

// openDir is a directory that PostgreSQL's user can enter, unlike that of t.TempDir.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "loyalty-e2e-") //nolint:usetesting // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

var taken sync.Map // ports that tests of this process have

// freePort finds one below those that the system gives to outgoing connections.
func freePort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		n, err := rand.Int(rand.Reader, big.NewInt(12_000))
		if err != nil {
			t.Fatal(err)
		}
		port := 20_000 + int(n.Int64())
		if _, others := taken.LoadOrStore(port, true); others {
			continue
		}
		l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// copyTo copies the data of an installation that does not run into another one.
func (in *installation) copyTo(t *testing.T, settings ...string) *installation {
	t.Helper()
	other := newInstallation(t, settings...)
	other.hidden = slices.Clone(in.hidden)
	if out, err := exec.Command("cp", "-a", in.data, other.data).CombinedOutput(); err != nil {
		t.Fatalf("copy the data: %v\n%s", err, out)
	}
	return other
}

// with returns the same place with other settings.
func (in *installation) with(settings ...string) *installation {
	other := *in
	other.env = append(slices.Clone(in.env), settings...)
	return &other
}

// output is what a process wrote so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// line is the first line that has the text, or "".
func (o *output) line(text string) string {
	for line := range strings.Lines(o.String()) {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

func (o *output) has(text string) bool { return strings.Contains(o.String(), text) }

// process is the product running a command.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	began  time.Time
	out    output // standard output
	log    output // standard error
	exited chan struct{}
}

// start runs a command. Whatever comes, the process ends with the test, and its log
// is looked through.
func (in *installation) start(stdin string, args ...string) *process {
	in.t.Helper()
	alive, hold, err := os.Pipe()
	if err != nil {
		in.t.Fatal(err)
	}
	p := &process{t: in.t, cmd: exec.Command(in.program, args...), began: time.Now(), exited: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdin = in.top, in.env, strings.NewReader(stdin)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.log
	p.cmd.ExtraFiles = []*os.File{alive}
	// A group of its own, as in a shell: Ctrl-C goes to all of it.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: in.as}
	if err := p.cmd.Start(); err != nil {
		in.t.Fatal(err)
	}
	_ = alive.Close()
	go func() {
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	in.t.Cleanup(func() {
		p.end()
		_ = hold.Close()
		p.lookThrough(in.hidden)
	})
	return p
}

// end ends the process if the test has not.
func (p *process) end() {
	if p.hasExited() {
		return
	}
	p.signal(syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(patience / 4):
		p.t.Error("the process had to be killed")
		p.signal(syscall.SIGKILL)
		<-p.exited
	}
}

// lookThrough checks what no log may hold.
func (p *process) lookThrough(hidden []string) {
	text := p.log.String()
	for _, bad := range append([]string{"DATA RACE", "panic", "goroutine ", "Bearer", "Authorization"}, hidden...) {
		if strings.Contains(text, bad) {
			p.t.Errorf("the log of %v has %q", p.cmd.Args[1:], bad)
		}
	}
	if p.t.Failed() {
		lines := slices.Collect(strings.Lines(text))
		end := max(0, len(lines)-40)
		troubles := slices.DeleteFunc(lines[:end:end], func(line string) bool {
			return !strings.Contains(line, "level=WARN") && !strings.Contains(line, "level=ERROR") && !strings.Contains(line, "status=5")
		})
		p.t.Logf("%v: %v; the troubles in its log:\n%sits end:\n%s", p.cmd.Args[1:], p.cmd.ProcessState, strings.Join(troubles, ""), strings.Join(lines[end:], ""))
	}
}

// signal is sent to the whole group, as a terminal does.
func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// exit waits for the process to end by itself and returns its code, -1 for a signal.
func (p *process) exit() int {
	p.t.Helper()
	await(p.t, fmt.Sprintf("%v ends", p.cmd.Args[1:]), p.hasExited)
	return p.cmd.ProcessState.ExitCode()
}

// run runs a command to its end.
func (in *installation) run(args ...string) *process {
	in.t.Helper()
	p := in.start("", args...)
	p.exit()
	return p
}

// succeed runs a command that must succeed, and returns what it printed.
func (in *installation) succeed(args ...string) string {
	in.t.Helper()
	p := in.run(args...)
	if p.exit() != 0 {
		in.t.Fatalf("%v: %v\n%s%s", args, p.cmd.ProcessState, p.out.String(), p.log.String())
	}
	return p.out.String()
}

// says checks that a command was refused with code 1, for these reasons, and without
// the machinery's own words.
func (p *process) says(t *testing.T, reasons ...string) {
	t.Helper()
	if code := p.exit(); code != 1 {
		t.Errorf("%v: exit %d, want 1", p.cmd.Args[1:], code)
	}
	for _, reason := range reasons {
		if !p.log.has(reason) {
			t.Errorf("%v says %q, which lacks %q", p.cmd.Args[1:], p.log.String(), reason)
		}
	}
}

// cluster is where the private database of an installation lies.
func (in *installation) cluster() string { return filepath.Join(in.data, "postgres") }

// postmaster is the process id of the private database.
func (in *installation) postmaster() int {
	in.t.Helper()
	text, err := os.ReadFile(filepath.Join(in.cluster(), "data", "postmaster.pid"))
	if err != nil {
		in.t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		in.t.Fatal(err)
	}
	return pid
}

// postgres lists the processes of the private database: they all stand in its
// directory. Elsewhere than on Linux it only knows whether the socket answers.
func (in *installation) postgres() (pids []string) {
	in.t.Helper()
	if runtime.GOOS != "linux" {
		conn, err := net.Dial("unix", filepath.Join(in.cluster(), ".s.PGSQL.5432"))
		if err != nil {
			return nil
		}
		_ = conn.Close()
		return []string{"user"}
	}
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		in.t.Fatal(err)
	}
	for _, link := range links {
		if dir, err := os.Readlink(link); err == nil && strings.HasPrefix(dir, in.cluster()) {
			pids = append(pids, filepath.Base(filepath.Dir(link)))
		}
	}
	return pids
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}
