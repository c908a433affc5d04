package web_test

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/coupon"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/dbtest"
	"example.com/loyalty/core/importing"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/link"
	"example.com/loyalty/core/location"
	"example.com/loyalty/core/notification"
	"example.com/loyalty/core/reward"
	"example.com/loyalty/core/sandbox"
	"example.com/loyalty/core/shoptest"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/token"
	"example.com/loyalty/core/transaction"
	"example.com/loyalty/core/walkin"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web"
	"example.com/loyalty/web/admin"
	"example.com/loyalty/web/admin/people"
	"example.com/loyalty/web/host"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/platform"
	"example.com/loyalty/web/portal"
	"example.com/loyalty/web/till"
	"example.com/loyalty/web/webtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// product is a business with records of each kind, and all pages of the product.
type product struct {
	shoptest.Shop
	pages http.Handler
}

func newProduct(t *testing.T) *product {
	t.Helper()
	d, log := dbtest.OwnDB(t), slog.New(slog.DiscardHandler)
	s := &product{Shop: shoptest.In(t, d)}
	names := webtest.Names(t)
	kit := func(panel string) *page.Kit {
		config := webtest.Config(t, d)
		config.Panel, config.AddressKey, config.Suspension = panel, host.LimitKey, s.Tenants.FindSuspension
		return page.New(config)
	}
	shared := webtest.Config(t, d)
	openapi, err := os.ReadFile("../api/openapi.json")
	s.Check(err)
	quiet := func() string { return "" }
	s.pages = web.New(web.Config{
		Names: names, Description: openapi,
		Till:    till.New(kit(links.Panel), s.Services),
		Tenants: admin.New(kit(links.Panel), s.Services, people.API{Base: webtest.Base, RecordScope: token.TransactionsWrite}),
		Portal: portal.New(portal.Config{
			Services: s.Services,
			Limits:   portal.NewLimits(d.Now, nil), AddressKey: host.LimitKey,
			Names: names, Tenant: shared.Tenant, Address: shared.Address, Now: d.Now, Log: log,
		}),
		Platform: platform.New(kit(links.Platform), platform.Config{
			Services: s.Services, Jobs: s.Jobs, Requests: []string{"GET /api/v1/customers"}, MailTrouble: quiet, LimitTrouble: quiet, Names: names,
			Sandbox: sandbox.Maker{Services: s.Services, DB: d, Keys: dbtest.Keys(), BaseURL: webtest.Base, TenantURL: names.Tenant},
		}),
		API:     http.NotFoundHandler(),
		Gate:    web.NewGate(d.Size()),
		Address: shared.Address, RequestID: host.RequestID(nil),
		Exists:  func(context.Context, string) (bool, error) { return true, nil },
		Ready:   func(context.Context) (string, error) { return "", nil },
		Observe: func(web.Answered) {},
		Now:     time.Now, Log: log,
	})
	s.fill()
	return s
}

const unusedToken = "Unused token"

// fill adds records of each kind, in the states in which their pages offer different things.
func (s *product) fill() {
	s.T.Helper()
	ctx, by := s.T.Context(), s.By
	anna, bo, duplicate := s.AddCustomer(shoptest.Anna(shoptest.Phone())), s.Customer(), s.Customer()
	gone := s.AddCustomer(customer.New{FirstName: "Inga", LastName: "Berg", Phone: shoptest.Phone(), Email: "inga@example.com"})
	s.Must(s.Customers.Edit(ctx, by, gone.ID, customer.Edit{Status: core.Set(string(customer.Inactive))}))
	s.Must(s.Customers.Edit(ctx, by, anna.ID, customer.Edit{Email: core.Set("anna@example.com")}))
	s.Must(s.Customers.Unsubscribe(ctx, by, bo.ID))
	s.Check(s.Customers.AddTag(ctx, by, anna.ID, "Regular"))
	s.Must(core.Result(s.Merging.Merge(ctx, by, anna.ID, duplicate.ID, nil, nil)))
	for _, name := range []string{"Harbour", "Closed"} {
		s.Must(core.Result(s.Locations.Add(ctx, by, location.New{Name: name}, nil)))
	}
	kind := s.Points(100)
	s.Sale(anna.ID, kind, 100_000)
	s.VoidSale(s.Sale(bo.ID, kind, 1250).ID)
	_, err := core.Result(s.Tokens.Create(ctx, by, token.New{Name: unusedToken, Scopes: &[]string{string(token.TransactionsWrite)}}, nil))
	s.Check(err)
	for range 6 {
		s.Adjust(anna.ID, ledger.Points, 1)
	}

	mug, bun := s.Reward(5, new(int64(3))), s.Reward(5, nil)
	s.Must(s.Rewards.Edit(ctx, by, mug, reward.Edit{Picture: core.Set(shoptest.Picture())}))
	s.Redeem(anna.ID, mug)
	s.VoidRedemption(s.Redeem(anna.ID, bun).ID)
	s.Must(core.Result(s.Rewards.Fulfil(ctx, by, s.Redeem(anna.ID, bun).ID, nil)))
	s.Must(s.Rewards.Edit(ctx, by, s.Reward(9, new(int64(0))), reward.Edit{Active: core.Set(false)}))

	spring := s.Coupon(coupon.New{Name: "Spring", BenefitType: "points", BenefitValue: new(int64(5)), MaxPerCustomer: new(int64(9))}).ID
	s.Voucher(spring, anna.ID)
	s.RedeemVoucher(s.Voucher(spring, anna.ID))
	_, err = s.Coupons.Send(ctx, by, spring, coupon.Send{Segment: coupon.All, At: new(s.DB.Now().Add(time.Hour)), FormKey: "later"})
	s.Check(err)

	i, err := s.Imports.Upload(ctx, by, importing.File{Name: "customers.csv", FormKey: "one", Content: strings.NewReader("name,phone\nAnna Lindqvist,1\nElsa Berg,070 174 06 99\n")})
	s.Check(err)
	i, err = s.Imports.Check(ctx, by, i.ID, importing.Mapping{Columns: []importing.Field{importing.FullNameField, importing.PhoneField}, Header: 1})
	s.Check(err)
	s.Must(s.Imports.Work(ctx, by, i.ID, i.Attempt))

	s.Must(core.Result(s.Staff.Invite(ctx, by, staff.New{Role: core.Manager, Name: "Invited", Email: "invited@example.com"}, nil)))
	s.Must(s.Notifications.EditSettings(ctx, by, notification.SettingsEdit{StockLow: core.Set(int64(10))}))
	s.Check(s.Notifications.Check(ctx, by.Tenant))
	s.Exec(`
		insert into loyalty.invoice (tenant_id, currency, lines, amount_cents, tax_cents, total_cents, period_start, period_end, created_at,
			number, status, issued_at, due_at, issuer, recipient)
		values ($1, 'EUR', '[]', 4900, 0, 4900, '2026-01-01', '2026-01-31', now(), 1, 'issued', now(), now(), '{}', '{}')`, by.Tenant.ID)
	s.Must(core.Result(s.Walkins.Complete(ctx, by, "till", walkin.Sale{CustomerID: anna.ID, Sold: &transaction.Sale{TransactionTypeID: kind.ID, SpendAmountCents: 900}, Rewards: []core.ID{bun}}, nil, nil)))
}

// browser is a browser at the host of the business, signed in with a role.
func (s *product) browser(role core.Role) *webtest.Browser {
	b := webtest.New(s.T, s.pages, s.By.Tenant)
	if role != "" {
		b.SignIn(s.DB, s.As(role).By)
	}
	return b
}

// superAdmin is a browser at the base host, signed in as a super-admin.
func (s *product) superAdmin() *webtest.Browser {
	person := dbtest.Admin(s.T, s.DB)
	s.Exec("update loyalty.credential set totp_secret = 'sealed' where staff_id = $1", person.StaffID)
	b := webtest.New(s.T, s.pages, core.Tenant{})
	b.SignIn(s.DB, person)
	return b
}

// links are the pages that open from links in e-mails and on paper.
func (s *product) links() []string {
	s.T.Helper()
	anna := s.AddCustomer(customer.New{FirstName: "Anna", LastName: "Lind", Phone: shoptest.Phone(), Email: "lind@example.com"})
	card, err := s.Walkins.CardToken(s.By.Tenant.ID, anna)
	s.Check(err)
	autumn := s.Coupon(coupon.New{Name: "Autumn", BenefitType: "points", BenefitValue: new(int64(5))}).ID
	held, err := s.Coupons.FindVoucher(s.T.Context(), s.By, s.Voucher(autumn, anna.ID))
	s.Check(err)
	voucher, err := s.Coupons.VoucherToken(s.By.Tenant.ID, held)
	s.Check(err)
	unsubscribing, err := s.Links.Token(link.Unsubscribe, s.By.Tenant.ID, anna.ID, 0)
	s.Check(err)
	invited := s.Inbox.To("invited@example.com")[0].(auth.InvitationEmail)
	shown, err := s.Walkins.ShowSale(s.T.Context(), s.By, "till", walkin.Offer{TransactionTypeID: s.Points(100).ID, SpendAmountCents: 900}, nil)
	s.Check(err)
	return []string{"/card/" + card, "/v/" + voucher, "/unsubscribe/" + unsubscribing, "/admin/invitation/" + invited.Secret, "/w/" + shown.Code}
}

// "No page offers what its reader may not open": every link, form and part of every page, as each role. What a form
// sends may be refused for what it says, but not for who sends it. Nor is it named, in a choice or a suggestion: a token
// that has done nothing is named to owners, and to super-admins in their log.
func TestNoPageOffersWhatItsReaderMayNotOpen(t *testing.T) {
	t.Parallel()
	inside := []string{"/admin", "/till", "/"}
	for _, reader := range []struct {
		who   string
		open  func(s *product) (b *webtest.Browser, from []string)
		kinds int // of pages and forms that they are offered, at least
	}{
		{"a visitor", func(s *product) (*webtest.Browser, []string) {
			return s.browser(""), append(s.links(), "/", "/join", "/w", "/admin/sign-in")
		}, 25},
		{"a stranger at the base host", func(s *product) (*webtest.Browser, []string) {
			return webtest.New(t, s.pages, core.Tenant{}), []string{"/", "/docs", "/platform/sign-in"}
		}, 25},
		{"a cashier", func(s *product) (*webtest.Browser, []string) { return s.browser(core.Cashier), inside }, 60},
		{"a manager", func(s *product) (*webtest.Browser, []string) { return s.browser(core.Manager), inside }, 200},
		{"an owner", func(s *product) (*webtest.Browser, []string) { return s.browser(core.Owner), inside }, 250},
		{"a super-admin", func(s *product) (*webtest.Browser, []string) { return s.superAdmin(), []string{"/platform"} }, 60},
	} {
		t.Run(reader.who, func(t *testing.T) {
			t.Parallel()
			b, from := reader.open(newProduct(t))
			b.T = t
			kinds, named := map[string]bool{}, ""
			for _, o := range b.Walk(from...) {
				kinds[o.Kind()] = true
				if strings.Contains(o.Body, unusedToken) {
					named = o.Path
				}
				switch {
				case o.Path == "/till/last": // which says that there is none yet
				case o.Status == http.StatusForbidden, o.Status == http.StatusNotFound && o.Method == http.MethodGet, o.Status >= http.StatusInternalServerError:
					t.Errorf("%s offers %s %s: %d", o.On, o.Method, o.Path, o.Status)
				case b.Person.Role != "" && strings.Contains(o.To, "/sign-in") && !strings.HasSuffix(o.Path, "/sign-out"):
					t.Errorf("%s offers %s %s, which leads to the sign-in", o.On, o.Method, o.Path)
				}
			}
			if (named != "") != (b.Person.Role == core.Owner || b.Person.Role == core.SuperAdmin) {
				t.Errorf("a token that has done nothing is named: %q", named)
			}
			if len(kinds) < reader.kinds {
				t.Errorf("only %d kinds of pages and forms were offered", len(kinds))
			}
		})
	}
}
