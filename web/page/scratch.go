package page

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Scratch is the directory of this process for files that are being put together. A file is
// removed when its download ends; those of a process that was killed are removed by the next
// one that starts, and once an hour.
type Scratch struct {
	root string
	own  string
}

// scratchName begins the name of the directory; the id of its process and a random text follow:
// another user of the machine can't have made it before.
const scratchName = "loyalty-exports-"

// scratchAge is how old a file is that a download has left behind: none takes so long.
const scratchAge = time.Hour

// OpenScratch makes the directory in root, the system's for temporary files, and removes
// those of processes that are gone.
func OpenScratch(root string) (*Scratch, error) {
	own, err := os.MkdirTemp(root, scratchName+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, fmt.Errorf("no place for the temporary files of exports: %w; TMPDIR names another directory", err)
	}
	s := &Scratch{root: root, own: own}
	return s, s.sweep()
}

// file makes a file that is gone as soon as it is closed, however the process ends.
func (s *Scratch) file() (*os.File, error) {
	dir := s.dir()
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil { // whoever cleans /tmp may have removed it
			return nil, err
		}
	}
	f, err := os.CreateTemp(dir, "file-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

// dir is where temporary files are made; "": where the system's are.
func (s *Scratch) dir() string {
	if s == nil {
		return ""
	}
	return s.own
}

// RemoveLeftovers removes files that downloads have left behind, and what is left of processes that
// are gone.
func (s *Scratch) RemoveLeftovers(now time.Time) error {
	files, err := os.ReadDir(s.own)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range files {
		info, err := f.Info()
		if err == nil && now.Sub(info.ModTime()) > scratchAge {
			err = os.Remove(filepath.Join(s.own, f.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return s.sweep()
}

// sweep removes the directories of processes that are gone.
func (s *Scratch) sweep() error {
	dirs, err := filepath.Glob(filepath.Join(s.root, scratchName+"*"))
	if err != nil {
		return fmt.Errorf("temporary files of exports: %w", err)
	}
	var failed error
	for _, dir := range dirs {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), scratchName), "-")
		id, err := strconv.Atoi(number)
		// One with this process's id is of an earlier process: in a container, all have the same.
		if err != nil || dir == s.own || id != os.Getpid() && isRunning(id) {
			continue
		}
		// Another user's is theirs to remove.
		if err := os.RemoveAll(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// isRunning reports whether there is a process with that id.
func isRunning(id int) bool {
	err := syscall.Kill(id, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// Close removes the directory.
func (s *Scratch) Close() error { return os.RemoveAll(s.own) }
