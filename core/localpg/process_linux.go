package localpg

import "syscall"

// processAttributes puts a child in its own process group, so that Ctrl-C does
// not stop the database while requests drain, and has the kernel shut it down
// when we are killed ourselves: to PostgreSQL, SIGINT is a fast shutdown.
func processAttributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Setpgid: true, Pdeathsig: syscall.SIGINT}
}
