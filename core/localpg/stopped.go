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
	Dir     string
	sockets string // where the socket is
	lock    *os.File
}

// FindStopped returns the clusters of a data directory, which may be missing: the one in it, and the one elsewhere. It creates nothing. A
// directory that isn't the product's own is refused, and a running server is ErrRuns.
func FindStopped(dir string) (found []Stopped, err error) {
	m, err := runAs()
	if err != nil {
		return nil, err
	}
	if dir, err = resolve(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			CloseAll(found)
			found = nil
		}
	}()
	near, far := clusterDirs(dir)
	for _, root := range []string{near, far} {
		if !exists(root) || root == near && !isCluster(root) {
			continue
		}
		if err := m.checkPrivateDir(root); err != nil {
			return found, err
		}
		s, err := stopped(root)
		if err != nil {
			return found, err
		}
		found = append(found, s)
	}
	return found, nil
}

// CloseAll closes clusters that were found.
func CloseAll(found []Stopped) {
	for _, s := range found {
		_ = s.lock.Close() // it was only read
	}
}

// isCluster reports whether a directory has what launch or initialise leave in it: one named postgres may be a person's own.
func isCluster(root string) bool {
	info, err := os.Lstat(root)
	return err == nil && info.IsDir() && (exists(filepath.Join(root, logFile)) || exists(filepath.Join(root, draftDir)))
}

func stopped(root string) (Stopped, error) {
	s := Stopped{Dir: root, sockets: root}
	if !fitForSocket.MatchString(root) {
		s.sockets = farSocketDir(root)
	}
	lock, err := tryLock(root)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return s, fmt.Errorf("%w: a process of the product uses %s; stop it first", ErrRuns, root)
	}
	if err != nil {
		return s, err
	}
	s.lock = lock
	// It may be shutting down or, on systems other than Linux, have survived its killed process.
	if conn, err := net.Dial("unix", filepath.Join(s.sockets, socketFile)); err == nil { //nolint:noctx // a socket on this machine
		return s, errors.Join(fmt.Errorf("%w: PostgreSQL still runs in %s; wait a moment, or start the product and stop it", ErrRuns, root), conn.Close(), lock.Close())
	}
	return s, nil
}

// Size returns how many bytes the cluster has.
func (s Stopped) Size() (bytes int64, err error) {
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

// Remove deletes the cluster, and its directory unless there is something else in it. Its data is renamed first, so that an interruption
// leaves nothing that looks complete: the next start, or the next Remove, deletes the rest.
func (s Stopped) Remove() error {
	data, draft := filepath.Join(s.Dir, dataDir), filepath.Join(s.Dir, draftDir)
	if exists(data) {
		if err := errors.Join(os.RemoveAll(draft), os.Rename(data, draft)); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(draft); err != nil {
		return err
	}
	err := removeFiles(s.sockets, socketFile, socketFile+".lock")
	err = errors.Join(err, removeFiles(s.Dir, logFile))
	for _, dir := range []string{s.sockets, s.Dir} {
		if failed := os.Remove(dir); failed != nil && !errors.Is(failed, fs.ErrNotExist) && !errors.Is(failed, syscall.ENOTEMPTY) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

func removeFiles(dir string, names ...string) (err error) {
	for _, name := range names {
		if failed := os.Remove(filepath.Join(dir, name)); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}
