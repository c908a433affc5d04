package clients_test

import "testing"

// A copy asks every five seconds. It waits longer if its passes would use up the requests of a minute, but not after a single
// pass that had much to read, and never beyond the minute.
func TestPausesOfACopy(t *testing.T) {
	t.Parallel()
	const program = `
import datetime, sync

class Now(datetime.datetime):
    @classmethod
    def now(cls, zone):
        return cls(2026, 11, 27, tzinfo=zone)
sync.datetime = Now
copy = sync.Sync(":memory:", os.environ["LOYALTY_URL"], "1|secret")
for before, requests, remaining, left in [(4, 4, 56, 50), (4, 40, 20, 40), (12, 12, 30, 55), (12, 13, 1, 50), (12, 12, 0, 50), (4, 4, 60, 3600), (4, 4, None, None)]:
    copy.before, copy.requests, copy.remaining = before, requests, remaining
    copy.reset = None if left is None else Now.now(datetime.timezone.utc) + datetime.timedelta(seconds=left)
    print(round(copy.pause()))`
	s := serve(t, nil)
	if got, want := run(t, "Python", program, s.address, s.ca), "5\n8\n22\n50\n50\n5\n5\n"; got != want {
		t.Errorf("prints %q, want %q", got, want)
	}
	if got := s.got(); len(got) > 0 {
		t.Errorf("requests %q, want none", got)
	}
}
