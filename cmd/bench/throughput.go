package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/valyala/fasthttp"

	"example.com/loyalty/core"
	"example.com/loyalty/core/sample"
	"example.com/loyalty/core/sandbox"
)

// turns is how often each scenario of a row is measured.
const turns = 3

// Variants of a row. Without one, it is as fast as possible, for one business.
const (
	steady  = "at 500/s"
	delayed = "with 5 ms to the database"
	small   = "for 1000 businesses"
	ending  = "with a last day" // of the points that sales earn
	knowing = "by level"        // with a cap for each customer's day, and more for first visits
	limited = "with uses"       // of a promotion, which are counted for each customer: such sales are recorded alone
)

// usualRows are measured unless others are named. Small businesses come last: with them, PostgreSQL expects few rows
// of every business.
var usualRows = []string{
	"record 32 " + steady,
	"record 1", "record 32", "record 32 " + ending, "record 32 " + knowing, "record 128",
	"read 1", "read 32", "read 128",
	"both 32",
	"record 32 " + delayed, "read 32 " + delayed,
	"record 32 " + small, "read 32 " + small,
}

// What is added to the name of a row for what the product is compared with, besides pgbench: the earlier build,
// the bare handler, and the product itself where points never end or awards are of no customer's own.
const (
	before  = " before"
	bare    = " " + bareCommand
	without = ", or none"
	plainly = ", or by the type alone"
)

// Scripts of pgbench on the lean tables.
const (
	leanSingle = "lean-single"
	leanBatch  = "lean-batch"
)

// ratioGoals are the least ratios of the product's rate to that of what it is compared with.
var ratioGoals = map[string]float64{
	"record 32" + before:              2.5,
	"record 128" + before:             4,
	"record 32 with lean-single.sql":  1,
	"record 128 with lean-single.sql": 1.5,
	"read 32" + bare:                  0.6,
	"read 128" + bare:                 1,
	"record 1" + before:               0.97,
	"record 32 " + ending + before:    0.97,
	"record 32 " + ending + without:   0.97,
	"record 32 " + knowing + before:   0.85,
	"record 32 " + knowing + plainly:  0.85,
	"read 1" + before:                 0.97,
	"record 32 " + small + before:     1,
	"read 32 " + small + before:       1,
}

// measureThroughput measures recording and reading at several numbers of connections, by turns with an
// earlier build, pgbench and the bare handler. Meanwhile the product's own process does the work that one process does for
// all, which would cost the first contender a twentieth of its rate.
func (b *bench) measureThroughput(ctx context.Context) {
	rows := slices.DeleteFunc(slices.Clone(usualRows), func(name string) bool {
		kind, _, _ := strings.Cut(name, " ")
		return b.row != "" && b.row != kind
	})
	if len(rows) == 0 {
		rows = []string{b.row}
	}
	lean := b.createLean(ctx)
	var results []result
	for _, name := range rows {
		results = append(results, b.byTurns(ctx, turns, b.throughput(ctx, name, lean))...)
	}
	printTable("throughput", results)
}

// withoutRules names the same business without the rules of a variant.
var withoutRules = map[string]string{ending: without, knowing: plainly, limited: plainly}

// rulesOf returns what sets the rules of a variant, and what takes them away; nil: it has none.
func (b *bench) rulesOf(variant string) (set, remove func(context.Context)) {
	switch variant {
	case ending:
		return func(ctx context.Context) { b.letPointsEnd(ctx, b.business, 12) }, func(ctx context.Context) { b.letPointsEnd(ctx, b.business, 0) }
	case knowing:
		return func(ctx context.Context) { b.letCustomersRise(ctx, b.business, true) }, func(ctx context.Context) { b.letCustomersRise(ctx, b.business, false) }
	case limited:
		return func(ctx context.Context) { b.letUsesCount(ctx, b.business, true) }, func(ctx context.Context) { b.letUsesCount(ctx, b.business, false) }
	}
	return nil, nil
}

// throughput returns a row by its name: the build to measure and what it is compared with. The earlier build serves the
// same database, because it can serve the new schema.
func (b *bench) throughput(ctx context.Context, name, lean string) (row []scenario) {
	kind, rest, _ := strings.Cut(name, " ")
	connections, variant, _ := strings.Cut(rest, " ")
	url, businesses := b.databaseURL, []*business{b.business}
	switch variant {
	case delayed:
		url = b.delayedURL(ctx)
	case small:
		businesses = b.createSmallBusinesses(ctx)
	}
	s := scenario{
		workers: sample.Must(strconv.Atoi(connections)), lasts: b.lasts / turns,
		goals: []goal{{figure: memory, most: 120}},
		request: func() *fasthttp.Request {
			d := businesses[rand.IntN(len(businesses))]
			if kind == "read" || kind == "both" && rand.IntN(2) == 0 {
				return b.read(d)
			}
			return b.record(d)
		},
	}
	if variant == steady {
		s.rate, s.goals = 500, append(s.goals, goal{figure: p99, most: 10})
	}
	add := func(suffix, databaseURL string, command ...string) {
		s.name, s.on = name+suffix, b.newServer(ctx, databaseURL, command...)
		row = append(row, s)
	}
	with, plain := b.rulesOf(variant)
	s.prepare = with
	add("", url, builtProduct, "serve")
	if plain != nil {
		s.prepare = plain // an earlier build may know no rule
		without := row[0]
		without.name, without.prepare = name+withoutRules[variant], plain
		row = append(row, without)
	}
	if b.against != "" {
		add(before, url, b.against, "serve")
	}
	if variant == "" && kind == "record" {
		product := row[0]
		row = append(row, product.with(leanSingle), product.with(leanBatch), product.with("record"))
	}
	if variant == "" && kind == "read" {
		add(bare, lean, sample.Must(os.Executable()), bareCommand)
	}
	for i := range row[1:] {
		compared := &row[i+1]
		compared.goals = nil
		if least, is := ratioGoals[compared.name]; is {
			compared.goals = []goal{{figure: ratio, least: least}}
		}
	}
	return row
}

// createSmallBusinesses creates a thousand businesses of 20 customers on first use.
func (b *bench) createSmallBusinesses(ctx context.Context) []*business {
	const count, customers = 1000, 20
	if b.smallBusinesses != nil {
		return b.smallBusinesses
	}
	token, secret, _ := strings.Cut(b.business.Tokens["all"], "|")
	rows := sample.Must(b.admin.Query(ctx, "select * from bench.fill_small($1, $2, $3::text::bigint)", count, customers, token))
	defer rows.Close()
	for rows.Next() {
		var tenant, typeID, tokenID int64
		sample.Must(0, rows.Scan(&tenant, &typeID, &tokenID))
		b.smallBusinesses = append(b.smallBusinesses, &business{
			Tenant: sandbox.Tenant{
				ID: core.TenantID(tenant), TransactionTypeID: typeID, Tokens: map[string]string{"all": fmt.Sprintf("%d|%s", tokenID, secret)},
			},
			customers: customers, buyers: customers, step: 1,
		})
	}
	sample.Must(0, rows.Err())
	return b.smallBusinesses
}

// createLean creates the lean tables in pgbench's database, whose URL it returns.
func (b *bench) createLean(ctx context.Context) string {
	url := b.cluster.AdminURL("pgbench")
	pool := sample.Must(pgxpool.New(ctx, url))
	defer pool.Close()
	sql := string(sample.Must(scripts.ReadFile("pgbench/lean.sql")))
	for statement := range strings.SplitSeq(strings.ReplaceAll(sql, ":tenant", fmt.Sprint(b.business.ID)), ";\n") {
		sample.Must(pool.Exec(ctx, statement))
	}
	return url
}
