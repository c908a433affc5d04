//go:build !linux

package limit

// yieldThread does nothing: threads have no priority of their own here.
func yieldThread() {}
