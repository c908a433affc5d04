package db

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// The pool must not ping an idle connection, which would be another round trip. onLiveConn notices a dead one. Connections
// don't live for ever.
func TestAnIdleConnectionIsNotGreeted(t *testing.T) {
	t.Parallel()
	config, err := poolConfig("postgres://localhost/x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if config.ShouldPing == nil || config.ShouldPing(t.Context(), pgxpool.ShouldPingParams{IdleDuration: time.Hour}) {
		t.Error("the pool greets idle connections")
	}
	if config.MaxConnLifetime != 10*time.Minute {
		t.Errorf("connections live for %s", config.MaxConnLifetime)
	}
}

// Timeouts in the URL have priority.
func TestTheURLMayNameItsOwnTimeouts(t *testing.T) {
	t.Parallel()
	config, err := poolConfig("postgres://localhost/x?statement_timeout=7", Options{StatementTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"statement_timeout": "7", "lock_timeout": "500", "idle_in_transaction_session_timeout": "2000", "timezone": "UTC",
	} {
		if got := config.ConnConfig.RuntimeParams[name]; got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

// A transaction pooler refuses settings that it doesn't know, and has no place for prepared statements.
func TestAPoolerGetsNoSettings(t *testing.T) {
	t.Parallel()
	config, err := poolConfig("postgres://localhost/x", Options{Pooler: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(config.ConnConfig.RuntimeParams)); !slices.Equal(got, []string{"application_name", "timezone"}) {
		t.Errorf("settings %v", got)
	}
	if config.ConnConfig.StatementCacheCapacity != 0 {
		t.Error("statements are prepared")
	}
}
