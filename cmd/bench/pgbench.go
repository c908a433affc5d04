package main

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"example.com/loyalty/core/sample"
)

// scripts have the product's statements in the same round trips. Each starts with head.sql, except those
// on the lean tables.
//
//go:embed pgbench/*.sql
var scripts embed.FS

// A program has a pool of connections, which doesn't grow with those of its clients. The cluster permits
// 100 for all of a run.
const maxClients = 32

// batchSize limits the sales of a batch.
const batchSize = 64

// summary finds the number of runs, their average latency and their rate in what pgbench prints.
var summary = regexp.MustCompile(`(?s)actually processed: ([0-9]+).*?latency average = ([0-9.]+) ms.*?tps = ([0-9.]+)`)

// pgbench runs the scripts of a scenario with its load.
func (b *bench) pgbench(ctx context.Context, s scenario) result {
	r := result{scenario: s}
	progress("%s", s.name)
	b.runs++
	database, d := "loyalty", s.business
	if d == nil {
		database, d = "pgbench", b.business
	}
	socket := sample.Must(url.Parse(b.cluster.URL()))
	token, _, _ := strings.Cut(d.Tokens["all"], "|")
	// With batches, the sales of all connections are in flight, as they are without.
	clients, size := cmp.Or(s.workers, b.connections), 1
	if s.script == leanBatch {
		size = min(clients, batchSize)
		clients /= size
	}
	args := []string{
		"-n", "-M", "prepared", "-c", strconv.Itoa(min(clients, maxClients)), "-j", "2",
		"-h", socket.Query().Get("host"), "-p", socket.Query().Get("port"), "-U", socket.User.Username(),
		"-D", fmt.Sprint("tenant=", d.ID), "-D", "token=" + token, "-D", fmt.Sprint("type=", d.TransactionTypeID),
		"-D", fmt.Sprint("buyers=", d.buyers), "-D", fmt.Sprint("step=", d.step),
		"-D", fmt.Sprint("size=", size), "-D", "number=0", "-D", fmt.Sprint("first=", b.runs*2_000_000), // so that runs use different ids
	}
	if s.times > 0 {
		args = append(args, "-t", strconv.Itoa(s.times))
	} else {
		args = append(args, "-T", strconv.Itoa(max(1, int(cmp.Or(s.lasts, b.lasts).Seconds()))))
	}
	if s.rate > 0 {
		args = append(args, "-R", strconv.Itoa(s.rate))
	}
	var head []byte
	if !strings.HasPrefix(s.script, "lean") {
		head = sample.Must(scripts.ReadFile("pgbench/head.sql"))
	}
	file := filepath.Join(b.dir, s.script+".sql")
	sample.Must(0, os.WriteFile(file, append(head, sample.Must(scripts.ReadFile("pgbench/"+s.script+".sql"))...), 0o600))
	args = append(args, "-f", file)
	used := b.processorTime(nil)
	cmd := exec.CommandContext(ctx, "pgbench", append(args, database)...)
	out, err := cmd.CombinedOutput()
	found := summary.FindSubmatch(out)
	if err == nil && (found == nil || bytes.Contains(out, []byte("ERROR"))) {
		err = errors.New("a statement failed")
	}
	if err != nil {
		sample.Must(0, fmt.Errorf("pgbench: %w\n%s", err, out)) // it comes with PostgreSQL
	}
	var count, scripts float64 // in all, and a second
	sample.Must(fmt.Sscan(string(found[1])+" "+string(found[2])+" "+string(found[3]), &count, &r.figures[mean], &scripts))
	r.figures[rate] = scripts * float64(size)
	r.setProcessorTime(used, b.processorTime(nil), count*float64(size)) // pgbench's counts as this process's
	return r
}
