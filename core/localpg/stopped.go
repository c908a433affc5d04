package localpg

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// ErrRuns refuses to delete a cluster whose server runs.
var ErrRuns = errors.New("its database runs")

// Stopped is a cluster on the disk whose server doesn't run. Until Close, no process can start it.
type Stopped struct {
	Dir  string
	lock *os.File
}

// FindStopped returns the cluster of a data directory, or fails with fs.ErrNotExist or, if its server runs, with ErrRuns. A directory that
// isn't the product's own is refused.
func FindStopped(dir string) (*Stopped, error) {
	root, err := Find(dir)
	if err != nil {
		return nil, err
	}
	m, err := inspect()
	if err == nil {
		err = m.checkPrivateDir(root)
	}
	if err != nil {
		return nil, err
	}
	lock, err := tryLock(root)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%w: a process of the product uses %s; stop it first", ErrRuns, root)
	}
	if err != nil {
		return nil, err
	}
	if conn, err := net.Dial("unix", filepath.Join(socketDir(root), socketFile)); err == nil { //nolint:noctx // a socket on this machine
		return nil, errors.Join(fmt.Errorf("%w: PostgreSQL is shutting down in %s; wait a moment", ErrRuns, root), conn.Close(), lock.Close())
	}
	return &Stopped{root, lock}, nil
}

// Close lets processes start the cluster again.
func (s *Stopped) Close() error { return s.lock.Close() }

// Size returns how many bytes the cluster has.
func (s *Stopped) Size() (bytes int64, err error) {
	err = filepath.WalkDir(s.Dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}

// Remove deletes the cluster, and its directory unless there is something else in it.
func (s *Stopped) Remove() error {
	sockets := socketDir(s.Dir)
	err := errors.Join(removeAll(s.Dir, dataDir, draftDir, logFile), removeAll(sockets, socketFile, socketFile+".lock"))
	for _, dir := range []string{sockets, s.Dir} {
		if failed := os.Remove(dir); failed != nil && !errors.Is(failed, fs.ErrNotExist) && !errors.Is(failed, syscall.ENOTEMPTY) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

func removeAll(dir string, names ...string) (err error) {
	for _, name := range names {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
	}
	return err
}
