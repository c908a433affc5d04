//go:build !linux

package localpg

import "syscall"

// processAttributes puts a child in its own process group, so that Ctrl-C doesn't stop the database
// before requests have ended. Without Linux's death signal, a server survives its killed process, and
// the next start ends it.
func processAttributes(user *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: user, Setpgid: true}
}
