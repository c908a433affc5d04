package operation_test

import (
	"testing"
	"time"

	"example.com/loyalty/core/operation"
)

// The archive is late if segments wait and none was archived for ten minutes: an idle server archives nothing, and a busy
// one always has some that wait.
func TestArchiveIsLate(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		archived   time.Duration // ago; 0: never
		unarchived int64
		late       bool
	}{
		{time.Minute, 0, false}, {time.Minute, 3, false}, {3 * time.Hour, 0, false}, {11 * time.Minute, 1, true}, {0, 1, true}, {0, 0, false},
	} {
		b := operation.Backups{Archives: true, Unarchived: c.unarchived}
		if c.archived > 0 {
			b.ArchivedAt = new(now.Add(-c.archived))
		}
		if got := b.IsLate(now); got != c.late {
			t.Errorf("%+v: late %v", c, got)
		}
	}
}
