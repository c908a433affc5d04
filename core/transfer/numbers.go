package transfer

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/db"
)

// numbered are the tables, besides the tenant's, whose numbers are unique over all tenants. A row keeps its number
// where it is free: links name the tenant's, an API token begins with its own, and two-step verification is sealed
// for the person's. Where another business has it, the row gets a new one, and all that name it follow.
var numbered = []string{"staff", "token"}

// numbers are the numbers here of rows of the file, by table and number there, as JSON for statements.
type numbers map[string]map[string]int64

// The parts of statements that turn a number there into the one here. A bigint must be of the file; a text may name
// what was deleted, which keeps its number. The super-admins of the other installation are no one here.
const (
	numberHere = `(@numbers::jsonb -> '%s' ->> %s::text)::bigint`
	textHere   = `coalesce(@numbers::jsonb -> '%s' ->> %s, %s)`

	actorHere = `case %[1]s
			when 'staff' then coalesce(@numbers::jsonb -> 'staff' ->> %[2]s, %[2]s)
			when 'token' then coalesce(@numbers::jsonb -> 'token' ->> %[2]s, %[2]s)
			when 'tenant' then @tenant_id::bigint::text
			when 'admin' then '0'
			else %[2]s end`
)

// special are the columns that have such numbers although their names don't show it, by table and column.
var special = map[string]string{
	"audit_entry.subject_id": fmt.Sprintf(actorHere, "r.subject_kind", "r.subject_id"),
	"checkout_item.actor_id": fmt.Sprintf(textHere, "staff", "r.actor_id", "r.actor_id"),
	"idempotency.caller":     `split_part(r.caller, ' ', 1) || ' ' || ` + fmt.Sprintf(actorHere, "split_part(r.caller, ' ', 1)", "split_part(r.caller, ' ', 2)"),
	"notification.cause":     `case when r.kind = 'staff_activity' then ` + fmt.Sprintf(textHere, "staff", "split_part(r.cause, ' ', 1)", "split_part(r.cause, ' ', 1)") + ` || ' ' || split_part(r.cause, ' ', 2) else r.cause end`,
	"token.revoked_at":       `case when ` + fmt.Sprintf(numberHere, "token", "r.id") + ` <> r.id then coalesce(r.revoked_at, @now::timestamptz) else r.revoked_at end`,
}

// valueHere returns the expression for the value of a column here, from the row r of the file.
func (t *table) valueHere(name string) string {
	if expression := special[t.Name+"."+name]; expression != "" {
		return expression
	}
	switch {
	case name == "tenant_id":
		return "@tenant_id::bigint"
	case name == "id" && slices.Contains(numbered, t.Name):
		return fmt.Sprintf(numberHere, t.Name, "r.id")
	case slices.Contains(numbered, strings.TrimSuffix(name, "_id")):
		return fmt.Sprintf(numberHere, strings.TrimSuffix(name, "_id"), "r."+quoted(name))
	case name == "actor_id" && t.has("actor_kind"):
		return fmt.Sprintf(actorHere, "r.actor_kind", "r.actor_id")
	}
	return "r." + quoted(name)
}

const takenSQL = `
	select n.number
	from unnest(@numbers::bigint[]) n (number)
	where case @kind
			when 'staff' then exists (select from loyalty.staff where id = n.number)
			when 'token' then exists (select from loyalty.token where id = n.number)
			else exists (select from loyalty.tenant where id = n.number)
		end
	order by n.number`

const drawSQL = `
	select nextval(@sequence::text::regclass)
	from generate_series(1, @count::bigint)`

const lastDrawnSQL = `
	select coalesce(pg_sequence_last_value(@sequence::text::regclass), 0)`

// maxGap bounds how far a sequence is moved on, beyond what any installation needs.
const maxGap = 50_000_000

// moveOn draws from a sequence until its numbers are above a given one. Drawing leaves no moment in which another
// transaction could get a number twice.
func moveOn(ctx context.Context, tx *db.Tx, sequence string, above int64) error {
	last, err := db.One[int64](ctx, tx, lastDrawnSQL, db.Args{"sequence": sequence})
	if err != nil || last >= above {
		return err
	}
	if above-last > maxGap {
		return fmt.Errorf("%w: it has the number %d", ErrDamaged, above)
	}
	_, err = db.Exec(ctx, tx, drawSQL, db.Args{"sequence": sequence, "count": above - last})
	return err
}

// find decides the numbers here, in a transaction of the platform. tokens are those that can't keep theirs.
func (n numbers) find(ctx context.Context, tx *db.Tx, h Header, sequences map[string]string) (tokens []int64, err error) {
	for _, kind := range numbered {
		there := h.Numbers[kind]
		taken, err := db.All[struct{ Number int64 }](ctx, tx, takenSQL, db.Args{"numbers": there, "kind": kind})
		if err != nil {
			return nil, err
		}
		// First: new numbers must differ from those that are kept.
		if err := moveOn(ctx, tx, sequences[kind], slices.Max(append(there, 0))); err != nil {
			return nil, err
		}
		n[kind] = map[string]int64{}
		for _, number := range there {
			n[kind][strconv.FormatInt(number, 10)] = number
		}
		fresh, err := db.All[struct{ Nextval int64 }](ctx, tx, drawSQL, db.Args{"sequence": sequences[kind], "count": len(taken)})
		if err != nil {
			return nil, err
		}
		for i, t := range taken {
			n[kind][strconv.FormatInt(t.Number, 10)] = fresh[i].Nextval
			if kind == "token" && slices.Contains(h.LiveTokens, t.Number) {
				tokens = append(tokens, t.Number)
			}
		}
	}
	return tokens, nil
}

// before returns the numbers there of a table, by the numbers here.
func (n numbers) before(kind string) map[int64]int64 {
	before := map[int64]int64{}
	for there, here := range n[kind] {
		before[here], _ = strconv.ParseInt(there, 10, 64) // find formatted it
	}
	return before
}

const numbersOfSQL = `
	select 'staff' as kind, id as number, false as live
	from loyalty.staff
	where tenant_id = @tenant_id
	union all
	select 'token', id, revoked_at is null and coalesce(expires_at > now(), true)
	from loyalty.token
	where tenant_id = @tenant_id
	order by 1, 2`

// readNumbers fills the numbers of a header.
func (h *Header) readNumbers(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, numbersOfSQL, pgx.NamedArgs{"tenant_id": h.TenantID})
	if err != nil {
		return err
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[struct {
		Kind   string
		Number int64
		Live   bool
	}])
	h.Numbers = map[string][]int64{}
	for _, n := range list {
		h.Numbers[n.Kind] = append(h.Numbers[n.Kind], n.Number)
		if n.Live {
			h.LiveTokens = append(h.LiveTokens, n.Number)
		}
	}
	return err
}
