package main

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// scripts hold the product's statements in the same round trips. They begin with head.sql. Of
// several files for one scenario, each is run equally often.
//
//go:embed pgbench/*.sql
var scripts embed.FS

// pgbench runs the scripts of a name in the same way as the product was loaded.
func (b *bench) pgbench(ctx context.Context, s scenario, name string) (result, error) {
	r := result{scenario: scenario{name: name + " by pgbench"}}
	program, err := findPgbench()
	if err != nil {
		return r, err
	}
	u, err := url.Parse(b.cluster.URL())
	if err != nil {
		return r, err
	}
	progress("%s", r.name)
	b.runs++
	dir := filepath.Join(b.dir, "pgbench", strconv.Itoa(b.runs))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, err
	}
	clients := cmp.Or(s.workers, b.connections)
	token, _, _ := strings.Cut(s.business.Tokens["all"], "|")
	args := []string{
		"-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "2", "-l", "--log-prefix", filepath.Join(dir, "log"),
		"-h", u.Query().Get("host"), "-p", u.Query().Get("port"), "-U", u.User.Username(),
		"-D", fmt.Sprint("tenant=", s.business.ID), "-D", "token=" + token, "-D", fmt.Sprint("type=", s.business.TransactionTypeID),
		"-D", fmt.Sprint("buyers=", s.business.customers/s.business.step), "-D", fmt.Sprint("step=", s.business.step),
		"-D", "number=0", "-D", fmt.Sprint("first=", b.runs*20_000_000), // ids of different runs differ
	}
	if s.times > 0 {
		args = append(args, "-t", strconv.Itoa(s.times))
	} else {
		args = append(args, "-T", strconv.Itoa(b.seconds+1))
	}
	if s.rate > 0 {
		args = append(args, "-R", strconv.Itoa(s.rate))
	}
	files, err := fs.Glob(scripts, "pgbench/"+name+"*.sql")
	if err != nil {
		return r, err
	}
	for _, file := range files {
		head, _ := scripts.ReadFile("pgbench/head.sql")
		script, _ := scripts.ReadFile(file)
		copied := filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(copied, append(head, script...), 0o644); err != nil {
			return r, err
		}
		args = append(args, "-f", copied)
	}
	database := "loyalty"
	if s.business == b.business {
		database = "pgbench"
	}
	out, err := exec.CommandContext(ctx, program, append(args, database)...).CombinedOutput()
	if err == nil && bytes.Contains(out, []byte("ERROR")) {
		err = errors.New("a statement failed")
	}
	if err != nil {
		return r, fmt.Errorf("pgbench: %w\n%s", err, out)
	}
	return r, r.readLogs(filepath.Join(dir, "log.*"), s.warmUp(clients)/clients)
}

// readLogs reads what pgbench notes of each transaction, but for the first few of each client. The
// third field is the time from when it was due, the fifth and sixth tell when it ended.
func (r *result) readLogs(pattern string, skipped int) error {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			var client, number, script int
			var took, seconds, microseconds int64
			if _, err := fmt.Sscan(line, &client, &number, &took, &script, &seconds, &microseconds); err != nil {
				return fmt.Errorf("pgbench's log: %w", err)
			}
			if number < skipped {
				continue
			}
			latency := time.Duration(took) * time.Microsecond
			r.Add(&vegeta.Result{Code: http.StatusOK, Latency: latency, Timestamp: time.Unix(seconds, microseconds*1000).Add(-latency)})
		}
	}
	r.Close()
	return nil
}

func findPgbench() (string, error) {
	if program, err := exec.LookPath("pgbench"); err == nil {
		return program, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if len(found) == 0 {
		return "", errors.New("pgbench is not installed; it comes with PostgreSQL")
	}
	return found[len(found)-1], nil
}
