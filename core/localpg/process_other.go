//go:build !linux

package localpg

import "syscall"

// processAttributes puts a child in its own process group, so that Ctrl-C does
// not stop the database while requests drain. Without Linux's death signal a
// server survives a killed starter; the next one ends it first.
func processAttributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Setpgid: true}
}
