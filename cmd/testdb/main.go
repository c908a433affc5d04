// Command testdb runs another command with a throwaway PostgreSQL cluster, so that all test
// packages of a run share one:
//
//	testdb -- go test ./...
//
// LOYALTY_TEST_DATABASE_URL has the cluster's URL, with a login that can create roles and
// databases but is not a superuser. If it is set already, the tests run on that server, and
// testdb starts none. testdb exits with the command's exit code.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"example.com/loyalty/core/localpg"
)

func main() {
	args := os.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: testdb -- COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	code, err := run(context.Background(), args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testdb:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

const variable = "LOYALTY_TEST_DATABASE_URL"

func run(ctx context.Context, args []string) (code int, failed error) {
	// Signals are caught from the start, so that the cluster is always removed.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)

	url := os.Getenv(variable)
	if url == "" {
		cluster, err := localpg.Throwaway(ctx)
		if err != nil {
			return 0, err
		}
		defer func() { failed = errors.Join(failed, cluster.Stop(ctx)) }()
		url = cluster.URL()
	}

	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), variable+"="+url)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go forward(signals, cmd.Process)

	// A failed command is not an error of testdb: its exit code is passed on.
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

// forward passes on signals that only this process got. The terminal sends Ctrl-C and Ctrl-\
// to the command, too, and a second one often means "at once".
func forward(signals <-chan os.Signal, to *os.Process) {
	for s := range signals {
		if s == syscall.SIGTERM || s == syscall.SIGHUP {
			_ = to.Signal(s)
		}
	}
}
