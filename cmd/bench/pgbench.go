package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
)

// spy sees what the product sends: which statements, and which of them together.
type spy struct {
	mu        sync.Mutex
	listening bool
	batches   [][]*pgx.QueuedQuery
}

// TraceBatchStart notes a round trip.
func (s *spy) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listening {
		s.batches = append(s.batches, slices.Clone(data.Batch.QueuedQueries))
	}
	return ctx
}

// TraceBatchQuery notes nothing.
func (s *spy) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd notes nothing.
func (s *spy) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// TraceQueryStart notes nothing: the product sends batches.
func (s *spy) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TraceQueryEnd notes nothing.
func (s *spy) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// overhear returns the round trips of what fn does.
func (s *spy) overhear(fn func() error) ([][]*pgx.QueuedQuery, error) {
	s.mu.Lock()
	s.listening, s.batches = true, nil
	s.mu.Unlock()
	err := fn()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listening = false
	return s.batches, err
}

// pgbench has the tool of PostgreSQL's own send what the product sends for the
// scenario, in the same round trips: as fast as it can, or at a steady rate.
func pgbench(ctx context.Context, databaseURL, dir string, s *shop, what scenario, o options, rate int) (result, error) {
	program, err := findPgbench()
	if err != nil {
		return result{}, err
	}
	u, err := url.Parse(databaseURL)
	if err != nil {
		return result{}, err
	}
	logs := filepath.Join(dir, fmt.Sprintf("pgbench-%s-%d", what.name, rate))
	args := []string{
		"-n", "-M", "prepared", "-c", strconv.Itoa(o.connections), "-j", "2", "-T", strconv.Itoa(o.seconds),
		"-D", "seq=0", "-D", fmt.Sprintf("first=%d", firstID(what, rate)),
		"-l", "--log-prefix", logs, "-h", u.Query().Get("host"), "-p", u.Query().Get("port"), "-U", u.User.Username(),
	}
	if rate > 0 {
		args = append(args, "-R", strconv.Itoa(rate))
	}
	for i, act := range what.acts {
		trips, err := s.seen.overhear(func() error {
			// Who calls is asked in every request.
			if _, err := s.tokens.Authenticate(ctx, s.token, ""); err != nil {
				return err
			}
			return act(ctx, s)
		})
		if err != nil {
			return result{}, err
		}
		file := filepath.Join(dir, fmt.Sprintf("%s-%d.sql", what.name, i))
		if err := os.WriteFile(file, []byte(s.script(trips)), 0o644); err != nil {
			return result{}, err
		}
		args = append(args, "-f", file)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(o.seconds)*time.Second+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append(args, strings.TrimPrefix(u.Path, "/"))...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return result{}, fmt.Errorf("pgbench: %w\n%s", err, out.Bytes())
	}
	return readLogs(logs, time.Since(began))
}

// firstID is where the ids of a run begin: past those of the runs before it.
func firstID(what scenario, rate int) int {
	if rate > 0 {
		return 0 // the steady run is the first
	}
	return (1 + slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == what.name })) * 20_000_000
}

// readLogs reads what pgbench notes of each transaction: its third field is the time
// from when it was due, in microseconds.
func readLogs(prefix string, took time.Duration) (result, error) {
	r := result{took: took}
	files, _ := filepath.Glob(prefix + ".*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return result{}, err
		}
		for line := range bytes.Lines(text) {
			fields := bytes.Fields(line)
			microseconds, err := strconv.Atoi(string(fields[2]))
			if err != nil {
				return result{}, fmt.Errorf("pgbench's log: %w", err)
			}
			r.latencies = append(r.latencies, time.Duration(microseconds)*time.Microsecond)
		}
	}
	slices.Sort(r.latencies)
	return r, nil
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

// script writes round trips as pgbench takes them.
func (s *shop) script(trips [][]*pgx.QueuedQuery) string {
	values := literals{s.reward: 0, s.coupon: 0, s.deep.ID: 0}
	var b strings.Builder
	fmt.Fprintf(&b, "\\set n random(1, %d)\n\\set seq :seq + 1\n", s.customers)
	for _, trip := range trips {
		b.WriteString("\\startpipeline\n")
		for _, q := range trip {
			b.WriteString(oneLine(values.fill(q.SQL, q.Arguments)) + ";\n")
		}
		b.WriteString("\\endpipeline\n")
	}
	return b.String()
}

func oneLine(sql string) string { return strings.Join(strings.Fields(sql), " ") }

// literals writes arguments as SQL. Records that the product makes get ids and
// phones of their own in each transaction, in growing order as the product's are;
// those that are known as number 0 are always the same.
type literals map[core.ID]int

var placeholder = regexp.MustCompile(`\$\d+`)

func (l literals) fill(sql string, args []any) string {
	return placeholder.ReplaceAllStringFunc(sql, func(p string) string {
		n, _ := strconv.Atoi(p[1:])
		return l.literal(args[n-1])
	})
}

func (l literals) literal(arg any) string {
	switch v := arg.(type) {
	case nil:
		return "null"
	case core.ID:
		return l.id(v)
	case time.Time:
		return v.UTC().Format("'20060102T150405.000+00'::timestamptz")
	case []byte:
		return "'\\x" + hex.EncodeToString(v) + "'::bytea"
	}
	v := reflect.ValueOf(arg)
	switch v.Kind() {
	case reflect.Slice:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = l.literal(v.Index(i).Interface())
		}
		return "array[" + strings.Join(items, ", ") + "]"
	case reflect.Pointer:
		if v.IsNil() {
			return "null"
		}
		return l.literal(v.Elem().Interface())
	case reflect.String:
		if v.String() == newPhone {
			return "('+4673' || lpad((:client_id)::text, 2, '0') || lpad((:seq)::text, 7, '0'))"
		}
		// A colon would begin a variable of pgbench's.
		return "E" + strings.ReplaceAll("'"+strings.ReplaceAll(v.String(), "'", "''")+"'", ":", `\x3a`)
	default:
		return fmt.Sprint(arg)
	}
}

func (l literals) id(v core.ID) string {
	if v == id(1) {
		return fmt.Sprintf(customerID, "(:n)::int")
	}
	if v == voucher(1) {
		return fmt.Sprintf(voucherID, fmt.Sprintf("(2 + :client_id * %d + :seq)::int", vouchersPerClient))
	}
	k, known := l[v]
	if !known {
		k = len(l) + 1
		l[v] = k
	}
	if k == 0 || bound(v) {
		return "'" + uuid(v) + "'::uuid"
	}
	return fmt.Sprintf("(lpad(to_hex((:first)::int + (:seq)::int), 8, '0') || '-%04x-4000-' || lpad(to_hex((:client_id)::int), 4, '0') || '-000000000000')::uuid", k)
}
