package localpg

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// ErrMissing says that PostgreSQL is not installed on this machine.
var ErrMissing = errors.New("PostgreSQL is not installed (no initdb and postgres in PATH or the usual places); install it with" +
	" `apt-get install postgresql` (Debian, Ubuntu), `dnf install postgresql-server` (Fedora) or" +
	" `brew install postgresql` (macOS), or name a running server in DATABASE_URL")

// installDirs lists the directories of the programs on systems that keep them out of PATH.
var installDirs = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/usr/local/pgsql/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// machine has the directories of PostgreSQL's programs, the preferred one first, and the user to
// run them as.
type machine struct {
	bins       []string
	uid, gid   int
	credential *syscall.Credential // nil: this process's user
}

func inspect() (machine, error) {
	m := machine{bins: findInstalled(os.Getenv("PATH"), installDirs), uid: os.Geteuid(), gid: os.Getegid()}
	if len(m.bins) == 0 {
		return m, ErrMissing
	}
	if m.uid != 0 {
		return m, nil
	}
	// PostgreSQL refuses to run as root.
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.LookupId("65534") // the unprivileged user of most systems
	}
	if err != nil {
		return m, errors.New("PostgreSQL can't run as root, and there is neither a user postgres nor one with the ID 65534")
	}
	m.credential = &syscall.Credential{}
	_, err = fmt.Sscan(u.Uid+" "+u.Gid, &m.credential.Uid, &m.credential.Gid)
	m.uid, m.gid = int(m.credential.Uid), int(m.credential.Gid)
	return m, err
}

// findInstalled lists the directories with PostgreSQL's programs: first those in PATH, then those
// that match the patterns, the highest version first.
func findInstalled(path string, patterns []string) []string {
	dirs := filepath.SplitList(path)
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		slices.Reverse(found)
		dirs = append(dirs, found...)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		return !filepath.IsAbs(dir) || !exists(filepath.Join(dir, "initdb")) || !exists(filepath.Join(dir, "postgres"))
	})
}

// binFor prefers the version that created the data, because a newer one can't read it.
func (m machine) binFor(data string) string {
	major, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if err != nil {
		return m.bins[0]
	}
	versioned := regexp.MustCompile(`(^|\D)` + regexp.QuoteMeta(strings.TrimSpace(string(major))) + `(/bin)?$`)
	return m.bins[max(0, slices.IndexFunc(m.bins, versioned.MatchString))]
}

// clusterDir returns the directory of a data directory's cluster. An existing cluster stays where it
// is: changed permissions must not lead to an empty one.
func (m machine) clusterDir(ctx context.Context, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	dirs, err := clusterDirs(dir)
	if err != nil {
		return "", err
	}
	if near, far := dirs[0], dirs[1]; exists(near) || !exists(far) && m.canReach(ctx, filepath.Dir(near)) {
		return near, nil
	}
	return dirs[1], nil
}

// clusterDirs returns where the cluster of a data directory may be: in it or, if PostgreSQL's user can't reach that, elsewhere.
func clusterDirs(dir string) ([]string, error) {
	dir, err := resolve(dir)
	return []string{filepath.Join(dir, "postgres"), "/var/tmp/loyalty-" + digest(dir)}, err
}

// Find returns the directory of a data directory's cluster, or fails with fs.ErrNotExist. The data directory may be missing. A directory
// named postgres may be a person's own: a cluster has what launch or initialise leave in it.
func Find(dir string) (root string, err error) {
	dirs, err := clusterDirs(dir)
	for _, root := range dirs {
		if exists(filepath.Join(root, logFile)) || exists(filepath.Join(root, draftDir)) {
			return root, err
		}
	}
	return "", cmp.Or(err, fs.ErrNotExist)
}

// resolve returns the absolute path of a directory without symbolic links. The directory itself may be missing.
func resolve(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if parent := filepath.Dir(dir); errors.Is(err, fs.ErrNotExist) && !exists(dir) && parent != dir {
		resolved, err = resolve(parent)
		return filepath.Join(resolved, filepath.Base(dir)), err
	}
	return resolved, err
}

// canReach tries to start a harmless program in the directory, because access lists, security modules
// and mounts count as well as modes.
func (m machine) canReach(ctx context.Context, dir string) bool {
	cmd := exec.CommandContext(ctx, filepath.Join(m.bins[0], "postgres"), "--version")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: m.credential}
	return !errors.Is(cmd.Run(), fs.ErrPermission)
}

// makePrivateDir makes a directory that only PostgreSQL's user can enter. It refuses a link and a
// directory of another user, who may have made it first in a public place. A directory of this
// process's user is accepted, because a crash may come before the change of its owner.
func (m machine) makePrivateDir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := m.checkPrivateDir(dir); err != nil {
		return err
	}
	return os.Lchown(dir, m.uid, m.gid)
}

func (m machine) checkPrivateDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	if !info.IsDir() || info.Mode().Perm() != 0o700 || owner != m.uid && owner != os.Geteuid() {
		return fmt.Errorf("%s must be a directory of mode 0700 that belongs to PostgreSQL's user (uid %d); found %s of uid %d",
			dir, m.uid, info.Mode(), owner)
	}
	return nil
}

// The path of a socket is limited to about a hundred bytes, and lists of hosts are split at commas.
var fitForSocket = regexp.MustCompile(`^[\w/.-]{1,80}$`)

// socketDir returns the directory of a cluster's socket: its own, or a short one.
func socketDir(root string) string {
	if fitForSocket.MatchString(root) {
		return root
	}
	return "/tmp/loyalty-" + digest(root)
}

// throwawayDir makes a directory for a throwaway cluster, and removes those of processes that were
// killed. A cluster is locked before anything is written, so one that is neither locked nor empty is
// abandoned.
func throwawayDir() (string, error) {
	const prefix = "loyalty-throwaway-"
	base := largeTempDir()
	dirs, _ := filepath.Glob(filepath.Join(base, prefix+"*"))
	for _, dir := range dirs {
		lock, err := tryLock(dir)
		if err != nil {
			continue
		}
		if names, _ := lock.Readdirnames(1); len(names) > 0 {
			_ = os.RemoveAll(dir)
		}
		_ = lock.Close()
	}
	return os.MkdirTemp(base, prefix)
}

// largeTempDir returns /dev/shm if it is large enough. In containers it often has only 64 MB.
func largeTempDir() string {
	const room, shm = 1 << 30, "/dev/shm"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(shm, &fs); err == nil && fs.Bavail*uint64(fs.Bsize) > room {
		return shm
	}
	return os.TempDir()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func digest(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}
