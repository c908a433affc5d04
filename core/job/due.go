package job

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// A retry moves a job's scheduled_at, so a job that fails keeps in its metadata when it was first due: the age of the
// oldest job (Load.DueSince) must not begin anew with each failure. A job that waits on purpose is due when it says.

// dueKey is the field of the metadata; job_load (migration 0152) reads it.
const dueKey = "due"

// noteDue stores with the result of a failed attempt when the job was first due, and removes that when the job waits on purpose
// or is done.
func noteDue(ctx context.Context, row *rivertype.JobRow, failed bool) {
	var metadata struct {
		Due *int64 `json:"due"`
	}
	noted := json.Unmarshal(row.Metadata, &metadata) == nil && metadata.Due != nil
	switch {
	case failed && !noted:
		_ = river.MetadataSet(ctx, dueKey, row.ScheduledAt.UnixMilli()) // it fails only outside of a job
	case !failed && noted:
		_ = river.MetadataSet(ctx, dueKey, nil)
	}
}

// postponed is a failure that isn't the installation's.
type postponed struct{ error }

// Unwrap returns the failure.
func (p postponed) Unwrap() error { return p.error }

// Postponed returns an error with which a handler has its job retried as after any failure, but not counted as late
// until then: another party asked to wait, such as a full mailbox.
func Postponed(failure error) error { return postponed{failure} }

// isPatient reports whether an error has its job wait on purpose.
func isPatient(err error) bool {
	var snoozed *rivertype.JobSnoozeError
	var asked postponed
	return errors.As(err, &snoozed) || errors.As(err, &asked)
}
