package limit

import "syscall"

// niceness of threads that compute for long: against one that serves they get a tenth of a core.
const niceness = 10

// yieldThread has the system prefer other threads to this one.
func yieldThread() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), niceness) }
