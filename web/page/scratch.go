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

// Scratch is the directory of this process for the temporary files of exports. A file is removed
// when its download ends. Files of a killed process are removed when the next one starts, and once
// an hour.
type Scratch struct {
	root string
	own  string
}

// scratchName is the prefix of the directory's name. The process id and a random text follow, so
// that another user of the machine can't have created it before.
const scratchName = "loyalty-exports-"

// scratchAge is the age from which a file is a leftover: no download takes that long.
const scratchAge = time.Hour

// OpenScratch creates the directory in root and removes those of processes that have ended.
func OpenScratch(root string) (*Scratch, error) {
	own, err := os.MkdirTemp(root, scratchName+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, fmt.Errorf("create a directory for exports (TMPDIR names another place): %w", err)
	}
	s := &Scratch{root: root, own: own}
	return s, s.sweep()
}

// file creates a file that has no name, so it is gone when it is closed or the process ends.
func (s *Scratch) file() (*os.File, error) {
	dir := s.dir()
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil { // a cleaner of /tmp may have removed it
			return nil, err
		}
	}
	f, err := os.CreateTemp(dir, "file-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

// dir is the directory for temporary files; "" is the system's.
func (s *Scratch) dir() string {
	if s == nil {
		return ""
	}
	return s.own
}

// RemoveLeftovers removes old files, and the directories of processes that have ended.
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

// sweep removes the directories of processes that have ended.
func (s *Scratch) sweep() error {
	dirs, err := filepath.Glob(filepath.Join(s.root, scratchName+"*"))
	if err != nil {
		return fmt.Errorf("temporary files of exports: %w", err)
	}
	var failed error
	for _, dir := range dirs {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), scratchName), "-")
		id, err := strconv.Atoi(number)
		// A directory with this process's id is of an earlier process: in a container, all have the same id.
		if err != nil || dir == s.own || id != os.Getpid() && isRunning(id) {
			continue
		}
		// Another user's directory is theirs to remove.
		if err := os.RemoveAll(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// isRunning reports whether a process with that id exists.
func isRunning(id int) bool {
	err := syscall.Kill(id, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// Close removes the directory.
func (s *Scratch) Close() error { return os.RemoveAll(s.own) }
