// Package verify checks the data of all tenants: it recomputes balances, counts and other derived values
// from the records. It reads one snapshot as the owner of the database, without indexes, because it
// doesn't trust indexes and constraints. A job runs the checks every night and stores their results.
package verify

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Result is the result of one check.
type Result struct {
	Check    string   `json:"check"`              // a sentence that must be true
	Counted  int64    `json:"counted"`            // number of checked records
	Wrong    int64    `json:"wrong"`              // number of records for which it is false
	Examples []string `json:"examples,omitempty"` // tenant and ID of up to five wrong records
}

// check is a sentence that must be true, and the statement that judges it.
type check struct{ claim, sql string }

// The checks, in the order of the results. A new table with derived values needs new checks.
var checks = slices.Concat(recordChecks, invoiceChecks)

// What the records of each tenant must fulfil by themselves.
var recordChecks = []check{
	{"Every customer has an account, and every account a customer.", accountSQL},
	{"Every balance is the sum of its entries.", balanceSQL},
	{"Every account's count of entries is right.", entriesSQL},
	{"Every customer's visits and spend are those of their completed sales, less refunds.", figuresSQL},
	{"The entries of an account are numbered 1, 2, 3 … without a gap.", numberSQL},
	{"Every entry leaves the balance before it plus its amount.", chainSQL},
	{"Nothing but a reversal, a refund or a merge takes a balance below zero.", belowZeroSQL},
	{"Every entry adds or takes away as its kind does.", signSQL},
	{"No cause is posted twice in the same way.", onceSQL},
	{"Every sale's award was posted to its customer, in its unit and amount, and no other was.", awardSQL},
	{"Every sale's award is its base and what a promotion and a level added, or less where a cap reduced it.", partsSQL},
	{"Every account's sums for levels are those of its completed sales.", levelSumsSQL},
	{"No customer's level is below what they have earned.", levelEarnedSQL},
	{"Every customer's changes of level follow one another, and the last one is the level that they have.", levelChainSQL},
	{"Every voided sale's award, less its refunds, was taken back from its customer, and the points and stamps of every voucher that is valid again, and no others.", reversalSQL},
	{"No award or reversal is older than its sale, and every award ends on its sale's last day.", orderSQL},
	{"Every refund's award was taken once, and no other was.", saleRefundSQL},
	{"Every sale was refunded by what its refunds say, and none above its spend.", refundedSQL},
	{"Every lot is what the entries put into it and took from it.", lotSQL},
	{"An account's lots add up to its balance, or to nothing below zero.", lotsSQL},
	{"No account's next expiry is later than its first lot.", nextSQL},
	{"No point is left of a day that ended before the last run.", dayOverSQL},
	{"No more was returned after voids than had expired.", returnedSQL},
	{"Every business's points and stamps end by its own rules.", sharedSQL},
	{"What had expired was returned only when its award was taken back, and no more than that.", takenBackSQL},
	{"Every merge took a balance from one customer and gave it to another, and no other entry did.", mergeSQL},
	{"A merged customer has no balance, sale, redemption or voucher, and leads to one who wasn't merged.", mergedSQL},
	{"Every sale's award is of its rule's unit and no other.", unitSQL},
	{"Every voided sale, and no other, has the time of that: after its creation.", voidedSQL},
	{"Every sale belongs to a customer, a type and a location of its tenant.", saleSQL},
	{"The ID of every sale and redemption contains its time.", idSQL},
	{"Every redemption's cost was taken from its customer once, and no other was.", costSQL},
	{"Every voided redemption's cost was given back once, and no other's.", refundSQL},
	{"Every reward and voucher of a checkout is of its customer, and used with its sale unless that was undone.", itemSQL},
	{"Every redeemed voucher's points and stamps were given to its customer once, and no others were.", benefitSQL},
	{"Every redeemed voucher for a reward has its redemption, its customer's and at no cost, and no other redemption costs nothing but a voided one of a voucher that is valid again.", freeSQL},
	{"Every redeemed voucher, and no other, has the time of that: after its creation and before its expiry.", redeemedSQL},
	{"Every coupon's count of redeemed vouchers is right and within its limit.", capSQL},
	{"No customer has more vouchers of a coupon than its limit, unless a merge brought them.", holdingSQL},
	{"Every send made as many vouchers as it counts, of the members it counts.", sendSQL},
	{"Every send's count of redeemed vouchers is right, and so is their expiry.", sendVouchersSQL},
	{"Every send's counts of mails are right, and it is done when none is queued.", sendMailsSQL},
	{"Every PIN that was completed has its sale, of its customer, and no sale has two.", pinSQL},
	{"Every voucher belongs to a customer, a coupon and a send of that coupon, of its tenant.", voucherSQL},
	{"No external reference names two sales of a tenant.", referenceSQL},
	{"No phone number belongs to two customers of a tenant.", phoneSQL},
	{"No e-mail address belongs to two customers of a tenant.", emailSQL},
	{"No external ID belongs to two customers of a tenant.", externalSQL},
	{"No further phone number, e-mail address or external ID is another customer's, and each leads to one who wasn't merged or erased.", furtherKeySQL},
	{"Every day that was counted has the sales of its locations, types and sources.", daySalesSQL},
	{"Every day that was counted has the sales of its hours.", dayHourSQL},
	{"Every day that was counted has the customers who came, by when they came before.", dayVisitSQL},
	{"Every day that was counted has what each person and token recorded.", dayStaffSQL},
	{"Every day that was counted has what its sales earned by each rule.", dayRuleSQL},
	{"Every day that was counted has its redemptions and vouchers.", dayUseSQL},
	{"Every day that was counted has what changed balances and levels, and its new customers.", dayFlowSQL},
	{"Every customer's year, and the groups of customers, have the sales of that year.", yearSQL},
	{"Every API token belongs to the tenant of its person.", tokenSQL},
	{"Every invitation is for a person of its tenant.", invitationSQL},
	{"Every tenant has an owner.", ownerSQL},
}

// What the invoices of all tenants must fulfil together.
var invoiceChecks = []check{
	{"Every invoice's total is the sum of its lines plus tax.", invoiceSQL},
	{"Invoices are numbered 1, 2, 3 … without a gap, up to the number that was issued last.", invoiceNumberSQL},
	{"No day of a tenant is billed twice.", periodSQL},
	{"Everything that a tenant was billed is on its invoices once, or waits for the next one.", billedSQL},
}

// checkRow is the only row of a check's statement.
type checkRow struct {
	Counted int64
	Wrong   int64
	Tenants []int64 // of the examples; 0: the platform
	IDs     []string
}

// Run runs all checks in one snapshot. Wrong records are in the results; an error means that a check could
// not run.
func Run(ctx context.Context, d *db.DB) (results []Result, err error) {
	err = db.Snapshot(ctx, d, func(tx pgx.Tx) error {
		if err := db.RequireOwner(ctx, tx); err != nil {
			return err
		}
		results, err = runIn(ctx, tx)
		return err
	})
	return results, err
}

// runIn runs all checks in a snapshot.
func runIn(ctx context.Context, tx pgx.Tx) ([]Result, error) {
	return judge(ctx, tx, readEverythingSQL, checks)
}

// InTenant runs the checks of a tenant's records in a transaction that has entered it: the policies show no others.
func InTenant(ctx context.Context, tx pgx.Tx) ([]Result, error) {
	return judge(ctx, tx, readTenantSQL, recordChecks)
}

// judge runs checks after the settings under which they read.
func judge(ctx context.Context, tx pgx.Tx, settingsSQL string, checks []check) ([]Result, error) {
	if _, err := tx.Exec(ctx, settingsSQL); err != nil {
		return nil, err
	}
	results := make([]Result, 0, len(checks))
	for _, check := range checks {
		rows, err := tx.Query(ctx, check.sql)
		if err != nil {
			return nil, fmt.Errorf("verify %q: %w", check.claim, err)
		}
		row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[checkRow])
		if err != nil {
			return nil, fmt.Errorf("verify %q: %w", check.claim, err)
		}
		results = append(results, Result{check.claim, row.Counted, row.Wrong, row.examples()})
	}
	return results, nil
}

func (r checkRow) examples() []string {
	var examples []string
	for i, id := range r.IDs {
		where := "platform"
		if r.Tenants[i] != 0 {
			where = fmt.Sprintf("tenant %d", r.Tenants[i])
		}
		examples = append(examples, where+": "+readable(id))
	}
	return examples
}

// readable returns an ID as pages show it: a ULID of 26 characters, or a number.
func readable(id string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(b) != len(core.ID{}) {
		return id
	}
	return core.ID(b).String()
}
