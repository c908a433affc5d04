package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/programme"
	"example.com/loyalty/core/tenant"
	"example.com/loyalty/core/verify"
)

// Options of an import. The zero value imports a business as it was.
type Options struct {
	As       string // its slug here; "": as it was
	Plan     string // the name of its plan here; "": as it was
	Renumber bool   // give it new numbers if others have its own
	Activate bool   // end its suspension
}

// Import reads a business from a file into the database, in one transaction: all of it, verified, or nothing. open opens
// the file, which is read twice: nothing is written before it was found to be complete.
func (m Mover) Import(ctx context.Context, open func() (io.ReadCloser, error), o Options) (Imported, error) {
	if err := m.check(open); err != nil {
		return Imported{}, err
	}
	return db.In(ctx, m.DB.Platform(), func(tx *db.Tx) (done Imported, err error) {
		file, err := open()
		if err != nil {
			return Imported{}, unreadable(err)
		}
		defer file.Close()
		in, err := newReader(file)
		if err != nil {
			return Imported{}, err
		}
		i := load{Mover: m, Options: o, in: in, tx: tx, numbers: numbers{}, progress: m.progress("importing " + in.Slug)}
		return i.run(ctx)
	})
}

// check reads the whole file.
func (m Mover) check(open func() (io.ReadCloser, error)) error {
	file, err := open()
	if err != nil {
		return err
	}
	defer file.Close()
	in, err := newReader(file)
	if err != nil {
		return err
	}
	if in.Format != format {
		return in.checkSchema(nil)
	}
	return in.all()
}

// load is an import that runs.
type load struct {
	Mover
	Options
	in       *reader
	tx       *db.Tx
	tables   map[string]table
	numbers  numbers
	place    place
	loaded   map[string]int64 // rows, by table
	progress Progress
}

// place is where the business is put.
type place struct {
	tenant core.TenantID
	slug   string
	plan   plan
	tokens []int64 // numbers of tokens that others have here
}

type plan struct {
	ID   int64
	Name string
}

func (l *load) run(ctx context.Context) (Imported, error) {
	if err := db.TakeTime(l.tx); err != nil {
		return Imported{}, err
	}
	if err := l.prepare(ctx); err != nil {
		return Imported{}, err
	}
	if err := l.rows(ctx); err != nil {
		return Imported{}, err
	}
	done, err := l.adopt(ctx)
	if err != nil {
		return Imported{}, err
	}
	return done, l.verify(ctx)
}

// prepare reads what the database has, and finds the business's place in it.
func (l *load) prepare(ctx context.Context) error {
	raw, err := l.tx.Raw(ctx)
	if err != nil {
		return err
	}
	tables, err := readCatalog(ctx, raw)
	if err != nil {
		return err
	}
	l.tables, l.loaded = map[string]table{}, map[string]int64{}
	sequences := map[string]string{}
	for _, t := range tables {
		l.tables[t.Name] = t
		if last := t.Columns[slices.IndexFunc(t.Columns, func(c column) bool { return c.Name == t.Key[len(t.Key)-1] })]; last.Sequence != nil {
			sequences[t.Name] = *last.Sequence
		}
	}
	schema, err := db.One[int64](ctx, l.tx, schemaSQL, nil)
	if err != nil {
		return err
	}
	if err := l.in.checkSchema([]int64{schema}); err != nil {
		return err
	}
	return l.find(ctx, sequences)
}

const planSQL = `
	select id, name
	from loyalty.plan
	where name = @name`

const openPlansSQL = `
	select coalesce(string_agg(name, ', ' order by name), '') as names
	from loyalty.plan
	where not retired`

// namesake is the business that has a slug or a number.
type namesake struct {
	Name      string
	CreatedAt time.Time
}

const withSlugSQL = `
	select name, created_at
	from loyalty.tenant
	where slug = @slug`

// find decides the business's slug, plan and numbers.
func (l *load) find(ctx context.Context, sequences map[string]string) (err error) {
	if l.place.slug, err = l.findSlug(ctx); err != nil {
		return err
	}
	if l.place.plan, err = l.findPlan(ctx); err != nil {
		return err
	}
	if l.place.tokens, err = l.numbers.find(ctx, l.tx, l.in.Header, sequences); err != nil {
		return err
	}
	l.place.tenant = core.TenantID(l.in.TenantID)
	taken, err := db.All[struct{ Number int64 }](ctx, l.tx, takenSQL, db.Args{"numbers": []int64{l.in.TenantID}, "kind": "tenant"})
	if err != nil {
		return err
	}
	if len(taken) == 0 {
		err = moveOn(ctx, l.tx, sequences["tenant"], l.in.TenantID)
	} else {
		var fresh int64
		fresh, err = db.One[int64](ctx, l.tx, drawSQL, db.Args{"sequence": sequences["tenant"], "count": 1})
		l.place.tenant = core.TenantID(fresh)
	}
	if err != nil {
		return err
	}
	return l.refuseNumbers()
}

func (l *load) findSlug(ctx context.Context) (string, error) {
	slug := l.in.Slug
	if l.As != "" {
		slug = l.As
	}
	if tenant.CheckSlug(slug) != nil {
		return "", fmt.Errorf("the slug %q is reserved, or isn't 3 to 40 small letters, digits and single hyphens: choose another one (--as)", slug)
	}
	found, err := db.One[namesake](ctx, l.tx, withSlugSQL, db.Args{"slug": slug})
	switch {
	case errors.Is(err, core.ErrNotFound):
		return slug, nil
	case err != nil:
		return "", err
	case found.CreatedAt.Equal(l.in.CreatedAt):
		return "", fmt.Errorf("%s is already here, under the slug %s: to import it a second time, choose another slug (--as)", found.Name, slug)
	}
	return "", fmt.Errorf("the slug %s is taken by %s: choose another one (--as)", slug, found.Name)
}

func (l *load) findPlan(ctx context.Context) (plan, error) {
	name := l.in.Plan
	if l.Plan != "" {
		name = l.Plan
	}
	found, err := db.One[plan](ctx, l.tx, planSQL, db.Args{"name": name})
	if !errors.Is(err, core.ErrNotFound) {
		return found, err
	}
	names, err := db.One[string](ctx, l.tx, openPlansSQL, nil)
	if err != nil {
		return plan{}, err
	}
	return plan{}, fmt.Errorf("there is no plan %q here: create it, or choose one of these (--plan): %s", name, names)
}

// refuseNumbers refuses new numbers that would stop links and tokens, unless that was asked for. With another slug, links
// lead to another address in any case.
func (l *load) refuseNumbers() error {
	var stops []string
	if l.isMoved() && l.As == "" {
		stops = append(stops, "links in e-mails and to customers' cards")
	}
	if n := len(l.place.tokens); n > 0 {
		stops = append(stops, fmt.Sprintf("API tokens (%d)", n))
	}
	if len(stops) == 0 || l.Renumber {
		return nil
	}
	return fmt.Errorf("other businesses have its numbers here, so these would stop working: %s. "+
		"To import it nevertheless, add --renumber", strings.Join(stops, "; "))
}

// isMoved reports whether the business has another number here.
func (l *load) isMoved() bool { return l.place.tenant != core.TenantID(l.in.TenantID) }

// batchSize bounds the rows of a statement, in bytes and by count.
const (
	batchSize = 1 << 20
	batchRows = 1000
)

const countedSQL = `
	select set_config('app.visits_counted', 'yes', true)`

// rows writes the rows of the file. The tenant's comes first, on the platform; all others inside the tenant.
func (l *load) rows(ctx context.Context) error {
	first, err := l.in.next()
	if err != nil {
		return err
	}
	if first.Table != "tenant" {
		return ErrDamaged
	}
	if err := l.addTenant(ctx, first.Row); err != nil {
		return err
	}
	if err := l.tx.Enter(l.place.tenant); err != nil {
		return err
	}
	// The accounts of the file have the visits: the trigger for sales of earlier builds must not count them again.
	if err := db.Queue(l.tx, countedSQL, nil); err != nil {
		return err
	}
	b := batch{}
	for {
		r, err := l.in.next()
		if errors.Is(err, io.EOF) {
			return l.write(ctx, &b)
		}
		if err != nil {
			return err
		}
		if r.Table != b.table || b.text.Len() > batchSize || b.rows == batchRows {
			if err := l.write(ctx, &b); err != nil {
				return err
			}
		}
		b.add(r)
	}
}

// addTenant writes the tenant's row with its number, slug, plan and status here.
func (l *load) addTenant(ctx context.Context, text json.RawMessage) error {
	fields := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&fields); err != nil {
		return ErrDamaged
	}
	fields["id"], fields["slug"], fields["plan_id"] = l.place.tenant, l.place.slug, l.place.plan.ID
	if l.Activate {
		fields["status"], fields["suspended_at"], fields["suspend_reason"] = tenant.Active, nil, nil
	}
	changed, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	b := batch{}
	b.add(row{"tenant", changed})
	err = l.write(ctx, &b)
	if db.Violates(err, "tenant_slug_key") || db.Violates(err, "tenant_pkey") {
		return errors.New("another business was created with its slug or number just now: import it again")
	}
	return err
}

// batch is rows of a table that are written with one statement.
type batch struct {
	table string
	text  bytes.Buffer // "[row,row"
	rows  int64
}

func (b *batch) add(r row) {
	b.table = r.Table
	b.text.WriteByte("[,"[min(b.rows, 1)])
	b.text.Write(r.Row)
	b.rows++
}

// write writes a batch and empties it.
func (l *load) write(ctx context.Context, b *batch) error {
	if b.rows == 0 {
		return nil
	}
	t, known := l.tables[b.table]
	if !known || b.table == "tenant" && l.loaded["tenant"] > 0 {
		return fmt.Errorf("%w: it has rows of %q", ErrDamaged, b.table)
	}
	b.text.WriteByte(']')
	statement := t.insertSQL()
	args := db.Args{"rows": b.text.String()}
	if strings.Contains(statement, "@numbers") {
		text, err := json.Marshal(l.numbers)
		if err != nil {
			return err
		}
		args["numbers"] = string(text)
	}
	if strings.Contains(statement, "@now") {
		args["now"] = l.tx.Now
	}
	written, err := db.Exec(ctx, l.tx, statement, args)
	if err != nil {
		return fmt.Errorf("rows of %s: %w", b.table, err)
	}
	l.loaded[b.table] += written
	l.progress(int(l.in.rows), int(sum(l.in.Rows)))
	*b = batch{}
	return nil
}

func sum(counts map[string]int64) (total int64) {
	for _, n := range counts {
		total += n
	}
	return total
}

// adopt makes the rows those of this installation: sequences, billing, sealed secrets, the audit log.
func (l *load) adopt(ctx context.Context) (Imported, error) {
	done := Imported{
		Header: l.in.Header, As: l.place.slug, Plan: l.place.plan.Name, Moved: l.isMoved(), StoppedTokens: l.place.tokens,
		Suspended: l.in.SuspendedAt != nil && !l.Activate,
	}
	for _, t := range l.tables {
		if err := l.moveOn(ctx, t); err != nil {
			return done, err
		}
	}
	var err error
	if done.Unread, err = auth.AdoptSealed(ctx, l.tx, l.Keys, l.numbers.before("staff")); err != nil {
		return done, err
	}
	known, err := l.in.hasSecret(l.Keys)
	if err != nil {
		return done, err
	}
	done.NoSecret = !known
	if err := l.tx.Enter(0); err != nil {
		return done, err
	}
	// Billing goes on from today: earlier days are the other installation's to bill. Days that it billed in advance stay billed.
	if err := billing.Resume(ctx, l.tx, l.place.tenant); err != nil {
		return done, err
	}
	if err := l.tx.Enter(l.place.tenant); err != nil {
		return done, err
	}
	if err := programme.Share(l.tx, l.place.tenant); err != nil {
		return done, err
	}
	by := core.System(core.Tenant{ID: l.place.tenant}, l.Operator)
	return done, audit.Write(l.tx, by, audit.Entry{
		Action: "tenant.move_in", Subject: "tenant", ID: fmt.Sprint(l.place.tenant), Name: l.in.Name,
		New: map[string]any{"slug": l.place.slug, "exported_at": l.in.ExportedAt},
	})
}

// moveOn moves the sequence of a table whose numbers are the tenant's own beyond those of the file.
func (l *load) moveOn(ctx context.Context, t table) error {
	for _, c := range t.Columns {
		if c.Sequence == nil || t.Name == "tenant" || slices.Contains(numbered, t.Name) {
			continue
		}
		highest, err := db.One[int64](ctx, l.tx, fmt.Sprintf("select coalesce(max(%s), 0) from loyalty.%s where %s", quoted(c.Name), quoted(t.Name), t.of()), nil)
		if err != nil {
			return err
		}
		if err := moveOn(ctx, l.tx, *c.Sequence, highest); err != nil {
			return err
		}
	}
	return nil
}

// verify compares what was written with the file, before the commit.
func (l *load) verify(ctx context.Context) error {
	if !maps.Equal(l.loaded, rowsOf(l.in.Rows)) {
		return fmt.Errorf("not imported: the rows of the tables differ from the file: %v, and not %v", l.loaded, rowsOf(l.in.Rows))
	}
	raw, err := l.tx.Raw(ctx)
	if err != nil {
		return err
	}
	facts, err := readFacts(ctx, raw, l.place.tenant)
	if err != nil {
		return err
	}
	if facts != l.in.Facts {
		return fmt.Errorf("not imported: the business would have %s, and in the file it has %s", facts, l.in.Facts)
	}
	results, err := verify.InTenant(ctx, raw)
	if err != nil {
		return err
	}
	for _, r := range results {
		if r.Wrong > l.in.Differences[r.Check] {
			return fmt.Errorf("not imported: after the import this would be wrong for %d records, and in the file for %d: %s", r.Wrong, l.in.Differences[r.Check], r.Check)
		}
	}
	return nil
}

// rowsOf returns the tables that have rows.
func rowsOf(counts map[string]int64) map[string]int64 {
	counts = maps.Clone(counts)
	maps.DeleteFunc(counts, func(_ string, n int64) bool { return n == 0 })
	return counts
}
