package main

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// scripts have the product's statements in the same round trips. Each starts with head.sql. If a
// scenario has several files, they run equally often.
//
//go:embed pgbench/*.sql
var scripts embed.FS

// summary finds the average latency and the rate in what pgbench prints.
var summary = regexp.MustCompile(`(?s)latency average = ([0-9.]+) ms.*?tps = ([0-9.]+)`)

// pgbench runs the scripts of a name with the scenario's load.
func (b *bench) pgbench(ctx context.Context, s scenario, name string) (r bare, err error) {
	r.name = name + " with pgbench"
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
		"-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "2",
		"-h", u.Query().Get("host"), "-p", u.Query().Get("port"), "-U", u.User.Username(),
		"-D", fmt.Sprint("tenant=", s.business.ID), "-D", "token=" + token, "-D", fmt.Sprint("type=", s.business.TransactionTypeID),
		"-D", fmt.Sprint("buyers=", s.business.customers/s.business.step), "-D", fmt.Sprint("step=", s.business.step),
		"-D", "number=0", "-D", fmt.Sprint("first=", b.runs*20_000_000), // so that runs use different ids
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
	found := summary.FindSubmatch(out)
	if found == nil {
		return r, fmt.Errorf("pgbench prints no rate:\n%s", out)
	}
	_, err = fmt.Sscan(string(found[1])+" "+string(found[2]), &r.average, &r.rate)
	return r, err
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
