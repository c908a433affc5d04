package main

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/loyalty/core"
	"example.com/loyalty/core/demo"
	"example.com/loyalty/web/browsertest"
)

var screenshots = flag.String("screenshots", "", "write pictures of the pages into this directory instead of testing them")

// TestBrowser goes through the product in a real browser: one server with the demo, and
// one browser in which each test signs in as another person.
func TestBrowser(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t)
	c := cafe{server: newInstallation(t, "LOYALTY_RATE_TOKEN=0", "LOYALTY_RATE_IP=0").serve(), browser: b, waitingFiles: &sync.Mutex{}}
	c.records = c.recordsOf(t)
	for name, test := range map[string]func(*testing.T, cafe){
		"Pages":             testPages,
		"Day":               testDay,
		"NewBusiness":       testNewBusiness,
		"Setup":             testSetup,
		"SetupNoScript":     testSetupWithoutJavaScript,
		"SetupSkipped":      testSetupSkipped,
		"CountryConflict":   testCountryConflict,
		"Search":            testSearch,
		"Lists":             testLists,
		"Import":            testImport,
		"Amounts":           testAmounts,
		"Programme":         testProgramme,
		"ProgrammeNoScript": testProgrammeWithoutJavaScript,
		"Levels":            testLevels,
		"Terms":             testTerms,
		"RefusedForm":       testRefusedForm,
		"UnsentForm":        testUnsentForm,
		"Keyboard":          testKeyboard,
		"WideNames":         testWideNames,
		"HugeRecords":       testHugeRecords,
		"Dashboard":         testDashboard,
		"TwoFactor":         testTwoFactor,
		"GoneCustomers":     testGoneCustomers,
		"WayBack":           testWayBack,
		"WithoutJavaScript": testWithoutJavaScript,
		"Reference":         testReference,
		"Home":              testHome,
		"Docs":              testDocumentation,
		"DocsChoices":       testDocumentationChoices,
		"Send":              testSend,
		"VoucherPages":      testVoucherPages,
		"VoucherMail":       testVoucherMail,
		"RedeemVoucher":     testRedeemVoucher,
		"Card":              testCard,
		"CardReplaced":      testCardReplaced,
		"Branding":          testBranding,
		"Join":              testJoin,
		"Claim":             testClaim,
		"Jobs":              testJobs,
		"Charts":            testCharts,
		"LayoutShifts":      testLayoutShifts,
		"SlowConnection":    testSlowConnection,
		"Notifications":     testNotifications,
		"PlatformSignIn":    testPlatformSignIn,
		"Tenants":           testTenants,
		"PlatformInvoices":  testPlatformInvoices,
		"SendWithoutScript": testSendWithoutJavaScript,
		"TillPages":         testTillPages,
		"CurrencyChange":    testCurrencyChange,
		"TillDigits":        testTillDigits,
		"TillSale":          testTillSale,
		"TillDiscounts":     testTillDiscounts,
		"TillScanner":       testTillScanner,
		"TillStrayScans":    testTillStrayScans,
		"TillScansInFields": testTillScansInFields,
		"TillSecondEnter":   testTillSecondEnter,
		"TillFastTyping":    testTillFastTyping,
		"TillPaces":         testTillPaces,
		"TillShows":         testTillShows,
		"TillCamera":        testTillCamera,
		"TillNetwork":       testTillNetwork,
		"TillWithoutScript": testTillWithoutJavaScript,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, c)
		})
	}
}

// cafe is the demo as people see it.
type cafe struct {
	*server
	browser *browsertest.Browser
	records *strings.Replacer
	// An erasure discards files that wait to be imported, so tests do only one of the two at a time.
	waitingFiles *sync.Mutex
}

// address is where a host's pages are: of a tenant, or with "" of the platform.
func (c cafe) address(slug string) string {
	if slug == "" {
		return c.in.base
	}
	return strings.Replace(c.in.base, "localhost", slug+".localhost", 1)
}

// addresses are the e-mail addresses of the café's people, by what they may do.
var addresses = map[core.Role]string{
	core.Owner: "maja@cafearo.example", core.Manager: "emre@cafearo.example", core.Cashier: "linnea@cafearo.example",
}

// page is a tab of a stranger at the café's own host.
func (c cafe) page(t *testing.T) *browsertest.Page {
	t.Helper()
	return c.browser.NewPage(t, c.address(demo.Slug))
}

// signIn signs one of the café's people in.
func (c cafe) signIn(t *testing.T, p *browsertest.Page, role core.Role) {
	t.Helper()
	c.signInAs(t, p, addresses[role])
}

// signInAs signs a person in, on a device that knows its location.
func (c cafe) signInAs(t *testing.T, p *browsertest.Page, email string) {
	t.Helper()
	location := ask[int64](connect(t, c.in.url()), "select min(l.id) from loyalty.location l join loyalty.tenant t on t.id = l.tenant_id where t.slug = $1 and l.active", demo.Slug)
	p.SetCookie("__Host-till-location", strconv.FormatInt(location, 10))
	c.fillSignIn(t, p, email)
	if at := p.Path(); at != "/admin/customers" {
		t.Fatalf("the sign-in of %s leads to %s", email, at)
	}
}

// submitOf selects the submit button of the form whose action ends with this path.
func submitOf(path string) string {
	return fmt.Sprintf("form[action$=%q] [type=submit]:not([form])", path)
}

// linkTo selects the link whose address ends with this path.
func linkTo(path string) string { return fmt.Sprintf("a[href$=%q]", path) }

// choice selects the label of a radio button or a checkbox.
func choice(name, value string) string {
	return fmt.Sprintf("label:has([name=%q][value=%q])", name, value)
}

// Parts of the pages of the panel.
const (
	done    = "[data-flash].alert-success" // says what was done
	refused = "[role=alert].alert-danger"  // heads a form that was refused
)

// signOut signs out by the menu of the person.
func signOut(p *browsertest.Page) {
	p.Click("header .menu-end:has([action$='/sign-out']) summary")
	p.Click(submitOf("/sign-out"))
}

// fillSignIn gives the password of one of the café's people.
func (c cafe) fillSignIn(t *testing.T, p *browsertest.Page, email string) {
	t.Helper()
	password, err := os.ReadFile(filepath.Join(c.in.data, "demo-password"))
	if err != nil {
		t.Fatal(err)
	}
	p.Open("/admin/customers") // which leads to the sign-in, and there after it
	p.Fill("email", email)
	p.Fill("password", strings.TrimSpace(string(password)))
	p.Click(submitOf("/admin/sign-in"))
}

// view is a page of the product.
type view struct {
	name   string    // of its pictures
	host   string    // slug of a tenant; "": the platform's
	path   string    // {sale} and the like are records of the demo
	as     core.Role // "": a stranger
	status int       // 0: 200

	then func(*browsertest.Page) // what leads on from the path to what is meant; nil: nothing
}

// panel is a page of the panel, as the owner sees it.
func panel(name, path string) view {
	return view{name: name, host: demo.Slug, path: path, as: core.Owner}
}

// after is the same page once something was done on it.
func (v view) after(then func(*browsertest.Page)) view {
	v.then = then
	return v
}

func click(selector string) func(*browsertest.Page) {
	return func(p *browsertest.Page) { p.Click(selector) }
}

// groupsAreCounted looks again until a page has groups of customers, as it advises: the days of the café are counted after the start.
func groupsAreCounted(p *browsertest.Page) {
	for deadline := time.Now().Add(patience); strings.Contains(p.Text("main"), "being counted") && time.Now().Before(deadline); {
		time.Sleep(time.Second)
		p.Open(p.Path())
	}
	p.WaitFor(":is([aria-labelledby=groups-title], #audience) tbody .num")
}

// searchFor types into the search from every page.
func searchFor(text string) func(*browsertest.Page) {
	return func(p *browsertest.Page) {
		p.Press("/")
		p.WaitFor("#search-text")
		p.Fill("search-text", text)
		p.WaitFor("#search mark")
	}
}

// Parts of the form that records a sale.
const (
	amountRead = "#field-spend_amount_cents-read .num" // the amount as it was read
	readings   = "#field-spend_amount_cents-read .readings label"
	earned     = "#earns .num"
)

// typeAmount types the amount of a sale and waits for what the page answers.
func typeAmount(amount, answer string) func(*browsertest.Page) {
	return func(p *browsertest.Page) {
		p.Fill("spend_amount_cents", amount)
		p.WaitFor(answer)
	}
}

func record(amount string) func(*browsertest.Page) {
	return func(p *browsertest.Page) {
		p.Fill("spend_amount_cents", amount)
		p.Click(submitOf("/admin/transactions/new"))
	}
}

// views are the pages that people see.
var views = []view{
	{name: "home", path: "/"},
	{name: "docs", path: "/docs"},
	{name: "docs-search", path: "/docs/search?q=phone"},
	{name: "docs-search-none", path: "/docs/search?q=nothing-like-it"},
	{name: "reference-customers", path: "/docs/reference/customers"},
	{name: "reference-transactions", path: "/docs/reference/transactions", then: click(".try summary")},
	{name: "reference-rewards", path: "/docs/reference/rewards"},
	{name: "reference-coupons", path: "/docs/reference/coupons"},
	{name: "reference-reports", path: "/docs/reference/reports"},
	{name: "reference-tokens", path: "/docs/reference/tokens"},
	{name: "reference-platform", path: "/docs/reference/platform"},
	{name: "quickstart", path: "/docs/quickstart"},
	{name: "clients", path: "/docs/clients"},
	{name: "docs-sync", path: "/docs/sync"},
	{name: "docs-customers", path: "/docs/customers"},
	{name: "docs-scanning", path: "/docs/scanning"},
	{name: "docs-tills", path: "/docs/tills"},
	{name: "docs-vouchers", path: "/docs/vouchers"},
	{name: "docs-refunds", path: "/docs/refunds"},
	{name: "docs-browsers", path: "/docs/browsers"},
	{name: "retries", path: "/docs/retries"},
	{name: "versioning", path: "/docs/versioning"},
	{name: "changelog", path: "/docs/changelog"},
	{name: "problems", path: "/problems"},
	{name: "problem", path: "/problems/insufficient-points"},
	{name: "missing", path: "/nowhere", status: http.StatusNotFound},
	{name: "mails", path: "/mail"},
	{name: "mail", path: "/mail/{mail}"},
	{name: "platform-sign-in", path: "/platform/sign-in"},
	{name: "platform-sign-in-refused", path: "/platform/sign-in", then: click(submitOf("/platform/sign-in"))},
	{name: "platform-missing", path: "/platform/nowhere", as: core.SuperAdmin, status: http.StatusNotFound},
	{name: "platform-tenants", path: "/platform/tenants", as: core.SuperAdmin},
	{name: "platform-tenants-none", path: "/platform/tenants?search=no-such-name", as: core.SuperAdmin},
	{name: "platform-tenant-new", path: "/platform/tenants/new", as: core.SuperAdmin},
	{name: "platform-tenant-refused", path: "/platform/tenants/new", as: core.SuperAdmin, status: http.StatusUnprocessableEntity, then: click(submitOf("/platform/tenants/new"))},
	{name: "platform-tenant", path: "/platform/tenants/1", as: core.SuperAdmin},
	{name: "platform-audit", path: "/platform/audit", as: core.SuperAdmin},
	{name: "platform-audit-none", path: "/platform/audit?business=unknown", as: core.SuperAdmin},
	{name: "platform-health", path: "/platform/health", as: core.SuperAdmin},
	{name: "platform-tokens", path: "/platform/tokens", as: core.SuperAdmin},
	{name: "platform-test-business", path: "/platform/tenants/test", as: core.SuperAdmin},
	{name: "platform-deprecations", path: "/platform/deprecations", as: core.SuperAdmin},
	{name: "platform-deprecation-new", path: "/platform/deprecations/new", as: core.SuperAdmin},
	{name: "platform-account", path: "/platform/account", as: core.SuperAdmin},
	{name: "platform-plans", path: "/platform/plans", as: core.SuperAdmin},
	{name: "platform-plan-new", path: "/platform/plans/new", as: core.SuperAdmin},
	{name: "platform-plan-refused", path: "/platform/plans/new", as: core.SuperAdmin, status: http.StatusUnprocessableEntity, then: click(submitOf("/platform/plans/new"))},
	{name: "platform-plan", path: "/platform/plans/{plan}", as: core.SuperAdmin},
	{name: "platform-plan-retire", path: "/platform/plans/{plan}", as: core.SuperAdmin, then: click(linkTo("/retire"))},
	{name: "platform-invoices", path: "/platform/invoices", as: core.SuperAdmin},
	{name: "platform-invoices-none", path: "/platform/invoices?search=unknown", as: core.SuperAdmin},
	{name: "platform-invoice", path: "/platform/invoices/{invoice}", as: core.SuperAdmin},
	{name: "platform-invoice-pay", path: "/platform/invoices/{invoice}", as: core.SuperAdmin, then: click(linkTo("/pay"))},
	{name: "platform-invoice-paid", path: "/platform/invoices/{paid}", as: core.SuperAdmin},
	{name: "platform-settings", path: "/platform/settings", as: core.SuperAdmin},
	{name: "jobs", path: "/platform/jobs", as: core.SuperAdmin},
	{name: "jobs-failed", path: "/platform/jobs?queue=mail&state=failed", as: core.SuperAdmin, then: click(".jobs tbody tr:first-child summary")},
	{name: "jobs-none", path: "/platform/jobs?queue=imports&state=cancelled", as: core.SuperAdmin},

	{name: "sign-in", host: demo.Slug, path: "/admin/sign-in"},
	{name: "sign-in-refused", host: demo.Slug, path: "/admin/sign-in", then: click(submitOf("/admin/sign-in"))},
	{name: "forgot", host: demo.Slug, path: "/admin/forgot"},
	{name: "reset", host: demo.Slug, path: "/admin/reset/" + resetSecret},
	{name: "reset-ended", host: demo.Slug, path: "/admin/reset/nonsense", status: http.StatusNotFound},
	{name: "door-missing", host: demo.Slug, path: "/admin/nowhere", status: http.StatusNotFound},

	panel("dashboard", "/admin"),
	panel("dashboard-own", "/admin?from=2026-01-01&to=2026-03-31"),
	{name: "dashboard-refused", host: demo.Slug, path: "/admin?from=2026-03-31&to=2026-01-01", as: core.Owner, status: http.StatusUnprocessableEntity},
	{name: "dashboard-cashier", host: demo.Slug, path: "/admin", as: core.Cashier},
	{name: "forbidden", host: demo.Slug, path: "/admin/settings/staff", as: core.Cashier, status: http.StatusForbidden},
	{name: "panel-missing", host: demo.Slug, path: "/admin/nowhere", as: core.Owner, status: http.StatusNotFound},

	{name: "till", host: demo.Slug, path: "/till", as: core.Cashier},
	{name: "till-owner", host: demo.Slug, path: "/till?spend_amount_cents=2450", as: core.Owner},
	{name: "till-card", host: demo.Slug, path: "/till/customers/{customer}/card", as: core.Cashier},
	{name: "till-card-replace", host: demo.Slug, path: "/till/customers/{customer}/card/replace", as: core.Cashier},
	{name: "till-sale", host: demo.Slug, path: "/till/customers/{customer}?spend_amount_cents=2450", as: core.Cashier},
	{name: "till-expiring", host: demo.Slug, path: "/till/customers/{ending}?spend_amount_cents=2450", as: core.Cashier},
	{name: "till-missing", host: demo.Slug, path: "/till/nowhere", as: core.Cashier, status: http.StatusNotFound},

	panel("customers", "/admin/customers"),
	panel("customers-none", "/admin/customers?search=no-such-name"),
	panel("search", "/admin/customers").after(searchFor("berg")),
	panel("search-page", "/admin/search?search=an"),
	panel("customer-new", "/admin/customers/new"),
	panel("import", "/admin/customers/import"),
	panel("customer-refused", "/admin/customers/new").after(click(submitOf("/admin/customers/new"))),
	panel("customer", "/admin/customers/{customer}"),
	panel("customer-expiring", "/admin/customers/{ending}"),
	panel("customer-sales", "/admin/customers/{customer}?view=transactions"),
	panel("customer-redemptions", "/admin/customers/{redeemer}?view=redemptions"),
	panel("customer-vouchers", "/admin/customers/{holder}?view=vouchers"),
	panel("customer-unsubscribed", "/admin/customers/{unsubscribed}"),
	panel("customer-subscribe", "/admin/customers/{unsubscribed}/subscribe"),
	{name: "customer-cashier", host: demo.Slug, path: "/admin/customers/{customer}", as: core.Cashier},
	panel("customer-edit", "/admin/customers/{customer}/edit"),
	panel("customer-adjust", "/admin/customers/{customer}/adjust"),
	panel("customer-level", "/admin/customers/{customer}/level"),
	panel("customer-note", "/admin/customers/{customer}/note"),
	panel("customer-tags", "/admin/customers/{customer}/tags"),
	panel("customer-sales-only", "/admin/customers/{customer}?events=sales&since=90"),
	panel("customer-merge", "/admin/customers/{customer}/merge"),
	panel("customer-merge-preview", "/admin/customers/{customer}/merge?customer_ulid={buyer}"),
	panel("customer-merged", "/admin/customers/{customer}/merged"),
	panel("customer-card-link", "/admin/customers/{customer}/card-link"),
	panel("customer-deactivate", "/admin/customers/{customer}/deactivate"),
	panel("customer-erase", "/admin/customers/{customer}/erase"),

	panel("transactions", "/admin/transactions"),
	panel("transactions-unlocated", "/admin/transactions?location_id=none").after(click("details.filters summary")),
	panel("transactions-recorder", "/admin/reports/staff").after(click("tbody th a")),
	panel("transaction-new", "/admin/transactions/new"),
	panel("transaction-form", "/admin/transactions/new?customer_ulid={customer}").after(typeAmount("24,5", amountRead)),
	panel("transaction-ambiguous", "/admin/transactions/new?customer_ulid={customer}").after(typeAmount("12,505", readings)),
	panel("transaction-refused", "/admin/transactions/new?customer_ulid={customer}").after(record("12,505")),
	panel("transaction-confirm", "/admin/transactions/new?customer_ulid={customer}").after(record("12505")),
	panel("transaction", "/admin/transactions/{sale}"),
	panel("transaction-later", "/admin/transactions/{later}"),
	panel("transaction-voided", "/admin/transactions/{voided}"),
	panel("transaction-void", "/admin/transactions/{sale}/void"),
	panel("transaction-refund", "/admin/transactions/{refunded}/refund?amount_cents=0.20"),
	panel("transaction-refund-dialog", "/admin/transactions/{refunded}").after(func(p *browsertest.Page) {
		p.Click(linkTo("/refund"))
		p.Fill("amount_cents", "0.70")
		p.WaitForText("#takes", "taken back")
	}),
	panel("transaction-refunded", "/admin/transactions/{refunded}/refund").after(func(p *browsertest.Page) {
		p.Fill("amount_cents", "0.50")
		p.Fill("reason", "Goods returned")
		p.Click(submitOf("/refund"))
		p.WaitFor("#refunds")
	}),
	panel("transaction-void-dialog", "/admin/transactions/{sale}").after(click(linkTo("/void"))),
	panel("redemptions", "/admin/redemptions"),
	panel("redemptions-all", "/admin/redemptions?status=all"),
	panel("redemptions-of", "/admin/redemptions?customer_ulid={buyer}"),
	panel("redemption-new", "/admin/redemptions/new"),
	panel("redemption-choose", "/admin/redemptions/new?customer_ulid={buyer}"),
	panel("redemption-ask-dialog", "/admin/redemptions/new?customer_ulid={buyer}").after(click(".list-group-item:first-child a.btn")),
	panel("redemption", "/admin/redemptions/{pending}"),
	panel("redemption-void", "/admin/redemptions/{pending}/void"),
	panel("redemption-fulfil", "/admin/redemptions/{pending}/fulfil"),
	panel("rewards", "/admin/rewards"),
	panel("reward-new", "/admin/rewards/new"),
	panel("reward", "/admin/rewards/{reward}"),
	panel("reward-edit", "/admin/rewards/{reward}/edit"),
	panel("reward-refused", "/admin/rewards/new").after(click(submitOf("/admin/rewards/new"))),
	panel("reward-stock-refused", "/admin/rewards/{stocked}").after(click("#stock button[type=submit]")),
	panel("coupons", "/admin/coupons"),
	panel("coupon-new", "/admin/coupons/new"),
	panel("coupon", "/admin/coupons/{coupon}"),
	panel("coupon-edit", "/admin/coupons/{coupon}/edit"),
	panel("coupon-deactivate", "/admin/coupons/{coupon}/deactivate"),
	panel("coupon-send", "/admin/coupons/{coupon}/send"),
	panel("coupon-progress", "/admin/coupons/{coupon}/sends/{send}"),
	{name: "coupon-progress-cashier", host: demo.Slug, path: "/admin/coupons/{coupon}/sends/{send}", as: core.Cashier},
	panel("coupon-unsent-send", "/admin/coupons/{unsent}/send"),
	panel("coupon-unsent", "/admin/coupons/{unsent}"),
	panel("coupon-unsent-edit", "/admin/coupons/{unsent}/edit"),
	panel("coupon-refused", "/admin/coupons/new").after(click(submitOf("/admin/coupons/new"))),
	panel("vouchers-owner", "/admin/vouchers"),
	panel("voucher-owner", "/admin/vouchers/{voucher}"),
	panel("voucher-redeem", "/admin/vouchers/{voucher}/redeem"),
	{name: "voucher-page-demo", host: demo.Slug, path: "{voucherlink}"},
	{name: "card-demo", host: demo.Slug, path: "{cardlink}"},
	{name: "card-expiring", host: demo.Slug, path: "{endingcard}"},
	{name: "card-expiring-history", host: demo.Slug, path: "{endingcard}/history"},
	{name: "card-history", host: demo.Slug, path: "{cardlink}/history"},
	{name: "card-print", host: demo.Slug, path: "{cardlink}/print"},
	{name: "join", host: demo.Slug, path: "/join"},
	{name: "join-find", host: demo.Slug, path: "/join/find"},
	{name: "walkin-pin", host: demo.Slug, path: "/w"},
	{name: "walkin-expired", host: demo.Slug, path: "/w/nonsense", status: http.StatusUnprocessableEntity},
	panel("poster", "/admin/poster"),
	panel("poster-a5", "/admin/poster?paper=A5"),
	panel("locations", "/admin/locations"),
	panel("location", "/admin/locations/{location}"),
	panel("earning", "/admin/earning"),
	panel("promotion-new", "/admin/earning/new"),
	panel("promotion-new-times", "/admin/earning/new?weekday=1&from=14&to=17"),
	panel("promotion", "/admin/earning/{promotion}"),
	panel("earning-calendar", "/admin/earning/calendar"),
	panel("earning-simulator", "/admin/earning/simulator?spend_amount_cents=24.50&transaction_type_id={type}&date=2026-11-27&time=16:30"),
	panel("slow-hours", "/admin/earning/slow-hours"),
	panel("categories", "/admin/earning/categories"),
	panel("category", "/admin/earning/categories/{category}"),
	panel("earning-limits", "/admin/earning/limits"),
	panel("types", "/admin/types"),
	panel("type-new", "/admin/types/new"),
	panel("type", "/admin/types/{type}"),

	panel("reports", "/admin/reports"),
	panel("report-visitors", "/admin/reports/visitors").after(groupsAreCounted),
	panel("report-visitors-year", "/admin/reports/visitors?from=2025-12-01&compare=none").after(groupsAreCounted),
	panel("report-lapsed", "/admin/reports/visitors/list?audience=lapsed_30").after(click("details:has(.send-coupons) summary")),
	panel("report-group", "/admin/reports/visitors/list?audience=regulars").after(groupsAreCounted),
	panel("report-customers", "/admin/reports/customers"),
	panel("report-locations", "/admin/reports/locations"),
	panel("report-staff", "/admin/reports/staff?compare=last-year"),
	panel("report-locations-year", "/admin/reports/locations?from=2025-12-01"),
	panel("report-staff-year", "/admin/reports/staff?from=2025-12-01"),
	panel("report-hours", "/admin/reports/hours"),
	panel("report-hours-spend", "/admin/reports/hours?by=spend&from=2025-12-01").after(click(".page-header .menu summary")),
	panel("report-rewards", "/admin/reports/rewards"),
	panel("report-rewards-year", "/admin/reports/rewards?from=2025-12-01").after(click("#reward-cost summary")),
	panel("report-coupons", "/admin/reports/coupons"),
	panel("report-coupons-year", "/admin/reports/coupons?from=2025-12-01&compare=none").after(click(".page-header .menu summary")),
	panel("report-earning", "/admin/reports/earning"),
	panel("report-points", "/admin/reports/points"),
	panel("report-points-stamps", "/admin/reports/points?unit=stamps&compare=last-year").after(click("#earned summary")),
	panel("report-points-year", "/admin/reports/points?from=2025-12-01&value=1.00&rate=80").after(click(".statement-steps summary")),
	{name: "report-points-refused", host: demo.Slug, path: "/admin/reports/points?value=much&rate=101", as: core.Owner, status: http.StatusUnprocessableEntity},
	panel("report-year", "/admin/reports?from=2025-12-01"),
	panel("report-filters", "/admin/reports").after(click(".report-days summary")),
	panel("reports-numbers", "/admin/reports").after(click("figure summary")),
	{name: "reports-refused", host: demo.Slug, path: "/admin/reports?from=2026-02-02&to=2026-02-01", as: core.Owner, status: http.StatusUnprocessableEntity},
	panel("audit", "/admin/audit"),
	panel("audit-entry", "/admin/audit?subject=redemption").after(click(".audit-row summary")),
	panel("audit-none", "/admin/audit?from=2020-01-01&to=2020-01-01"),

	panel("notifications", "/admin/notifications"),
	panel("notification-settings", "/admin/settings/notifications"),
	panel("business", "/admin/settings/business"),
	panel("programme", "/admin/settings/programme"),
	panel("levels", "/admin/settings/programme/levels"),
	panel("level-rules", "/admin/settings/programme/levels/rules"),
	panel("level-new", "/admin/settings/programme/levels/new"),
	panel("level", "/admin/settings/programme/levels/{level}"),
	panel("programme-points", "/admin/settings/programme/points"),
	panel("programme-stamps", "/admin/settings/programme/stamps"),
	panel("billing", "/admin/settings/billing"),
	panel("setup-1", "/admin/setup/business"),
	panel("setup-2", "/admin/setup/rule"),
	panel("setup-3", "/admin/setup/reward"),
	panel("setup-4", "/admin/setup/customer"),
	panel("setup-5", "/admin/setup/sale"),
	panel("setup-6", "/admin/setup/done"),
	panel("staff", "/admin/settings/staff"),
	panel("staff-new", "/admin/settings/staff/new"),
	panel("person", "/admin/settings/staff/{person}"),
	panel("person-deactivate", "/admin/settings/staff/{person}/deactivate"),
	panel("person-tokens", "/admin/settings/staff/{owner}"),
	panel("person-token-revoke", "/admin/settings/staff/{owner}/tokens/{token}/revoke"),
	panel("person-tokens-revoke", "/admin/settings/staff/{owner}/tokens/revoke"),
	panel("person-tokens-revoke-dialog", "/admin/settings/staff/{owner}").after(click(linkTo("/tokens/revoke"))),
	panel("tokens", "/admin/settings/tokens"),
	panel("token-new", "/admin/settings/tokens/new"),
	panel("token-made", "/admin/settings/tokens/new").after(fillToken),
	panel("token", "/admin/settings/tokens/{token}"),
	panel("token-revoke", "/admin/settings/tokens/{token}/revoke"),
	panel("security", "/admin/settings/security"),
	panel("factor", "/admin/settings/security/two-step/begin"),
}

// jobsSQL adds jobs in every state, none of which is taken by a worker.
const jobsSQL = `
	with added as (
		insert into river.river_job (kind, queue, state, args, attempt, max_attempts, created_at, scheduled_at, attempted_at, finalized_at, metadata, errors)
		select kind, queue, state::river.river_job_state, '{}', attempt, 150, now() - age, now() + due, now() + interval '1 h',
			case when state in ('discarded', 'cancelled') then now() - age / 2 end,
			case when business then (select jsonb_build_object('tenant', id) from loyalty.tenant where slug = $1) else '{}' end,
			case when error <> '' then array[jsonb_build_object('at', now(), 'attempt', attempt, 'error', error, 'trace', '')] end
		from (values
			('delete_old_responses', 'upkeep', 'discarded', 3, interval '2 h', interval '0', false, 'canceling statement due to statement timeout (SQLSTATE 57014)'),
			('coupon_evaluation', 'sends', 'pending', 0, interval '6 min', interval '-6 min', true, ''),
			('coupon_evaluation', 'sends', 'running', 1, interval '2 min', interval '-2 min', true, ''),
			('coupon_evaluation', 'sends', 'scheduled', 0, interval '1 h', interval '3 days', true, ''),
			('customer_import', 'imports', 'running', 1, interval '1 min', interval '-1 min', true, ''),
			('customer_import', 'imports', 'discarded', 150, interval '6 days', interval '0', true, 'the process that ran this job is gone'),
			('mail_delivery', 'mail', 'cancelled', 12, interval '9 h', interval '-9 h', true, 'mail 01KB8V5N3Z8Q2M6T4X9C7R1JHD: connection refused'),
			('mail_delivery', 'mail', 'retryable', 4, interval '20 min', interval '6 h', true, 'mail 01KB8V5N3Z8Q2M6T4X9C7R1JHE: 451 4.7.1 Try again later'),
			('mail_delivery', 'mail', 'retryable', 7, interval '50 min', interval '7 h', true,
				'mail 01KB8V5N3Z8Q2M6T4X9C7R1JHF: dial tcp: lookup mail.example.com on 127.0.0.53:53: server misbehaving; the name server has given the same answer to the last seven attempts, and no second name server is configured')
		) as v (kind, queue, state, attempt, age, due, business, error)
		returning id
	)
	select count(*) from added`

// recordsOf puts the ids of the demo's records into paths, before other tests add records.
func (c cafe) recordsOf(t *testing.T) *strings.Replacer {
	t.Helper()
	d := connect(t, c.in.url())
	_, err := d.Exec(t.Context(), `
		insert into loyalty.password_reset (tenant_id, id, staff_id, hash, expires_at, created_at)
		select tenant_id, loyalty.new_ulid(now()), id, sha256($2::text::bytea), now() + interval '1 hour', now()
		from loyalty.staff
		where email = $1`, addresses[core.Owner], resetSecret)
	if err != nil {
		t.Fatal(err)
	}
	voucher := ask[core.ID](d, `
		select v.id
		from loyalty.voucher v
		join loyalty.coupon c on c.id = v.coupon_id
		where v.status = 'pending' and v.expires_at > now() + interval '1 day' and c.active
		order by v.id desc
		limit 1`)
	// Each link on a card would have to be among the views, so these customers have no vouchers.
	const guest = `
		select customer.id
		from loyalty.customer
		join loyalty.account on account.customer_id = customer.id
		where customer.status = 'active'
			and points > 0
			and not exists (select from loyalty.voucher where customer_id = customer.id)`
	ending := ask[core.ID](d, guest+" order by points_expire_on, points desc limit 1")
	ask[int64](d, jobsSQL, demo.Slug)
	buyer := ask[core.ID](d, "select customer_id from loyalty.transaction where status = 'completed' order by id desc limit 1")
	return strings.NewReplacer(
		"{voucher}", voucher.String(),
		"{voucherlink}", c.voucherLink(t, voucher),
		"{cardlink}", c.cardLink(t, ask[core.ID](d, guest+" order by points desc limit 1")),
		"{ending}", ending.String(),
		"{endingcard}", c.cardLink(t, ending),
		"{mail}", ask[core.ID](d, "select id from loyalty.mail order by id limit 1").String(),
		"{customer}", buyer.String(),
		"{sale}", ask[core.ID](d, "select id from loyalty.transaction where status = 'completed' order by id desc limit 1").String(),
		"{refunded}", ask[core.ID](d, "select id from loyalty.transaction where status = 'completed' and points_awarded > 5 order by id desc offset 9 limit 1").String(),
		"{unsubscribed}", ask[core.ID](d, "select id from loyalty.customer where unsubscribed_at is not null order by status, id limit 1").String(),
		"{voided}", ask[core.ID](d, "select id from loyalty.transaction where status = 'voided' order by id desc limit 1").String(),
		"{pending}", ask[core.ID](d, "select id from loyalty.redemption where status = 'pending' order by id desc limit 1").String(),
		"{redeemer}", ask[core.ID](d, "select customer_id from loyalty.redemption where status = 'pending' order by id desc limit 1").String(),
		"{holder}", ask[core.ID](d, "select customer_id from loyalty.voucher where status = 'redeemed' order by id desc limit 1").String(),
		"{reward}", ask[core.ID](d, "select id from loyalty.reward order by id limit 1").String(),
		"{stocked}", ask[core.ID](d, "select id from loyalty.reward where stock > 0 order by id limit 1").String(),
		"{buyer}", ask[core.ID](d, "select customer_id from loyalty.account order by points desc limit 1").String(),
		"{unsent}", ask[core.ID](d, "select id from loyalty.coupon where starts_at > now() order by id limit 1").String(),
		"{coupon}", ask[core.ID](d, "select id from loyalty.coupon order by id limit 1").String(),
		"{send}", ask[core.ID](d, "select id from loyalty.coupon_send where coupon_id = (select id from loyalty.coupon order by id limit 1) order by id limit 1").String(),
		"{location}", ask[string](d, "insert into loyalty.location (tenant_id, name) select id, 'Hornstull' from loyalty.tenant where slug = $1 returning id::text", demo.Slug),
		"{promotion}", ask[string](d, "select max(id)::text from loyalty.promotion where windows <> '[]'"),
		"{category}", ask[string](d, "select min(id)::text from loyalty.category"),
		"{level}", ask[string](d, "select max(id)::text from loyalty.level"),
		"{type}", ask[string](d, "select min(id)::text from loyalty.transaction_type"),
		"{person}", ask[string](d, "select id::text from loyalty.staff where email = $1", addresses[core.Manager]),
		"{owner}", ask[string](d, "select id::text from loyalty.staff where email = $1", addresses[core.Owner]),
		"{token}", ask[string](d, "select min(id)::text from loyalty.token"),
		"{plan}", ask[string](d, "select plan_id::text from loyalty.tenant where slug = $1", demo.Slug),
		"{invoice}", ask[string](d, "select max(id)::text from loyalty.invoice where status = 'issued'"),
		"{paid}", ask[string](d, "select min(id)::text from loyalty.invoice where status = 'paid'"),
		"{later}", c.useToken(t, buyer),
	)
}

// useToken records a sale of yesterday as the café's web shop does, which also makes mistakes, and returns its ULID.
func (c cafe) useToken(t *testing.T, buyer core.ID) string {
	t.Helper()
	kinds := decode[single[[]struct{ ID int64 }]](t, c.expect(t, http.StatusOK, "GET", "/api/v1/transaction-types", c.token, "").body).Data
	c.expect(t, http.StatusUnprocessableEntity, "POST", "/api/v1/customers", c.token, `{"first_name":"","last_name":"Berg","phone":"0"}`)
	c.expect(t, http.StatusNotFound, "GET", "/api/v1/customers/"+buyer.String()+"/orders", c.token, "")
	sale := fmt.Sprintf(`{"customer_ulid":%q,"transaction_type_id":%d,"spend_amount_cents":2450,"external_reference":"shop-1042","occurred_at":%q,"metadata":{"order_url":"https://shop.example/orders/1042","parcel":"SE-7741"}}`,
		buyer, kinds[0].ID, time.Now().Add(-26*time.Hour).UTC().Format(time.RFC3339))
	made := decode[single[struct{ ULID string }]](t, c.expect(t, http.StatusCreated, "POST", "/api/v1/transactions", c.token, sale).body).Data
	d := connect(t, c.in.url())
	await(t, "the requests are counted", func() bool {
		return ask[bool](d, "select exists (select from loyalty.token_request where method = 'POST' and status = 201)")
	})
	return made.ULID
}

// resetSecret is of the link with which the café's owner can set a password.
const resetSecret = "PAGES7WZ6M3KXN5T2VBYD4R5S6"

// testPages looks at every page. Those that the same person sees take turns in their tabs.
func testPages(t *testing.T, c cafe) {
	tabs, web := map[core.Role]chan *browsertest.Page{}, newLinkage(t)
	for _, v := range views {
		if tabs[v.as] == nil {
			tabs[v.as] = c.tabs(t, v.as)
		}
		v.path = c.address(v.host) + c.records.Replace(v.path)
		web.pages.Store(pattern(v.path), nil)
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			tab := <-tabs[v.as]
			t.Cleanup(func() { tabs[v.as] <- tab })
			p := tab.For(t)
			p.Expect(cmp.Or(v.status, http.StatusOK))
			lookBeforeLeaving(t, p, v.name, func() {
				p.Open(v.path)
				if v.then != nil {
					v.then(p)
				}
			})
			web.pages.Store(pattern(p.Path()), nil)
			if v.host != "" {
				for _, path := range linksOn(p) {
					web.links.Store(pattern(path), v.name)
				}
			}
		})
	}
}

// linksOn returns the addresses on the same host that the page links to, without files.
func linksOn(p *browsertest.Page) []string {
	return browsertest.Run(p, chromedp.Evaluate[[]string](`[...document.querySelectorAll("a[href]:not([download])")]
		.filter((a) => a.origin === location.origin).map((a) => a.pathname + a.search)`))
}

// tabs are as many of a person's as tests run at once.
func (c cafe) tabs(t *testing.T, as core.Role) chan *browsertest.Page {
	t.Helper()
	first := c.page(t)
	switch as {
	case "":
		c.mail(t, first.Open)
	case core.SuperAdmin:
		first = c.browser.NewPage(t, c.address(""))
		c.signInAdmin(t, first, "Alma Root", "alma@loyalty.example")
	default:
		c.signIn(t, first, as)
	}
	all := make(chan *browsertest.Page, runtime.GOMAXPROCS(0))
	for all <- first; len(all) < cap(all); {
		all <- first.NewTab(t)
	}
	return all
}

// linkage is what links to what, so that no page of a tenant is forgotten and no link leads
// nowhere.
type linkage struct{ pages, links sync.Map } // by pattern; of a link, the page that has it

func newLinkage(t *testing.T) *linkage {
	t.Helper()
	w := &linkage{}
	w.pages.Store("/admin/settings", nil)                     // leads to the first of them
	w.pages.Store("/admin/customers/import/{}", nil)          // testImport sees it at every step
	w.pages.Store("/admin/settings/billing/invoices/{}", nil) // a file
	w.pages.Store("/admin/notifications/{}", nil)             // testNotifications sees it
	w.pages.Store("/till/last", nil)                          // leads to a receipt, which testTillPages sees
	t.Cleanup(func() {
		w.links.Range(func(path, page any) bool {
			if _, ok := w.pages.Load(path); !ok {
				t.Errorf("%s links to %s, which is not among the views", page, path)
			}
			return true
		})
	})
	return w
}

var id = regexp.MustCompile(`/(?:[0-9A-Z]{26}(?:-[0-9A-Z]{26})?|[0-9]+)(/|$)`)

// pattern is the path of an address, alike for all records of a kind.
func pattern(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return id.ReplaceAllString(u.Path, "/{}$1")
}

// look examines the page that open leads to, or takes its pictures. With nil it is the page
// that is shown.
func look(t *testing.T, p *browsertest.Page, name string, open func()) {
	t.Helper()
	if open == nil {
		open = func() {}
	}
	lookBeforeLeaving(t, p, name, open)
	p.Emulate(1440, 900, false)
}

// lookBeforeLeaving leaves the window as it was last examined: wide, but in either colour scheme.
func lookBeforeLeaving(t *testing.T, p *browsertest.Page, name string, open func()) {
	t.Helper()
	if *screenshots != "" {
		photograph(p, name, open)
		return
	}
	examine(t, p, name, open)
}

// "axe-core finds no violation on any page in light and dark" and "phone layout down to
// 360 px"; no page has errors in the console either. The page is loaded once and seen in both widths. Because axe
// takes most of the time, it examines each page in one combination of width and colour scheme, which changes from
// page to page, so that the parts that pages share are seen in all four; the long tests examine it in the other three.
func examine(t *testing.T, p *browsertest.Page, name string, open func()) {
	t.Helper()
	open()
	for i, width := range []int64{360, 1440} {
		for j, dark := range []bool{false, true} {
			if isFirst := len(name)%4 == 2*i+j; isFirst != testing.Short() {
				continue
			}
			p.Emulate(width, 900, dark)
			for _, violation := range p.Axe("") {
				t.Errorf("%d px, dark %t: %s", width, dark, violation)
			}
		}
		testOverflow(t, p, width)
		if width < 400 {
			testFieldSize(t, p)
		}
	}
}

// "16 px for every field" on a phone.
func testFieldSize(t *testing.T, p *browsertest.Page) {
	t.Helper()
	for _, field := range p.SmallFields() {
		t.Errorf("%s: %s", p.Path(), field)
	}
}

var themes = map[string]bool{"light": false, "dark": true}

// "screenshots of every page at 1440 and 390 px"
func photograph(p *browsertest.Page, name string, open func()) {
	open()
	for _, width := range []int64{390, 1440} {
		for theme, dark := range themes {
			p.Emulate(width, 900, dark)
			p.Screenshot(filepath.Join(*screenshots, fmt.Sprintf("%s-%d-%s.png", name, width, theme)))
		}
	}
	p.Emulate(1440, 900, false)
}

// A job that failed for the last time is run again by the button beside it.
func testJobs(t *testing.T, c cafe) {
	p := c.browser.NewPage(t, c.address(""))
	c.signInAdmin(t, p, "Jon Root", "jon@loyalty.example")
	p.Open("/platform/jobs?state=failed&queue=upkeep")
	p.Click(".jobs [action*='/retry'] button")
	p.WaitFor(done)
	if at := p.Path(); !strings.HasPrefix(at, "/platform/jobs?") || !strings.Contains(at, "state=failed") {
		t.Errorf("that leads to %s", at)
	}
	d := connect(t, c.in.url())
	await(t, "the job is done", func() bool {
		return ask[bool](d, "select exists (select from river.river_job where kind = 'delete_old_responses' and max_attempts = 150 and state = 'completed')")
	})
}

// "search as you type": the list changes while a name is typed, and its address with it.
func testSearch(t *testing.T, c cafe) {
	c.counter(t, "Ottilie", "+46 8 465 004 94") // no other test changes her row
	p := c.page(t)
	c.signIn(t, p, core.Cashier)
	p.Fill("field-search", "ottil")
	p.WaitForText("#customers tbody tr:only-child a", "Ottilie")
	at, found := p.Path(), p.Text("#customers tbody")
	if !strings.Contains(at, "search=ottil") {
		t.Errorf("the list is at %s", at)
	}
	p.Open(at)
	if again := p.Text("#customers tbody"); again != found {
		t.Errorf("the address shows %q, the search found %q", again, found)
	}
}

// "Chart with an accessible table, recent activity that updates by itself": the page is not
// loaded again.
func testDashboard(t *testing.T, c cafe) {
	p := c.page(t)
	c.signIn(t, p, core.Manager)
	p.Open("/admin")
	p.WaitFor("figure[data-drawn] figcaption")
	till := c.demoTill(t)
	c.expect(t, http.StatusCreated, "POST", "/api/v1/transactions", c.token,
		`{"customer_ulid":"`+till.customer+`","transaction_type_id":`+till.typeID+`,"spend_amount_cents":98765}`)
	browsertest.Run(p, chromedp.Evaluate[chromedp.Void](`htmx.trigger("#activity", "wake")`)) // not after ten seconds
	p.WaitForText("#activity li", "987.65")
}

// "No caching of private pages": after a sign-out, wherever it was done, the way back shows
// the sign-in page and none of what was seen before.
func testWayBack(t *testing.T, c cafe) {
	const email = "agda@cafearo.example"
	c.hired(t, core.Cashier, "Agda Berg", email)
	p := c.page(t)
	leave := func() {
		t.Helper()
		p.Open("/admin/customers?search=anna+lindqv")
		p.WaitForText("#customers a", "Anna Lindqvist")
		p.Open("/admin/rewards")
	}
	back := func() { p.Do(chromedp.Evaluate[chromedp.Void]("history.back()")) }
	c.signInAs(t, p, email)
	leave()
	back()
	p.WaitForText("#customers a", "Anna Lindqvist")

	leave()
	end := "update loyalty.session set ended_at = now() where staff_id = (select id from loyalty.staff where email = $1)"
	if _, err := connect(t, c.in.url()).Exec(t.Context(), end, email); err != nil {
		t.Fatal(err)
	}
	back()
	p.WaitFor("[name=password]")
	if at := p.Path(); !strings.HasPrefix(at, "/admin/sign-in?to=") {
		t.Errorf("ended elsewhere: the way back leads to %s", at)
	}

	c.signInAs(t, p, email)
	leave()
	signOut(p)
	back()
	p.WaitFor("[name=password]")
	if at := p.Path(); !strings.HasPrefix(at, "/admin/sign-in?to=") {
		t.Errorf("signed out: the way back leads to %s", at)
	}
}

// "What can be read in two ways is refused with both readings offered. The amount is shown back
// as read. Above a tenant's ceiling the panel asks once more."
func testAmounts(t *testing.T, c cafe) {
	p := c.page(t)
	c.signIn(t, p, core.Cashier)
	buyer := decode[single[struct{ ULID string }]](t, c.expect(t, http.StatusCreated, "POST", "/api/v1/customers", c.token,
		`{"first_name":"Asta","last_name":"Brandt","phone":"+46 74 555 66 78"}`).body).Data // who has no level
	p.Open("/admin/transactions/new?customer_ulid=" + buyer.ULID)
	typeAmount("12,505", readings)(p)
	p.ClickText(readings, "12.50")
	p.WaitForText(amountRead, "12.50")
	p.WaitForText(earned, "12 ")
	record("1,050")(p)
	p.WaitFor(refused)
	p.ClickText(readings, "1,050.00")
	p.WaitForText(amountRead, "1,050.00")
	p.WaitUntilGone(readings)
	p.Press(kb.Enter)
	p.WaitForText(".confirm-amount", "1,050.00")
	p.Click("[name=correct]")
	p.WaitForText(amountRead, "1,050.00")
	record("1000.50")(p)
	p.ClickText(submitOf("/admin/transactions/new"), "1,000.50")
	p.WaitForText(done, "1,000.50")
	p.WaitForText(done, "1,000 ")

	// An amount is still being read when the sale is sent: what was read has no place any more.
	p.Open("/admin/transactions/new?customer_ulid=" + buyer.ULID)
	p.HoldBackUntil(".confirm-amount", "*/transactions/earns*")
	p.Focus("spend_amount_cents")
	p.Type(browsertest.Stroke{Keys: "2000"}, browsertest.Stroke{Keys: kb.Enter, After: time.Second})
	p.WaitForText(".confirm-amount", "2,000.00")
}

// "Sign-in, customers and their sales work with JavaScript off".
func testWithoutJavaScript(t *testing.T, c cafe) {
	const email = "signe@cafearo.example" // a cashier can void only their own last sale, and other tests sell, too
	c.hired(t, core.Cashier, "Signe Falk", email)
	p := c.page(t)
	p.DisableScripts()
	c.signInAs(t, p, email)
	p.Fill("field-search", "anna lindqv")
	p.Click("noscript button")
	p.WaitForText("#customers a", "Anna Lindqvist")

	p.Click(linkTo("/admin/customers/new"))
	p.Fill("first_name", "Ylva")
	p.Fill("phone", "not a number")
	p.Click(submitOf("/admin/customers/new"))
	p.WaitFor(refused)
	p.Fill("last_name", "Ekdahl")
	p.Fill("phone", "+46 74 111 22 33")
	p.Click(submitOf("/admin/customers/new"))
	p.WaitForText(done, "Ylva Ekdahl")

	sale := "main a[href^='/admin/transactions/new']"
	p.Click(sale)
	record("24,505")(p)
	p.ClickText(readings, "24.50")
	p.Click(submitOf("/admin/transactions/new"))
	p.WaitForText(done, "24.50")
	p.WaitForText(done, "24 ")
	p.Click("#history " + linkTo("view=transactions"))
	p.Click("#history tbody .row-menu-button")
	p.Click("#history tbody " + linkTo("/void"))
	p.Fill("reason", "Wrong amount")
	p.Click(submitOf("/void"))
	p.WaitForText(done, "24 ")

	p.Click(sale)
	record("1000.50")(p)
	p.Click("[name=correct]")
	record("1000.60")(p)
	p.ClickText(submitOf("/admin/transactions/new"), "1,000.60")
	p.WaitForText(done, "1,000.60")
}
