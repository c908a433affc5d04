package localpg

import (
	"cmp"
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

// installed lists the directories with PostgreSQL's programs: those of PATH,
// then the usual ones, highest version first.
func installed(path string, patterns []string) ([]string, error) {
	var usual []string
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		usual = append(usual, found...)
	}
	slices.SortStableFunc(usual, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	bins := slices.DeleteFunc(append(filepath.SplitList(path), usual...), func(dir string) bool {
		return !exists(filepath.Join(dir, "initdb")) || !exists(filepath.Join(dir, "postgres"))
	})
	if len(bins) == 0 {
		return nil, ErrMissing
	}
	return bins, nil
}

// matching prefers the version that made the cluster: a newer one, installed
// beside it by an upgrade of the system, cannot read its files.
func matching(bins []string, root string) string {
	made, _ := os.ReadFile(filepath.Join(root, "data", "PG_VERSION"))
	major, _ := strconv.Atoi(strings.TrimSpace(string(made)))
	if i := slices.IndexFunc(bins, func(dir string) bool { return version(dir) == major }); i >= 0 && major > 0 {
		return bins[i]
	}
	return bins[0]
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

// account is the user PostgreSQL runs as.
type account struct {
	uid, gid   int
	credential *syscall.Credential // nil: whoever we are
}

// serverAccount is ourselves, except for root, which PostgreSQL refuses.
func serverAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return account{}, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return account{}, err
		}
		return account{int(uid), int(gid), &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return account{}, errors.New("PostgreSQL refuses to run as root, and there is no user postgres or nobody to run it as")
}

// place chooses where the cluster of a data directory lies. Once made it is
// never looked for elsewhere: changed permissions must not open an empty one.
func place(dir string, who account, bin string) (string, error) {
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
	if !exists(near) && (exists(far) || !who.reaches(dir, bin)) {
		return far, nil
	}
	return near, nil
}

// reaches asks the system itself, by a harmless program started there: modes
// alone do not tell (access lists, security modules, mounts).
func (a account) reaches(dir, bin string) bool {
	cmd := exec.Command(filepath.Join(bin, "postgres"), "--version")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.credential}
	return !errors.Is(cmd.Run(), fs.ErrPermission)
}

// claim makes a directory that is PostgreSQL's alone. In a public place
// somebody else may have come first: theirs, or a link, is refused.
func (a account) claim(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm() != 0o700 || !a.owns(info) {
		return fmt.Errorf("%s must be a directory of mode 0700 that belongs to PostgreSQL's user (uid %d); found %s of uid %d",
			dir, a.uid, info.Mode(), owner(info))
	}
	return os.Lchown(dir, a.uid, a.gid)
}

// owns accepts our own files too: a crash may come between making a directory
// and giving it away.
func (a account) owns(info fs.FileInfo) bool {
	return owner(info) == a.uid || owner(info) == os.Geteuid()
}

func owner(info fs.FileInfo) int {
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

// A socket's path has room for about a hundred bytes, and host lists are split
// at commas.
var fitForSocket = regexp.MustCompile(`^[\w/.-]{1,80}$`)

func socketDir(root string, who account) (string, error) {
	if fitForSocket.MatchString(root) {
		return root, nil
	}
	dir := "/tmp/loyalty-" + digest(root)
	return dir, who.claim(dir)
}

const tempPrefix = "loyalty-throwaway-"

// tempDir makes a directory for a throwaway cluster. Containers often have a
// /dev/shm of 64 MB, too small for a test run.
func tempDir(who account) (string, error) {
	const room = 1 << 30
	base := os.TempDir()
	var shm syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &shm); err == nil && shm.Bavail*uint64(shm.Bsize) > room {
		base = "/dev/shm"
	}
	sweep(base, who)
	return os.MkdirTemp(base, tempPrefix)
}

// sweep removes throwaway clusters whose process was killed before it could.
// They take the lock before they write anything, so one that is neither locked
// nor empty is abandoned.
func sweep(base string, who account) {
	dirs, _ := filepath.Glob(filepath.Join(base, tempPrefix+"*"))
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !who.owns(info) {
			continue
		}
		lock, err := tryLock(dir)
		if err != nil {
			continue
		}
		if names, _ := lock.Readdirnames(1); len(names) > 0 {
			_ = os.RemoveAll(dir)
		}
		lock.Close()
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
