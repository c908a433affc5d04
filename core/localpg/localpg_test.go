package localpg_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/localpg"
)

// With this variable, the test binary is another process of the product: it starts or joins the cluster of
// that data directory, prints which, and stops when its input ends.
const processVariable = "LOCALPG_TEST_PROCESS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(processVariable); dir != "" {
		os.Exit(beAProcess(dir))
	}
	os.Exit(m.Run())
}

func beAProcess(dir string) int {
	ctx := context.Background()
	c, err := localpg.Start(ctx, dir, slog.Default())
	if err != nil {
		fmt.Println(err)
		return 1
	}
	role := "joined"
	if runs(c) {
		role = "runs"
	}
	fmt.Println(role)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	if err := c.Stop(ctx); err != nil {
		return 1
	}
	return 0
}

// process is another process of the product in the same data directory.
type process struct {
	cmd   *exec.Cmd
	input io.Closer
	role  string
}

func anotherProcess(t *testing.T, dir string) process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), processVariable+"="+dir)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	role, _ := bufio.NewReader(output).ReadString('\n')
	return process{cmd, input, strings.TrimSpace(role)}
}

func (p process) leave(t *testing.T) {
	t.Helper()
	if err := errors.Join(p.input.Close(), p.cmd.Wait()); err != nil {
		t.Errorf("the other process: %v", err)
	}
}

func (p process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// dataDir makes a directory that PostgreSQL's user can reach, unlike t.TempDir.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(localpg.LargeTempDir(), "loyalty-data-") //nolint:usetesting // t.TempDir is closed to others
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

func start(t *testing.T, dir string) *localpg.Cluster {
	t.Helper()
	c, err := localpg.Start(t.Context(), dir, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, c) })
	return c
}

func stop(t *testing.T, c *localpg.Cluster) {
	t.Helper()
	if err := c.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func ask(ctx context.Context, url, question string) (answer string, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	return answer, conn.QueryRow(ctx, question).Scan(&answer)
}

func mustAsk(t *testing.T, url, question string) string {
	t.Helper()
	answer, err := ask(t.Context(), url, question)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func mustDo(t *testing.T, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, statement := range statements {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func writeNote(t *testing.T, c *localpg.Cluster) {
	t.Helper()
	mustDo(t, c.URL(), "create table note as select 'kept' as text")
}

func answers(t *testing.T, c *localpg.Cluster) bool {
	t.Helper()
	_, err := ask(t.Context(), c.URL(), "select current_user")
	return err == nil
}

func readNote(t *testing.T, c *localpg.Cluster) string {
	t.Helper()
	return mustAsk(t, c.URL(), "select text from note")
}

// runs reports whether this process runs the server.
func runs(c *localpg.Cluster) bool {
	text, err := os.ReadFile(filepath.Join(c.Dir(), "data", "postmaster.pid"))
	if err != nil {
		return false
	}
	pid, _, _ := strings.Cut(string(text), "\n")
	return parentOf(pid) == strconv.Itoa(os.Getpid())
}

// parentOf returns the process that started another one. Minimal images of Linux have no ps, and other systems no /proc.
func parentOf(pid string) string {
	if runtime.GOOS != "linux" {
		parent, _ := exec.Command("ps", "-o", "ppid=", "-p", pid).Output()
		return strings.TrimSpace(string(parent))
	}
	status, _ := os.ReadFile("/proc/" + pid + "/status")
	for line := range strings.Lines(string(status)) {
		if parent, found := strings.CutPrefix(line, "PPid:"); found {
			return strings.TrimSpace(parent)
		}
	}
	return ""
}

func postmaster(t *testing.T, c *localpg.Cluster) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Dir(), "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.SplitN(string(text), "\n", 2)[0])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func alive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 1000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("still not so after ten seconds: %s", what)
}

func TestSecondStartKeepsData(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := start(t, dir)
	writeNote(t, first)
	pid := postmaster(t, first)
	stop(t, first)
	if alive(pid) {
		t.Errorf("the server survived Stop")
	}

	second := start(t, dir)
	if got := readNote(t, second); got != "kept" {
		t.Errorf("note = %q, want kept", got)
	}
	if got, want := second.Dir(), filepath.Join(dir, "postgres"); got != want {
		t.Errorf("cluster in %s, want %s", got, want)
	}
}

func TestOwnerIsNoSuperuser(t *testing.T) {
	t.Parallel()
	c := start(t, dataDir(t))

	const mayQuestion = `
		select concat_ws(' ', current_user,
			case when rolsuper then 'superuser' end,
			case when rolcreaterole then 'createrole' end,
			case when rolcreatedb then 'createdb' end,
			case when rolbypassrls then 'bypassrls' end)
		from pg_roles
		where rolname = current_user`
	if got, want := mustAsk(t, c.URL(), mayQuestion), "loyalty createrole"; got != want {
		t.Errorf("owner = %q, want %q", got, want)
	}
	const databaseQuestion = `
		select concat_ws(' ', pg_get_userbyid(datdba), pg_encoding_to_char(encoding), datcollate, lower('Å'), current_setting('data_checksums'))
		from pg_database
		where datname = current_database()`
	if got, want := mustAsk(t, c.URL(), databaseQuestion), "loyalty UTF8 C.UTF-8 å on"; got != want {
		t.Errorf("database = %q, want %q", got, want)
	}
}

func TestHalfMadeClusterIsFinished(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := start(t, dir)
	stop(t, first)
	// The first start was interrupted before it renamed what it had created.
	if err := os.Rename(filepath.Join(first.Dir(), "data"), filepath.Join(first.Dir(), "data.new")); err != nil {
		t.Fatal(err)
	}

	if got := mustAsk(t, start(t, dir).URL(), "select current_user"); got != "loyalty" {
		t.Errorf("current_user = %q, want loyalty", got)
	}
}

func TestKilledServerComesBack(t *testing.T) {
	t.Parallel()
	c := start(t, dataDir(t))
	writeNote(t, c)
	pid := postmaster(t, c)

	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is back", func() bool {
		note, err := ask(t.Context(), c.URL(), "select text from note")
		return err == nil && note == "kept"
	})
	if now := postmaster(t, c); now == pid {
		t.Errorf("postmaster is %d as before", now)
	}
}

func TestConcurrentFirstStarts(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	const n = 4
	clusters := make(chan *localpg.Cluster, n)
	for range n {
		go func() {
			c, err := localpg.Start(t.Context(), dir, slog.Default())
			if err != nil {
				t.Error(err)
			}
			clusters <- c
		}()
	}
	servers := map[int]bool{}
	for range n {
		if c := <-clusters; c != nil {
			servers[postmaster(t, c)] = true
			defer stop(t, c)
		}
	}
	if len(servers) != 1 {
		t.Errorf("%d servers run, want 1", len(servers))
	}
}

func TestAnotherProcessTakesOverTheServer(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	other := anotherProcess(t, dir)
	if other.role != "runs" {
		t.Fatalf("the other process: %s", other.role)
	}
	c := start(t, dir)
	if runs(c) {
		t.Fatal("two processes run one cluster")
	}
	writeNote(t, c)
	pid := postmaster(t, c)

	third := anotherProcess(t, dir)
	if third.role != "joined" {
		t.Errorf("the third process: %s", third.role)
	}
	third.leave(t)
	if got := readNote(t, c); got != "kept" || postmaster(t, c) != pid {
		t.Errorf("a joined process took the server with it")
	}

	other.leave(t)
	eventually(t, "the joined process runs the server", func() bool { return runs(c) && answers(t, c) })
	if got := readNote(t, c); got != "kept" {
		t.Errorf("note = %q, want kept", got)
	}
}

func TestKilledParentLeavesNoServer(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	other := anotherProcess(t, dir)
	c := start(t, dir)
	pid := postmaster(t, c)
	stop(t, c)

	other.kill()
	eventually(t, "the server is gone", func() bool { return !alive(pid) })
}

func TestStartAfterEverythingWasKilled(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	other := anotherProcess(t, dir)
	c := start(t, dir)
	writeNote(t, c)
	pid := postmaster(t, c)
	stop(t, c)

	// A stopped server doesn't get the signal of its parent's death.
	for _, send := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		if send == syscall.SIGKILL {
			other.kill()
		}
		if err := syscall.Kill(pid, send); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the server is gone", func() bool { return !alive(pid) })

	// After a reboot the number may be another process's, here one of the same user.
	innocent := exec.CommandContext(t.Context(), "sleep", "60")
	if info, err := os.Stat(c.Dir()); err == nil && os.Geteuid() == 0 {
		innocent.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: info.Sys().(*syscall.Stat_t).Uid}}
	}
	if err := innocent.Start(); err != nil {
		t.Fatal(err)
	}
	pidFile := filepath.Join(c.Dir(), "data", "postmaster.pid")
	stale, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal("the killed server left no postmaster.pid")
	}
	_, rest, _ := strings.Cut(string(stale), "\n")
	if err := os.WriteFile(pidFile, []byte(strconv.Itoa(innocent.Process.Pid)+"\n"+rest), 0o600); err != nil {
		t.Fatal(err)
	}

	if got := readNote(t, start(t, dir)); got != "kept" {
		t.Errorf("note = %q, want kept", got)
	}
	if !alive(innocent.Process.Pid) {
		t.Error("the innocent process was ended")
	}
}

func TestFailedStartShowsTheLog(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	first := start(t, dir)
	stop(t, first)
	if err := os.WriteFile(filepath.Join(first.Dir(), "data", "postgresql.auto.conf"), []byte("work_mem = 'a lot'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := localpg.Start(t.Context(), dir, slog.Default())
	if err == nil {
		stop(t, c)
		t.Fatal("started with nonsense settings")
	}
	if want := `invalid value for parameter "work_mem"`; !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want it to contain %q", err, want)
	}
}

func TestGivenUpStartLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := localpg.Start(ctx, dir, slog.Default()); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Start = %v, want the deadline", err)
	}
	if c := start(t, dir); !runs(c) {
		t.Error("another server runs")
	}
}

func TestUnreachableDataDirectory(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root's directories are closed to PostgreSQL's user")
	}
	dir := filepath.Join(t.TempDir(), "data") // below a directory of mode 0700
	c := start(t, dir)
	t.Cleanup(func() { stop(t, c); _ = os.RemoveAll(c.Dir()) })
	if !strings.HasPrefix(c.Dir(), "/var/tmp/loyalty-") {
		t.Fatalf("cluster in %s, want it under /var/tmp", c.Dir())
	}
	writeNote(t, c)
	stop(t, c)

	if err := os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := readNote(t, start(t, dir)); got != "kept" {
		t.Errorf("note = %q, want kept, though the directory is now within reach", got)
	}
}

func TestForeignDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]func(cluster string) error{
		"open to others": func(cluster string) error {
			return errors.Join(os.Mkdir(cluster, 0o755), os.Chmod(cluster, 0o755))
		},
		"a link": func(cluster string) error {
			return errors.Join(os.Mkdir(cluster+".real", 0o700), os.Symlink(cluster+".real", cluster))
		},
	}
	if os.Geteuid() == 0 {
		tests["another user's"] = func(cluster string) error {
			return errors.Join(os.Mkdir(cluster, 0o700), os.Chown(cluster, 12345, 12345))
		}
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := dataDir(t)
			if err := prepare(filepath.Join(dir, "postgres")); err != nil {
				t.Fatal(err)
			}
			c, err := localpg.Start(t.Context(), dir, slog.Default())
			if err == nil {
				stop(t, c)
				t.Fatal("the cluster moved in")
			}
			if want := "must be a directory of mode 0700 that belongs to PostgreSQL's user"; !strings.Contains(err.Error(), want) {
				t.Errorf("error = %v, want it to contain %q", err, want)
			}
		})
	}
}

func TestLongPathGetsAShortSocketDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(dataDir(t), "a name, long and with spaces", strings.Repeat("x", 80))
	c := start(t, dir)
	if got := mustAsk(t, c.URL(), "select current_user"); got != "loyalty" {
		t.Errorf("current_user = %q, want loyalty", got)
	}
	u, err := url.Parse(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	sockets := u.Query().Get("host")
	t.Cleanup(func() { stop(t, c); _ = os.RemoveAll(sockets) })
	info, err := os.Lstat(sockets)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("socket directory is %s, want 0700", info.Mode())
	}
}

func TestThrowawayIsRemoved(t *testing.T) {
	t.Parallel()
	c, err := localpg.Throwaway(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustDo(t, strings.Replace(c.URL(), "/loyalty?", "/postgres?", 1),
		"create role extra",
		"create database clone template loyalty strategy file_copy")
	stop(t, c)
	if _, err := os.Lstat(c.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", c.Dir(), err)
	}
}
