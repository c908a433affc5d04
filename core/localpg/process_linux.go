package localpg

import "syscall"

// processAttributes puts a child in its own process group, so that Ctrl-C doesn't stop the database
// before requests have ended. If this process is killed, the kernel sends SIGINT, which requests a
// fast shutdown.
func processAttributes(user *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: user, Setpgid: true, Pdeathsig: syscall.SIGINT}
}
