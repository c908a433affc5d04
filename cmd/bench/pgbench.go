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
	"time"

	"example.com/loyalty/core/fixture"
)

// scripts have the product's statements in the same round trips. Each starts with head.sql. If a
// scenario has several files, they run equally often.
//
//go:embed pgbench/*.sql
var scripts embed.FS

// summary finds the average latency and the rate in what pgbench prints.
var summary = regexp.MustCompile(`(?s)latency average = ([0-9.]+) ms.*?tps = ([0-9.]+)`)

// pgbench runs the scripts of a name with the scenario's load.
func (b *bench) pgbench(ctx context.Context, s scenario, name string) result {
	r := result{scenario: scenario{name: name + " with pgbench"}}
	progress("%s", r.name)
	b.runs++
	database, d := "loyalty", s.business
	if d == nil {
		database, d = "pgbench", b.business
	}
	socket := fixture.Must(url.Parse(b.cluster.URL()))
	token, _, _ := strings.Cut(d.Tokens["all"], "|")
	args := []string{
		"-n", "-M", "prepared", "-c", strconv.Itoa(cmp.Or(s.workers, b.connections)), "-j", "2",
		"-h", socket.Query().Get("host"), "-p", socket.Query().Get("port"), "-U", socket.User.Username(),
		"-D", fmt.Sprint("tenant=", d.ID), "-D", "token=" + token, "-D", fmt.Sprint("type=", d.TransactionTypeID),
		"-D", fmt.Sprint("buyers=", d.buyers), "-D", fmt.Sprint("step=", d.step),
		"-D", "number=0", "-D", fmt.Sprint("first=", b.runs*20_000_000), // so that runs use different ids
	}
	if s.times > 0 {
		args = append(args, "-t", strconv.Itoa(s.times))
	} else {
		args = append(args, "-T", strconv.Itoa(b.seconds))
	}
	if s.rate > 0 {
		args = append(args, "-R", strconv.Itoa(s.rate))
	}
	head := fixture.Must(scripts.ReadFile("pgbench/head.sql"))
	for _, file := range fixture.Must(fs.Glob(scripts, "pgbench/"+name+"*.sql")) {
		copied := filepath.Join(b.dir, filepath.Base(file))
		fixture.Must(0, os.WriteFile(copied, append(head, fixture.Must(scripts.ReadFile(file))...), 0o600))
		args = append(args, "-f", copied)
	}
	out, err := exec.CommandContext(ctx, "pgbench", append(args, database)...).CombinedOutput()
	found := summary.FindSubmatch(out)
	if err == nil && (found == nil || bytes.Contains(out, []byte("ERROR"))) {
		err = errors.New("a statement failed")
	}
	if err != nil {
		fixture.Must(0, fmt.Errorf("pgbench: %w\n%s", err, out)) // it comes with PostgreSQL
	}
	var average float64
	fixture.Must(fmt.Sscan(string(found[1])+" "+string(found[2]), &average, &r.perSecond))
	r.Latencies.Mean = time.Duration(average * float64(time.Millisecond))
	return r
}
