package api_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
)

// shop is a fresh tenant on a server. Its records are created when a test first names them:
// fill("{anna}").
type shop struct {
	*server
	shoptest.Shop
	token string // with every ability
	other *shop  // another tenant, created when first used
	named map[string]string

	singles map[string]string // tokens with one ability each, by ability
}

func newShop(t testing.TB) *shop {
	t.Helper()
	return shopAt(t, sharedServer(t))
}

func shopAt(t testing.TB, o *server) *shop {
	t.Helper()
	s := &shop{server: o, Shop: shoptest.In(t, o.db), named: map[string]string{}}
	s.token = s.makeToken(token.Abilities...).Secret
	return s
}

// makeToken creates a token of the owner.
func (s *shop) makeToken(abilities ...token.Ability) token.Created {
	s.T.Helper()
	return makeToken(s.T, s.server, s.By, abilities...)
}

func makeToken(t testing.TB, o *server, by core.Actor, abilities ...token.Ability) token.Created {
	t.Helper()
	name, scopes := "Till", []string{}
	for _, a := range abilities {
		scopes = append(scopes, string(a))
	}
	made, err := core.Result(o.tokens.Create(context.Background(), by, token.New{Name: name, Scopes: &scopes}, nil))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// platformToken creates a super-admin's token.
func platformToken(t testing.TB, o *server) string {
	t.Helper()
	return makeToken(t, o, dbtest.Admin(t, o.db)).Secret
}

var (
	anna = customer.New{FirstName: "Anna", LastName: "Lindqvist", Phone: "070-174 06 05", Email: "Anna@example.com"}
	bo   = customer.New{FirstName: "Bo", LastName: "Ek", Phone: "+46 8 123 456 78"}
	cleo = customer.New{FirstName: "Cleo", LastName: "Falk", Phone: "0701740699", Email: "cleo@example.com"}
)

var blank = regexp.MustCompile(`\{[a-z_]+\}`)

// fill replaces names of records by their ids, and creates the records.
func (s *shop) fill(text string) string {
	s.T.Helper()
	return blank.ReplaceAllStringFunc(text, func(name string) string {
		if s.named[name] == "" {
			s.named[name] = s.make(name)
			dbtest.Tick(s.db)
		}
		return s.named[name]
	})
}

func (s *shop) make(name string) string {
	s.T.Helper()
	switch name {
	case "{anna}":
		return s.customer(anna)
	case "{bo}":
		return s.customer(bo)
	case "{inactive}":
		id := s.customer(cleo)
		s.must(s.Customers.Edit(context.Background(), s.By, s.parsed(id), customer.Edit{Status: core.Set("inactive")}))
		return id
	case "{erased}":
		id := s.customer(cleo)
		s.must(s.Privacy.Erase(context.Background(), s.By, s.parsed(id)))
		return id
	case "{points}":
		return s.saleType(transaction.NewType{Name: "Purchase", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1}})
	case "{stamps}":
		return s.saleType(transaction.NewType{Name: "Coffee", RuleType: ledger.Stamps, Rule: transaction.Rule{StampsPerTransaction: 1}})
	case "{from_ten}":
		return s.saleType(transaction.NewType{Name: "From ten", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1, MinSpendCents: 1000}})
	case "{capped}":
		return s.saleType(transaction.NewType{Name: "Capped", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1, MaxAward: new(int64(5))}})
	case "{lavish}":
		return s.saleType(transaction.NewType{Name: "Lavish", RuleType: ledger.Points, Rule: transaction.Rule{PointsPerUnit: 1_000_000_000, UnitCents: 1}})
	case "{closed_type}":
		id := s.saleType(transaction.NewType{Name: "Closed", RuleType: ledger.Points})
		number, _ := strconv.ParseInt(id, 10, 64)
		s.must(s.Sales.SetTypeActive(context.Background(), s.By, number, false))
		return id
	case "{harbour}", "{old_town}":
		l, err := core.Result(s.Locations.Add(context.Background(), s.By, location.New{Name: map[string]string{"{harbour}": "Harbour", "{old_town}": "Old town"}[name]}, nil))
		s.must(l, err)
		return strconv.FormatInt(l.ID, 10)
	case "{sale}":
		return s.sale("{anna}", "{points}", 1250)
	case "{stamp_sale}":
		return s.sale("{anna}", "{stamps}", 300)
	case "{voided}":
		id := s.sale("{anna}", "{points}", 700)
		s.VoidSale(s.parsed(id))
		return id
	case "{espresso}": // for 10 points, from a stock of 3
		return s.offer(reward.New{Name: "Espresso", PointsCost: new(int64(10)), Stock: new(int64(3))})
	case "{tenth_coffee}":
		return s.offer(reward.New{Name: "Tenth coffee", Description: "On us.", StampsCost: new(int64(9))})
	case "{sold_out}":
		return s.offer(reward.New{Name: "Mug", PointsCost: new(int64(10)), Stock: new(int64(0))})
	case "{withdrawn}":
		id := s.offer(reward.New{Name: "Cake", PointsCost: new(int64(10))})
		s.must(s.Rewards.SetActive(context.Background(), s.By, s.parsed(id), false))
		return id
	case "{redemption}", "{fulfilled}", "{taken_back}":
		s.fill("{sale}") // 12 points
		made := s.Redeem(s.id("{anna}"), s.id("{espresso}"))
		switch name {
		case "{fulfilled}":
			s.must(core.Result(s.Rewards.Fulfil(context.Background(), s.By, made.ID, nil)))
		case "{taken_back}":
			s.VoidRedemption(made.ID)
		}
		return made.ID.String()
	case "{coupon}": // for 5 points
		return s.coupon(coupon.New{Name: "Welcome back", BenefitType: "points", BenefitValue: new(int64(5))})
	case "{stamp_coupon}":
		return s.coupon(coupon.New{Name: "Two stamps", BenefitType: "stamps", BenefitValue: new(int64(2))})
	case "{tenth_off}":
		return s.coupon(coupon.New{
			Name: "A tenth off", Description: "Of anything.", BenefitType: "percent", BenefitValue: new(int64(10)),
			MaxPerCustomer: new(int64(2)), StartsAt: new(s.db.Now().Add(-time.Hour)), ExpiresAt: new(s.db.Now().Add(time.Hour)), VoucherValidDays: new(int64(30)),
		})
	case "{euro_off}":
		return s.coupon(coupon.New{Name: "One off", BenefitType: "amount", BenefitValue: new(int64(100))})
	case "{free_espresso}":
		return s.coupon(coupon.New{Name: "Espresso on us", BenefitType: "reward", BenefitRewardID: new(s.id("{espresso}"))})
	case "{free_mug}":
		return s.coupon(coupon.New{Name: "Mug on us", BenefitType: "reward", BenefitRewardID: new(s.id("{sold_out}"))})
	case "{first_come}":
		return s.coupon(coupon.New{Name: "First come", BenefitType: "points", BenefitValue: new(int64(5)), MaxRedemptions: new(int64(1))})
	case "{voucher}":
		return s.voucher("{coupon}", "{anna}")
	case "{redeemed}":
		return s.redeemed(s.voucher("{coupon}", "{anna}"))
	case "{spent}":
		return s.redeemed(s.voucher("{stamp_coupon}", "{anna}"))
	case "{expired}":
		return s.yesterday().voucher("{ended}", "{anna}")
	case "{ended}":
		return s.Later(-24 * time.Hour).Coupon(coupon.New{Name: "Yesterday", BenefitType: "points", BenefitValue: new(int64(5)), ExpiresAt: new(s.db.Now().Add(-time.Hour))}).ID.String()
	case "{switched_off}":
		id := s.voucher("{coupon}", "{anna}")
		s.must(s.Coupons.SetActive(context.Background(), s.By, s.id("{coupon}"), false))
		return id
	case "{too_late}":
		s.redeemed(s.voucher("{first_come}", "{bo}"))
		return s.voucher("{first_come}", "{anna}")
	case "{own_token}":
		id, _, _ := strings.Cut(s.token, "|")
		return id
	case "{spare_token}":
		return strconv.FormatInt(s.makeToken(token.ReportsRead).ID, 10)
	case "{colleague_token}":
		colleague := dbtest.Person(s.T, s.db, s.By, core.Owner)
		return strconv.FormatInt(makeToken(s.T, s.server, colleague).ID, 10)
	case "{anna_lower}":
		return strings.ToLower(s.fill("{anna}"))
	case "{missing}":
		return core.NewID(s.db.Now()).String()
	case "{host}":
		return domain
	case "{slug}":
		return s.By.Tenant.Slug
	case "{platform_token}":
		return platformToken(s.T, s.server)
	case "{tenant}":
		return fmt.Sprint(s.By.Tenant.ID)
	case "{new_slug}":
		return "new-" + s.By.Tenant.Slug
	case "{spare_plan}":
		return s.plan(false)
	case "{retired_plan}":
		return s.plan(true)
	case "{foreign_anna}", "{foreign_sale}", "{foreign_espresso}", "{foreign_coupon}", "{foreign_points}", "{foreign_own_token}":
		return s.stranger().fill("{" + name[len("{foreign_"):])
	}
	s.T.Fatalf("unknown record %s", name)
	return ""
}

func (s *shop) stranger() *shop {
	if s.other == nil {
		s.other = shopAt(s.T, s.server)
	}
	return s.other
}

// id returns the id of a record.
func (s *shop) id(name string) core.ID {
	s.T.Helper()
	return s.parsed(s.fill(name))
}

func (s *shop) parsed(text string) core.ID {
	s.T.Helper()
	id, err := core.ParseID(text)
	s.must(id, err)
	return id
}

// must fails the test if a use case refused.
func (s *shop) must(_ any, err error) {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
}

func (s *shop) customer(n customer.New) string {
	s.T.Helper()
	return s.AddCustomer(n).ID.String()
}

func (s *shop) saleType(n transaction.NewType) string {
	s.T.Helper()
	made, err := core.Result(s.Sales.AddType(context.Background(), s.By, n, nil))
	s.must(made, err)
	return strconv.FormatInt(made.ID, 10)
}

func (s *shop) offer(n reward.New) string {
	s.T.Helper()
	return s.AddReward(n).String()
}

func (s *shop) coupon(n coupon.New) string {
	s.T.Helper()
	return s.Coupon(n).ID.String()
}

// yesterday returns the shop a day ago, to send coupons that have expired since.
func (s *shop) yesterday() *shop {
	s.T.Helper()
	s.fill("{anna} {ended}")
	past := *s
	past.Shop = s.Later(-24 * time.Hour)
	return &past
}

// voucher sends a coupon to one customer.
func (s *shop) voucher(of, customer string) string {
	s.T.Helper()
	return s.Voucher(s.id(of), s.id(customer)).String()
}

func (s *shop) redeemed(voucher string) string {
	s.T.Helper()
	s.RedeemVoucher(s.parsed(voucher))
	return voucher
}

func (s *shop) sale(customer, kind string, cents int64) string {
	s.T.Helper()
	customer, kind = s.fill(customer), s.fill(kind)
	number, err := strconv.ParseInt(kind, 10, 64)
	s.must(number, err)
	made, err := core.Result(s.Sales.Record(context.Background(), s.By, transaction.Sale{
		CustomerID: s.parsed(customer), TransactionTypeID: number, SpendAmountCents: cents, Source: transaction.API,
	}, nil, nil))
	s.must(made, err)
	return made.ID.String()
}

// call makes a request, with names in path and body filled in.
func (s *shop) call(method, path, token, body string, headers ...string) answer {
	s.T.Helper()
	return s.server.call(s.T, method, s.fill(path), token, s.fill(body), headers...)
}

// rows counts the tenant's rows of a table.
func (s *shop) rows(table string) int {
	s.T.Helper()
	return shoptest.Query[int](s.Shop, "select count(*) from loyalty."+table+" where tenant_id = $1", s.By.Tenant.ID)
}

// quiet leaves out the tables that the running product's jobs write.
func quiet(tables ...string) []string {
	return slices.DeleteFunc(tables, func(table string) bool { return len(theProduct) > 0 && (table == "mail" || table == "coupon_send") })
}

// everything returns the counts of the tenant's rows in every table, to compare them later.
func (s *shop) everything() string {
	s.T.Helper()
	var text strings.Builder
	for _, table := range quiet("customer", "account", "ledger_entry", "transaction", "reward", "redemption", "coupon", "coupon_send", "voucher", "token", "audit_entry", "mail", "idempotency") {
		fmt.Fprintf(&text, "%s %d, ", table, s.rows(table))
	}
	return text.String()
}
