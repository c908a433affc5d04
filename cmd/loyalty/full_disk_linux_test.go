package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/loyalty/core/db"
	"example.com/loyalty/core/localpg"
)

// "`/readyz` stays 200 on a full disk: it says that nothing can be written." The full disk is
// a small one in memory, for the database's temporary files.
func TestReadinessOfAFullDisk(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	dir, err := os.MkdirTemp("/var/tmp", "loyalty-full-") //nolint:usetesting // PostgreSQL's user must be able to pass through
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cluster, err := localpg.Start(t.Context(), filepath.Join(dir, "data"), slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop(context.Background()) })
	if _, err := db.Migrate(t.Context(), cluster.URL()); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, cluster.AdminURL("loyalty"))
	var files string
	if err := conn.QueryRow(t.Context(), "show data_directory").Scan(&files); err != nil {
		t.Fatal(err)
	}
	owner, err := os.Stat(files)
	if err != nil {
		t.Fatal(err)
	}

	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("can't mount a disk: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	if err := os.Chown(disk, int(owner.Sys().(*syscall.Stat_t).Uid), -1); err != nil { //nolint:forcetypeassert // of Linux, as the mount is
		t.Fatal(err)
	}
	for _, sql := range []string{
		"create tablespace small location '" + disk + "'",
		"grant create on tablespace small to public",
		"alter database loyalty set temp_tablespaces = small",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}

	p := newProbed(t, cluster.URL())
	_, err = p.check(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "nothing can be written, because the database's disk is full: ") {
		t.Errorf("on a full disk: %v", err)
	}
	// With free space it is ready at the next check.
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	p.pass(readyFresh)
	if _, err := p.check(t.Context()); err != nil {
		t.Errorf("with space: %v", err)
	}
}
