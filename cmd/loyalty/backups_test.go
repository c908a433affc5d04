package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/localpg"
	"example.com/loyalty/core/shoptest"
)

// /metrics tells of the last backup and of the archive of the WAL, as PostgreSQL and backup.sh record them.
func TestMetricsOfBackups(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begin := func() *localpg.Cluster {
		c, err := localpg.Start(t.Context(), dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	end := func(c *localpg.Cluster) {
		if err := stopCluster(t.Context(), c, nil); err != nil {
			t.Error(err)
		}
	}
	c := begin()
	defer func() {
		end(c)
		_ = os.RemoveAll(c.Dir())
	}()
	if _, err := db.Migrate(t.Context(), c.URL()); err != nil {
		t.Fatal(err)
	}
	works, err := os.MkdirTemp("", "loyalty-archive-") //nolint:usetesting // PostgreSQL's user can't reach the test's own
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(works)
	if err := os.Chmod(works, 0o755); err != nil { //nolint:gosec // likewise
		t.Fatal(err)
	}
	lever := filepath.Join(works, "works")
	read := func() map[string]float64 { return readFigures(t, c) }
	if got := read(); len(got) != 1 || got["loyalty_backup_expected"] != 0 {
		t.Errorf("without backups: %v", got)
	}

	connect(t, c.AdminURL("postgres")).exec("alter system set archive_mode = 'on'")
	connect(t, c.AdminURL("postgres")).exec("alter system set archive_command = 'test -e " + lever + " # archive-wal.sh %p %f'")
	end(c)
	c = begin()
	admin := connect(t, c.AdminURL("loyalty"))
	finish := func() { // a segment
		admin.exec("select pg_logical_emit_message(false, 'test', 'something'), pg_switch_wal()")
	}
	unarchived := func(want float64) {
		t.Helper()
		var got map[string]float64
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if got = read(); got["loyalty_wal_unarchived_segments"] == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v, want %v segments that wait", got, want)
			}
		}
	}
	finish()
	unarchived(1)
	if got := read(); got["loyalty_wal_archived_timestamp_seconds"] != 0 || got["loyalty_backup_expected"] != 1 {
		t.Errorf("before the first archived segment: %v", got)
	}
	finish()
	unarchived(2)
	if err := os.WriteFile(lever, nil, 0o644); err != nil { //nolint:gosec // likewise
		t.Fatal(err)
	}
	finish()
	unarchived(0)
	archived := read()["loyalty_wal_archived_timestamp_seconds"]
	if age := time.Since(time.Unix(int64(archived), 0)); age > time.Minute {
		t.Errorf("archived %v ago", age)
	}
	// A base backup leaves a file of its own in the archive, named after the segment in which it began.
	admin.exec("select pg_backup_start('test', true)")
	admin.exec("select pg_backup_stop(false)")
	await(t, "the last archived file is the backup's", func() bool {
		return strings.HasSuffix(ask[string](admin, "select last_archived_wal from pg_stat_archiver"), ".backup")
	})
	unarchived(0)
	// A command that hangs reports no failure.
	admin.exec("alter system set archive_command = 'while test -e " + lever + "; do sleep 0.1; done # archive-wal.sh'")
	admin.exec("select pg_reload_conf()")
	finish()
	finish()
	unarchived(2)
	if err := os.Remove(lever); err != nil {
		t.Fatal(err)
	}
	unarchived(0)

	if _, known := read()["loyalty_backup_timestamp_seconds"]; known {
		t.Error("a backup is known before one was recorded")
	}
	admin.exec("set role loyalty_backup")
	admin.exec("select loyalty.record_backup('base', '20260501T020000Z')")
	admin.exec("reset role")
	if age := time.Since(time.Unix(int64(read()["loyalty_backup_timestamp_seconds"]), 0)); age > time.Minute {
		t.Errorf("recorded %v ago", age)
	}
	for _, sql := range []string{
		"select loyalty.record_backup('base', 'forged')",
		"insert into loyalty.backup values ('dump', 'forged', now())", "update loyalty.backup set finished_at = now()", "delete from loyalty.backup",
	} {
		if _, err := connect(t, c.ServingURL()).Exec(t.Context(), "select loyalty.enter(0); "+sql); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("%s by the serving login: %v", sql, err)
		}
	}
	admin.exec("set role loyalty_backup")
	if _, err := admin.Exec(t.Context(), "select from loyalty.customer"); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("the login for backups reads customers: %v", err)
	}
}

var backupLines = regexp.MustCompile(`(?m)^(loyalty_(?:backup|wal)_[a-z_]+) (\S+)$`)

// readFigures reads what /metrics says about backups.
func readFigures(t *testing.T, c *localpg.Cluster) map[string]float64 {
	t.Helper()
	d, err := db.Open(t.Context(), c.ServingURL(), db.Options{Listens: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	m := monitored{metrics: &metrics{registry: prometheus.NewRegistry()}}
	m.registry.MustRegister(&backlogFigures{read: shoptest.Of(t, d, core.Actor{}).Operations.Backlog, now: time.Now, log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	figures := map[string]float64{}
	for _, line := range backupLines.FindAllStringSubmatch(m.read(t), -1) {
		if figures[line[1]], err = strconv.ParseFloat(line[2], 64); err != nil {
			t.Fatal(err)
		}
	}
	return figures
}
