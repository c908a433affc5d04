// Package verify recomputes what the database says of itself: every balance from
// its entries, and every "once" from the rows it speaks of. It reads one snapshot
// of all tenants, as the owner of the database, and trusts no index and no
// constraint: those are part of what is verified. A job does so every night and keeps
// what it found.
package verify

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// Result tells what one check found.
type Result struct {
	Check    string   `json:"check"`              // what must hold, as a sentence
	Counted  int64    `json:"counted"`            // how many records were looked at
	Wrong    int64    `json:"wrong"`              // of how many it does not hold
	Examples []string `json:"examples,omitempty"` // up to five of those: their tenant and id
}

// The checks, in the order they are reported. A migration that adds a table with a
// meaning of its own adds its checks here.
var checks = []struct{ claim, sql string }{
	{"Every customer has an account, and every account a customer.", accountSQL},
	{"Every balance is the sum of its entries.", balanceSQL},
	{"Every account knows how many entries it has.", entriesSQL},
	{"The entries of an account are numbered 1, 2, 3 … without a gap.", numberSQL},
	{"Every entry leaves the balance before it plus its amount.", chainSQL},
	{"Nothing but a reversal takes a balance below zero.", belowZeroSQL},
	{"Every entry adds or takes away as its kind does.", signSQL},
	{"No cause is posted twice in the same way.", onceSQL},
	{"Every sale's award was posted to its customer, in its unit and amount, and no other was.", awardSQL},
	{"Every voided sale's award was taken back from its customer, and no other sale's.", reversalSQL},
	{"No award or reversal is older than its sale.", orderSQL},
	{"Every sale's award is of its rule's unit and no other.", unitSQL},
	{"Every voided sale, and no other, says when that was: after it was made.", voidedSQL},
	{"Every sale belongs to a customer, a type and a location of its tenant.", saleSQL},
	{"Every id of a sale and of a redemption was made at its instant.", idSQL},
	{"Every redemption's cost was taken from its customer once, and no other was.", costSQL},
	{"Every voided redemption's cost was given back once, and no other's.", refundSQL},
	{"Every redeemed voucher's points and stamps were given to its customer once, and no others were.", benefitSQL},
	{"Every redeemed voucher for a reward has its redemption, its customer's and at no cost, and no other redemption costs nothing.", freeSQL},
	{"Every redeemed voucher, and no other, says when that was: after it was made and before it expired.", redeemedSQL},
	{"Every coupon knows how many of its vouchers were redeemed, and they are no more than may be.", capSQL},
	{"Nobody holds more vouchers of a coupon than they may.", holdingSQL},
	{"Every send made as many vouchers as it counts, of the members it counts.", sendSQL},
	{"Every send knows how many of its vouchers were redeemed, and when all of them expire.", sendVouchersSQL},
	{"Every send knows which of its vouchers were mailed, and is done when none is queued.", sendMailsSQL},
	{"Every PIN that was completed has its sale, of its customer, and no sale has two.", pinSQL},
	{"Every voucher belongs to a customer, a coupon and a send of that coupon, of its tenant.", voucherSQL},
	{"No external reference names two sales of a tenant.", referenceSQL},
	{"No phone number belongs to two customers of a tenant.", phoneSQL},
	{"No e-mail address belongs to two customers of a tenant.", emailSQL},
	{"Every API token belongs to the tenant of its person.", tokenSQL},
	{"Every invitation is for a person of its tenant.", invitationSQL},
	{"Every tenant has an owner.", ownerSQL},
	{"Every invoice's total is the sum of its lines plus tax.", invoiceSQL},
	{"Invoices are numbered 1, 2, 3 … without a gap, up to the number that was issued last.", invoiceNumberSQL},
	{"No day of a tenant is billed twice.", periodSQL},
	{"What a tenant was billed is on its invoices, once: nothing more, and what is left waits.", billedSQL},
}

// checkRow is the one row of each statement.
type checkRow struct {
	Counted int64
	Wrong   int64
	Tenants []int64 // of the examples; 0 is the platform
	IDs     []string
}

// Run checks everything, in one snapshot. What it finds wrong is in the results;
// an error means that it could not look.
func Run(ctx context.Context, d *db.DB) (results []Result, err error) {
	err = db.AsOwner(ctx, d, func(tx pgx.Tx) error {
		results, err = runIn(ctx, tx)
		return err
	})
	return results, err
}

// runIn checks everything that a snapshot shows.
func runIn(ctx context.Context, tx pgx.Tx) ([]Result, error) {
	if _, err := tx.Exec(ctx, readEverythingSQL); err != nil {
		return nil, err
	}
	results := make([]Result, 0, len(checks))
	for _, check := range checks {
		rows, err := tx.Query(ctx, check.sql)
		if err != nil {
			return nil, fmt.Errorf("verify %q: %w", check.claim, err)
		}
		f, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[checkRow])
		if err != nil {
			return nil, fmt.Errorf("verify %q: %w", check.claim, err)
		}
		results = append(results, Result{check.claim, f.Counted, f.Wrong, f.examples()})
	}
	return results, nil
}

func (f checkRow) examples() []string {
	var examples []string
	for i, id := range f.IDs {
		where := "platform"
		if f.Tenants[i] != 0 {
			where = fmt.Sprintf("tenant %d", f.Tenants[i])
		}
		examples = append(examples, where+": "+readable(id))
	}
	return examples
}

// readable is an id as people see it: 26 characters, or a number as it is.
func readable(id string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(b) != len(core.ID{}) {
		return id
	}
	return core.ID(b).String()
}
