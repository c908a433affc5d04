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
	"strconv"
	"strings"
	"syscall"
)

// ErrMissing says that PostgreSQL's programs are not on this machine.
var ErrMissing = errors.New("PostgreSQL is not installed (no initdb and postgres in PATH or the usual places); install it with" +
	" `apt-get install postgresql` (Debian, Ubuntu), `dnf install postgresql-server` (Fedora) or" +
	" `brew install postgresql` (macOS), or name a running server in DATABASE_URL")

// installDirs are where the programs lie on systems that keep them out of PATH.
var installDirs = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/usr/local/pgsql/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// machine is what PostgreSQL needs of this machine: directories with its
// programs, the preferred one first, and the user to run them as.
type machine struct {
	bins       []string
	uid, gid   int
	credential *syscall.Credential // nil: ourselves
}

func survey() (machine, error) {
	m := machine{bins: installed(os.Getenv("PATH"), installDirs), uid: os.Geteuid(), gid: os.Getegid()}
	if len(m.bins) == 0 {
		return m, ErrMissing
	}
	if m.uid != 0 {
		return m, nil
	}
	// PostgreSQL refuses to run as root.
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return m, errors.New("PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as")
	}
	m.credential = &syscall.Credential{}
	_, err = fmt.Sscan(u.Uid+" "+u.Gid, &m.credential.Uid, &m.credential.Gid)
	m.uid, m.gid = int(m.credential.Uid), int(m.credential.Gid)
	return m, err
}

// installed lists the directories with PostgreSQL's programs: those of PATH,
// then the usual ones, highest version first.
func installed(path string, patterns []string) []string {
	var usual []string
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		usual = append(usual, found...)
	}
	slices.SortStableFunc(usual, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	return slices.DeleteFunc(append(filepath.SplitList(path), usual...), func(dir string) bool {
		return !filepath.IsAbs(dir) || !exists(filepath.Join(dir, "initdb")) || !exists(filepath.Join(dir, "postgres"))
	})
}

// binFor prefers the version that made the data: a newer one, installed beside
// it by an upgrade of the system, cannot read it.
func (m machine) binFor(data string) string {
	made, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if err != nil {
		return m.bins[0]
	}
	major, _ := strconv.Atoi(strings.TrimSpace(string(made)))
	if i := slices.IndexFunc(m.bins, func(dir string) bool { return version(dir) == major }); i >= 0 {
		return m.bins[i]
	}
	return m.bins[0]
}

var versionInPath = regexp.MustCompile(`(\d+)(/bin)?$`)

// version is the major version an installation's path tells, or 0.
func version(dir string) int {
	if m := versionInPath.FindStringSubmatch(dir); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 0
}

// place chooses where the cluster of a data directory lies. Once made it is
// never looked for elsewhere: changed permissions must not open an empty one.
func (m machine) place(ctx context.Context, dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	near := filepath.Join(dir, "postgres")
	far := "/var/tmp/loyalty-" + digest(dir)
	if !exists(near) && (exists(far) || !m.reaches(ctx, dir)) {
		return far, nil
	}
	return near, nil
}

// reaches asks the system itself, by a harmless program started there: modes
// alone do not tell (access lists, security modules, mounts).
func (m machine) reaches(ctx context.Context, dir string) bool {
	cmd := exec.CommandContext(ctx, filepath.Join(m.bins[0], "postgres"), "--version")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: m.credential}
	return !errors.Is(cmd.Run(), fs.ErrPermission)
}

// claim makes a directory that is PostgreSQL's alone. In a public place
// somebody else may have come first: theirs, or a link, is refused.
func (m machine) claim(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm() != 0o700 || !m.owns(info) {
		return fmt.Errorf("%s must be a directory of mode 0700 that belongs to PostgreSQL's user (uid %d); found %s of uid %d",
			dir, m.uid, info.Mode(), owner(info))
	}
	return os.Lchown(dir, m.uid, m.gid)
}

// owns accepts our own files too: a crash may come between making a directory
// and giving it away.
func (m machine) owns(info fs.FileInfo) bool {
	return owner(info) == m.uid || owner(info) == os.Geteuid()
}

func owner(info fs.FileInfo) int {
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

// A socket's path has room for about a hundred bytes, and host lists are split
// at commas.
var fitForSocket = regexp.MustCompile(`^[\w/.-]{1,80}$`)

func (m machine) socketDir(root string) (string, error) {
	if fitForSocket.MatchString(root) {
		return root, nil
	}
	dir := "/tmp/loyalty-" + digest(root)
	return dir, m.claim(dir)
}

const tempPrefix = "loyalty-throwaway-"

// tempDir makes a directory for a throwaway cluster.
func (m machine) tempDir() (string, error) {
	base := roomyTemp()
	m.sweep(base)
	return os.MkdirTemp(base, tempPrefix)
}

// roomyTemp is memory where there is enough of it; containers often have a
// /dev/shm of 64 MB, too small for a test run.
func roomyTemp() string {
	const room, shm = 1 << 30, "/dev/shm"
	var fs syscall.Statfs_t
	if err := syscall.Statfs(shm, &fs); err == nil && fs.Bavail*uint64(fs.Bsize) > room {
		return shm
	}
	return os.TempDir()
}

// sweep removes throwaway clusters whose process was killed before it could.
// They take the lock before they write anything, so one that is neither locked
// nor empty is abandoned.
func (m machine) sweep(base string) {
	dirs, _ := filepath.Glob(filepath.Join(base, tempPrefix+"*"))
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !m.owns(info) {
			continue
		}
		lock, err := tryLock(dir)
		if err != nil {
			continue
		}
		if names, _ := lock.Readdirnames(1); len(names) > 0 {
			_ = os.RemoveAll(dir)
		}
		_ = lock.Close()
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func digest(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}
