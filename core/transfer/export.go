package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/audit"
	"example.com/loyalty/core/db"
	"example.com/loyalty/core/verify"
	"example.com/loyalty/migrations"
)

// settled is how long after a suspension nothing that began before it is still recorded: twice the time of a request.
const settled = 30 * time.Second

// source is a business to export.
type source struct {
	ID          core.TenantID
	Slug        string
	Name        string
	Plan        string
	CreatedAt   time.Time
	SuspendedAt *time.Time
}

const sourceSQL = `
	select t.id, t.slug, t.name, p.name as plan, t.created_at, t.suspended_at
	from loyalty.tenant t
	join loyalty.plan p on p.id = t.plan_id
	where t.slug = @slug`

const slugsSQL = `
	select slug
	from loyalty.tenant
	order by id`

// Slugs returns the slugs of all businesses, the oldest first.
func (m Mover) Slugs(ctx context.Context) ([]string, error) {
	rows, err := db.All[struct{ Slug string }](ctx, m.DB.Platform(), slugsSQL, nil)
	slugs := make([]string, len(rows))
	for i, r := range rows {
		slugs[i] = r.Slug
	}
	return slugs, err
}

// Export writes everything of a business, at one instant, while it is served. Its audit log says so, in the file too.
// If the business was suspended just now, it first waits for the requests that began before. core.ErrNotFound.
func (m Mover) Export(ctx context.Context, slug string, to io.Writer) (Header, error) {
	of, err := db.One[source](ctx, m.DB.Platform(), sourceSQL, db.Args{"slug": slug})
	if err != nil {
		return Header{}, err
	}
	if err := m.awaitRequests(ctx, of.SuspendedAt); err != nil {
		return Header{}, err
	}
	by := core.System(core.Tenant{ID: of.ID}, m.Operator)
	err = db.Run(ctx, m.DB.Tenant(by), func(tx *db.Tx) error {
		return audit.Write(tx, by, audit.Entry{Action: "tenant.move_out", Subject: "tenant", ID: fmt.Sprint(of.ID), Name: of.Name})
	})
	if err != nil {
		return Header{}, err
	}
	e := export{Header: Header{
		Format: format, Version: m.Version, TenantID: int64(of.ID), Slug: of.Slug, Name: of.Name, Plan: of.Plan,
		CreatedAt: of.CreatedAt, SuspendedAt: of.SuspendedAt, ExportedAt: m.DB.Now(),
	}, out: newWriter(to), progress: m.progress("exporting " + slug)}
	if e.Secret, err = sealSecret(m.Keys, slug); err != nil {
		return Header{}, err
	}
	if err := db.Snapshot(ctx, m.DB, func(tx pgx.Tx) error { return e.run(ctx, tx) }); err != nil {
		return Header{}, err
	}
	return e.Header, e.out.close()
}

// awaitRequests waits until requests that began before a suspension have ended.
func (m Mover) awaitRequests(ctx context.Context, suspendedAt *time.Time) error {
	if suspendedAt == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(settled - m.DB.Now().Sub(*suspendedAt)):
		return nil
	}
}

// export is an export that runs.
type export struct {
	Header
	out      *writer
	progress Progress
}

const enterSQL = `
	select loyalty.enter(@tenant_id)`

const schemaSQL = `
	select max(version_id)
	from ` + migrations.Table + `
	where is_applied`

// run writes the file from a snapshot.
func (e *export) run(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, enterSQL, pgx.NamedArgs{"tenant_id": e.TenantID}); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "set local bytea_output = 'hex'"); err != nil {
		return err
	}
	tables, err := readCatalog(ctx, tx)
	if err != nil {
		return err
	}
	count, err := e.readHeader(ctx, tx, tables)
	if err != nil {
		return err
	}
	if err := e.out.header(e.Header); err != nil {
		return err
	}
	for _, t := range tables {
		if err := e.write(ctx, tx, t, int(count)); err != nil {
			return err
		}
	}
	return nil
}

// readHeader reads what the header says about the business, and returns the number of rows.
func (e *export) readHeader(ctx context.Context, tx pgx.Tx, tables []table) (count int64, err error) {
	tenant := pgx.NamedArgs{"tenant_id": e.TenantID}
	if err := tx.QueryRow(ctx, schemaSQL).Scan(&e.Schema); err != nil {
		return 0, err
	}
	if e.Facts, err = readFacts(ctx, tx, core.TenantID(e.TenantID)); err != nil {
		return 0, err
	}
	e.Rows = map[string]int64{}
	for _, t := range tables {
		var rows int64
		if err := tx.QueryRow(ctx, t.countSQL(), tenant).Scan(&rows); err != nil {
			return 0, err
		}
		e.Rows[t.Name], count = rows, count+rows
	}
	results, err := verify.InTenant(ctx, tx)
	if err != nil {
		return 0, err
	}
	e.Differences = differences(results)
	return count, e.readNumbers(ctx, tx)
}

func readFacts(ctx context.Context, tx pgx.Tx, tenant core.TenantID) (Facts, error) {
	rows, err := tx.Query(ctx, factsSQL, pgx.NamedArgs{"tenant_id": int64(tenant)})
	if err != nil {
		return Facts{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Facts])
}

// write writes the rows of a table, one after the other as they arrive.
func (e *export) write(ctx context.Context, tx pgx.Tx, t table, count int) error {
	name, err := json.Marshal(t.Name)
	if err != nil {
		return err
	}
	rows, err := tx.Query(ctx, t.selectSQL(), pgx.NamedArgs{"tenant_id": e.TenantID})
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := e.out.row(name, rows.RawValues()[0]); err != nil {
			return err
		}
		e.progress(int(e.out.rows), count)
	}
	return rows.Err()
}
