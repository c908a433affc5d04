package transfer_test

import (
	"context"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/transfer"
)

// moved are the tables whose rows move. A new table with rows of tenants moves by itself: add it here if that is right,
// and to the tables that are left out, with the reason, if not.
var moved = []string{
	"account", "audit_entry", "billing_account", "category", "category_code", "checkout_item", "consent", "coupon",
	"coupon_send", "credential", "customer", "customer_import", "customer_import_chunk", "customer_import_problem",
	"customer_key", "customer_merge", "customer_tag", "idempotency", "invitation", "ledger_entry", "level",
	"level_change", "level_programme", "location", "logo_drawing", "lot", "notification", "notification_read",
	"notification_setting", "password_reset", "programme", "promotion", "recovery_code", "redemption", "refund",
	"reward", "reward_picture", "staff", "tenant", "tenant_look", "tenant_setup", "token", "transaction",
	"transaction_type", "unmapped_code", "voucher", "voucher_mail", "weekly_mail", "weekly_preference",
}

// asRoot runs fn in a transaction of the owner.
func asRoot(t *testing.T, url string, fn func(tx pgx.Tx) error) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if err := pgx.BeginFunc(t.Context(), conn, fn); err != nil {
		t.Fatal(err)
	}
}

func TestEachTableMovesOrIsLeftOut(t *testing.T) {
	t.Parallel()
	asRoot(t, dbtest.OwnURL(t), func(tx pgx.Tx) error {
		rows, _ := tx.Query(t.Context(), `
			select c.relname
			from pg_class c
			where relnamespace = 'loyalty'::regnamespace
				and relkind in ('r', 'p')
				and (relname = 'tenant' or exists (select from pg_attribute where attrelid = c.oid and attname = 'tenant_id'))
			order by 1`)
		all, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		listed := slices.Clone(moved)
		for name, reason := range transfer.LeftOut {
			if len(reason) < 20 {
				t.Errorf("%s is left out without a reason", name)
			}
			listed = append(listed, name)
		}
		slices.Sort(listed)
		if diff := cmp.Diff(listed, all); diff != "" {
			t.Errorf("tables with rows of tenants (-listed +in the database):\n%s", diff)
		}
		ordered, err := transfer.Tables(t.Context(), tx)
		if err != nil {
			return err
		}
		if ordered[0] != "tenant" {
			t.Errorf("the first table is %s", ordered[0])
		}
		slices.Sort(ordered)
		if diff := cmp.Diff(moved, ordered); diff != "" {
			t.Errorf("tables of a file (-listed +read):\n%s", diff)
		}
		return nil
	})
}

// kept are columns that look like numbers of tenants, people or tokens and are none.
var kept = map[string]string{
	"location.id":                     "unique in the tenant, and known to programs",
	"transaction_type.id":             "unique in the tenant, and known to programs",
	"transaction.location_id":         "a location's",
	"redemption.location_id":          "a location's",
	"transaction.transaction_type_id": "a transaction type's",
	"category.id":                     "unique in the tenant",
	"category_code.category_id":       "a category's",
	"promotion.id":                    "unique in the tenant, and known to programs",
	"promotion.level_id":              "a level's",
	"promotion.type_ids":              "those of transaction types",
	"promotion.location_ids":          "those of locations",
	"promotion.category_ids":          "those of categories",
	"transaction.promotion_id":        "a promotion's",
	"level.id":                        "unique in the tenant, and known to programs",
	"account.level_id":                "a level's",
	"account.level_by":                "how the level was got",
	"transaction.level_id":            "a level's",
	"reward.min_level_id":             "a level's",
	"coupon.min_level_id":             "a level's",
	"tenant.id":                       "the import chooses it",
	"tenant.plan_id":                  "the import chooses it",
	"audit_entry.request_id":          "a request's, as the log has it",
	"customer.external_id":            "a program's own",
}

// A column that names a tenant, a person or a token must follow when they get another number.
func TestEachNumberIsChanged(t *testing.T) {
	t.Parallel()
	looksLikeOne := regexp.MustCompile(`(^|_)(id|ids|by|caller|issuer|cause|person|owner|actor|staff|token)$`)
	asRoot(t, dbtest.OwnURL(t), func(tx pgx.Tx) error {
		rows, _ := tx.Query(t.Context(), `
			select c.relname, a.attname, format_type(a.atttypid, null) as type, array(
					select attname::text
					from pg_attribute
					where attrelid = c.oid
						and attnum > 0
				) as siblings
			from pg_class c
			join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
			where c.relnamespace = 'loyalty'::regnamespace
				and c.relname = any ($1)`, moved)
		columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
			Table, Name, Type string
			Siblings          []string
		}])
		found := 0
		for _, c := range columns {
			if c.Type != "bigint" && c.Type != "text" && c.Type != "bigint[]" && c.Type != "integer" || !looksLikeOne.MatchString(c.Name) {
				continue
			}
			found++
			expression, plain := transfer.ValueHere(c.Table, c.Name, c.Siblings)
			if _, isKept := kept[c.Table+"."+c.Name]; isKept == (expression != plain) {
				t.Errorf("%s.%s is written as %s: does it name a tenant, a person or a token?", c.Table, c.Name, expression)
			}
		}
		if found < 50 {
			t.Errorf("only %d columns found", found)
		}
		return err
	})
}

// The tables whose numbers are unique over all tenants are those whose primary key is a sequence's number.
func TestNumberedTables(t *testing.T) {
	t.Parallel()
	asRoot(t, dbtest.OwnURL(t), func(tx pgx.Tx) error {
		rows, _ := tx.Query(t.Context(), `
			select c.relname
			from pg_class c
			join pg_index i on i.indrelid = c.oid and i.indisprimary and i.indnkeyatts = 1
			join pg_attrdef d on d.adrelid = c.oid and d.adnum = i.indkey[0] and pg_get_expr(d.adbin, d.adrelid) like 'nextval%'
			where c.relname = any ($1)
				and c.relname <> 'tenant'
			order by 1`, moved)
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if diff := cmp.Diff(transfer.Numbered, names); diff != "" {
			t.Errorf("numbered tables (-known +in the database):\n%s", diff)
		}
		return err
	})
}
