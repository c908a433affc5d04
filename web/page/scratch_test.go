package page_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"example.com/loyalty/web/page"
)

// "Exports on disk (`excelize-*` left by a kill) are removed at start and hourly", and those
// of processes that run are not.
func TestFilesOfKilledProcessesAreRemoved(t *testing.T) {
	t.Parallel()
	ended := exec.Command("true") // a process that is gone
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	dirOf := func(process int) string { return filepath.Join(root, "loyalty-exports-"+strconv.Itoa(process)+"-1234") }
	left := func(dir, name string, age time.Duration) string {
		t.Helper()
		file := filepath.Join(dir, name)
		at := time.Now().Add(-age)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("customers"), 0o600), os.Chtimes(file, at, at)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	is := func(when, file string, want bool) {
		t.Helper()
		_, err := os.Stat(file)
		if exists := !errors.Is(err, fs.ErrNotExist); exists != want {
			t.Errorf("%s: %s exists: %t, want %t", when, file, exists, want)
		}
	}
	killed, running := left(dirOf(ended.Process.Pid), "excelize-1", 0), left(dirOf(os.Getppid()), "excelize-2", 0)
	sameID := left(dirOf(os.Getpid()), "excelize-3", 0) // of an earlier process in this container
	s, err := page.OpenScratch(root)
	if err != nil {
		t.Fatal(err)
	}
	is("at start, of a killed process", killed, false)
	is("at start, of one with this id", sameID, false)
	is("at start, of one that runs", running, true)

	killed = left(dirOf(ended.Process.Pid), "excelize-1", 0)
	dirs, err := filepath.Glob(filepath.Join(root, "loyalty-exports-"+strconv.Itoa(os.Getpid())+"-*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("this process has %q, %v", dirs, err)
	}
	old, young := left(dirs[0], "excelize-4", 2*time.Hour), left(dirs[0], "excelize-5", time.Minute)
	if err := s.RemoveLeftovers(time.Now()); err != nil {
		t.Fatal(err)
	}
	is("hourly, of a killed process", killed, false)
	is("hourly, two hours old", old, false)
	is("hourly, a minute old", young, true)
	is("hourly, of one that runs", running, true)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	is("at the end", young, false)
}

// A workbook leaves no file, whether it was sent or broken off; and one that is being made
// has no name on disk but that of the library.
func TestAWorkbookLeavesNoFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s, err := page.OpenScratch(root)
	if err != nil {
		t.Fatal(err)
	}
	files := func() (names []string) {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, _ error) error {
			if !d.IsDir() {
				names = append(names, filepath.Base(path))
			}
			return nil
		})
		return names
	}
	var during []string
	many := func(row func(...any) error) error {
		for i := range 200_000 { // more than the library holds in memory
			if err := row("Anna Ek, Kungsgatan 12, Stockholm, who comes every morning", int64(i), time.Time{}); err != nil {
				return err
			}
		}
		during = files()
		return nil
	}
	if got := workbookIn(t, s, 1<<20, many); got.status != 200 || got.err != nil || len(got.body) == 0 {
		t.Errorf("%d %v, %d bytes", got.status, got.err, len(got.body))
	}
	if len(during) != 1 || slices.Contains(during, "") {
		t.Errorf("while it was made: %v, want the library's file alone, here", during)
	}
	if got := workbookIn(t, s, 1<<20, func(row func(...any) error) error { return errors.Join(many(row), errors.New("broken")) }); got.status != 500 {
		t.Errorf("one that fails: %d", got.status)
	}
	if left := files(); len(left) != 0 {
		t.Errorf("left on disk: %v", left)
	}
}
