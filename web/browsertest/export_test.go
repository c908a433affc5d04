package browsertest

import "time"

// SetPatience shortens every wait, for a process whose test is to fail.
func SetPatience(d time.Duration) { patience = d }
