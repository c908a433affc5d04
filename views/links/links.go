// Package links names the path of every page that people sign in to. Handlers declare their routes with these names,
// and templates link by them.
package links

import (
	"net/url"
	"strconv"

	"example.com/loyalty/core"
)

// The areas.
const (
	Panel    = "/admin"    // of a business, on its host
	Till     = "/till"     // on the same host
	Platform = "/platform" // on the base host
)

// Pages of a business's panel.
const (
	Dashboard = Panel
	Activity  = Panel + "/activity" // a part of the dashboard
	TopOfDays = Panel + "/top"      // likewise
	Search    = Panel + "/search"

	PanelTheme = Panel + "/theme" // light or dark
	SignOut    = Panel + "/sign-out"

	Customers       = Panel + "/customers"
	CustomersExport = Customers + "/export" // without the extension, like all exports
	NewCustomer     = Customers + "/new"
	Imports         = Customers + "/import"

	Transactions       = Panel + "/transactions"
	TransactionsExport = Transactions + "/export"
	NewTransaction     = Transactions + "/new"
	SaleEarns          = Transactions + "/earns" // what the sale on the form will earn
	Types              = Panel + "/types"
	NewType            = Types + "/new"
	TypeEarns          = Types + "/earns" // what the rule on the form will earn
	TryType            = Types + "/try"   // the same as a page

	Earning           = Panel + "/earning" // promotions, categories and caps
	NewPromotion      = Earning + "/new"
	PromotionSentence = Earning + "/sentence" // the promotion on the form, read back
	PromotionDraft    = Earning + "/draft"    // the form with a further time of the week
	EarningCalendar   = Earning + "/calendar"
	EarningSimulator  = Earning + "/simulator"
	SlowHours         = Earning + "/slow-hours"
	Categories        = Earning + "/categories"
	MapCode           = Categories + "/codes" // gives a code to a category
	EarningLimits     = Earning + "/limits"

	Rewards           = Panel + "/rewards"
	NewReward         = Rewards + "/new"
	Redemptions       = Panel + "/redemptions"
	RedemptionsExport = Redemptions + "/export"
	NewRedemption     = Redemptions + "/new" // redeems a reward

	Coupons  = Panel + "/coupons"
	Vouchers = Panel + "/vouchers"

	Reports        = Panel + "/reports"
	SummaryReport  = Reports + "/summary" // as a file
	VisitorReport  = Reports + "/visitors"
	CohortReport   = VisitorReport + "/months" // parts of it as files, without the extension
	GroupReport    = VisitorReport + "/groups"
	AudienceReport = VisitorReport + "/list"
	TopReport      = Reports + "/customers"
	LocationReport = Reports + "/locations"
	StaffReport    = Reports + "/staff"
	HourReport     = Reports + "/hours"
	RewardReport   = Reports + "/rewards"
	RewardSteps    = RewardReport + "/steps" // a part of it as a file, without the extension
	CouponReport   = Reports + "/coupons"
	CouponSteps    = CouponReport + "/steps" // likewise
	EarningReport  = Reports + "/earning"
	PromotionHours = EarningReport + "/hours" // parts of it as files, without the extension
	LevelReport    = EarningReport + "/levels"
	PointsReport   = Reports + "/points"
	LastDays       = PointsReport + "/last-days" // parts of it as files, without the extension
	EarnedMonths   = PointsReport + "/earned"

	Locations     = Panel + "/locations"
	Poster        = Panel + "/poster"
	Audit         = Panel + "/audit"
	Notifications = Panel + "/notifications"

	Settings             = Panel + "/settings"
	Business             = Settings + "/business"
	Programme            = Settings + "/programme" // how points and stamps expire
	PointsRule           = Programme + "/points"
	StampsRule           = Programme + "/stamps"
	Levels               = Programme + "/levels" // that customers rise to
	NewLevel             = Levels + "/new"
	LevelRules           = Levels + "/rules"
	PreviewLevels        = Levels + "/preview" // what a change would do
	Staff                = Settings + "/staff"
	NewStaff             = Staff + "/new" // invites a person
	Billing              = Settings + "/billing"
	NotificationSettings = Settings + "/notifications"
	Tokens               = Settings + "/tokens"
	NewToken             = Tokens + "/new"
	Account              = Settings + "/security"
	Weekly               = Account + "/weekly"

	Setup        = Panel + "/setup"
	SetupDone    = Setup + "/done"
	SkipSetup    = Setup + "/skip"
	DismissSetup = Setup + "/dismiss"
)

// Customer is a customer's page.
func Customer(id core.ID) string { return Customers + "/" + id.String() }

// CustomersOf lists the customers with a tag.
func CustomersOf(tag string) string { return WithQuery(Customers, "tag", tag) }

// CustomerHistory is a tab of the history on a customer's page; "" is the timeline.
func CustomerHistory(id core.ID, tab string) string { return WithQuery(Customer(id), "view", tab) }

// MergeInto merges a duplicate into a customer, after asking.
func MergeInto(kept, duplicate core.ID) string {
	return WithQuery(Customer(kept)+"/merge", "customer_ulid", duplicate.String())
}

// MergedInto is the history of a customer from before they were merged into the kept one.
func MergedInto(kept, merged core.ID) string {
	return WithQuery(Customer(kept)+"/merged", "merged", merged.String())
}

// Import is the page of a file of customers.
func Import(id core.ID) string { return Imports + "/" + id.String() }

// Transaction is a sale's page.
func Transaction(id core.ID) string { return Transactions + "/" + id.String() }

// Type is the page of a transaction type.
func Type(id int64) string { return numbered(Types, id) }

// Promotion is the page of a promotion.
func Promotion(id int64) string { return numbered(Earning, id) }

// Promotions lists the promotions in a state; "" is any.
func Promotions(state string) string { return WithQuery(Earning, "state", state) }

// CalendarOf is the calendar of a month: "2026-11".
func CalendarOf(month string) string { return WithQuery(EarningCalendar, "month", month) }

// Category is the page of a category.
func Category(id int64) string { return numbered(Categories, id) }

// SlowPromotion is the form of a promotion in an hour that is slow.
func SlowPromotion(weekday, from, to int) string {
	return NewPromotion + "?" + url.Values{
		"weekday": {strconv.Itoa(weekday)}, "from": {strconv.Itoa(from)}, "to": {strconv.Itoa(to)},
	}.Encode()
}

// SellTo is the form of a sale to a customer.
func SellTo(customer core.ID) string {
	return WithQuery(NewTransaction, "customer_ulid", customer.String())
}

// Reward is a reward's page.
func Reward(id core.ID) string { return Rewards + "/" + id.String() }

// RewardPicture is a reward's picture for people who are signed in, or "" without a hash. A new picture has a new path.
func RewardPicture(reward core.ID, hash *string) string {
	if hash == nil {
		return ""
	}
	return Reward(reward) + "/picture/" + *hash
}

// Redemption is a redemption's page.
func Redemption(id core.ID) string { return Redemptions + "/" + id.String() }

// RedeemFor is the form that redeems a reward for a customer.
func RedeemFor(customer core.ID) string {
	return WithQuery(NewRedemption, "customer_ulid", customer.String())
}

// Redeem asks whether a customer redeems a reward.
func Redeem(customer, reward core.ID) string {
	return NewRedemption + "?" + url.Values{"customer_ulid": {customer.String()}, "reward_ulid": {reward.String()}}.Encode()
}

// RedemptionsOf lists the redemptions of a status, a customer and a reward; "" is any.
func RedemptionsOf(status, customer, reward string) string {
	q := url.Values{}
	for name, value := range map[string]string{"status": status, "customer_ulid": customer, "reward_ulid": reward} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return Redemptions + "?" + q.Encode()
}

// Coupon is a coupon's page.
func Coupon(id core.ID) string { return Coupons + "/" + id.String() }

// CouponVouchers is the export of a coupon's vouchers.
func CouponVouchers(id core.ID) string { return Coupon(id) + "/vouchers" }

// SendForm is the page that sends a coupon.
func SendForm(coupon core.ID) string { return Coupon(coupon) + "/send" }

// SendTo is the form that sends a coupon to an audience.
func SendTo(coupon core.ID, audience string) string {
	return SendForm(coupon) + "?audience=" + audience
}

// Audience lists the customers of an audience.
func Audience(name string) string { return AudienceReport + "?audience=" + name }

// Send is the page of a send of a coupon.
func Send(coupon, send core.ID) string { return Coupon(coupon) + "/sends/" + send.String() }

// Voucher is a voucher's page.
func Voucher(id core.ID) string { return Vouchers + "/" + id.String() }

// Notification is where a notification is dealt with.
func Notification(id core.ID) string { return Notifications + "/" + id.String() }

// Person is the page of a member of the staff.
func Person(id int64) string { return numbered(Staff, id) }

// RevokeTokensOf asks whether all tokens of a member of the staff are revoked.
func RevokeTokensOf(person int64) string { return Person(person) + "/tokens/revoke" }

// RevokeTokenOf asks whether a token of a member of the staff is revoked.
func RevokeTokenOf(person, token int64) string {
	return numbered(Person(person)+"/tokens", token) + "/revoke"
}

// Token is what an API token was used for.
func Token(id int64) string { return numbered(Tokens, id) }

// RevokeToken asks whether an API token is revoked.
func RevokeToken(id int64) string { return numbered(Tokens, id) + "/revoke" }

// SetupStep is a step of the setup guide, or its end for "".
func SetupStep[S ~string](step S) string {
	if step == "" {
		return SetupDone
	}
	return Setup + "/" + string(step)
}

// SetupPreview is the example beside the form of a step.
func SetupPreview[S ~string](step S) string { return SetupStep(step) + "/preview" }

// Parts of the settings of a business.
const (
	PhoneOptional   = Business + "/phone-optional" // turns customers without a phone number on or off
	Joining         = Business + "/joining"        // the action of the form about consent
	Branding        = Business + "/look"           // the action of its form
	BrandingPreview = Branding + "/preview"
	BillingInvoices = Billing + "/invoices"
	Logos           = Panel + "/logo"
)

// Logo is the logo with a hash.
func Logo(hash string) string { return Logos + "/" + hash }

// Location is the form that renames a location.
func Location(id int64) string { return numbered(Locations, id) }

// NoLocation is the location of sales without one, as a filter.
const NoLocation = "none"

// SalesAt lists the sales at a location.
func SalesAt(location int64) string {
	return WithQuery(Transactions, "location_id", strconv.FormatInt(location, 10))
}

// BillingInvoice is an invoice of the business as a file.
func BillingInvoice(id int64) string { return numbered(BillingInvoices, id) }

// AuditOfPerson lists what a member of the staff did.
func AuditOfPerson(person int64) string {
	return WithQuery(Audit, "actor", "staff:"+strconv.FormatInt(person, 10))
}

// Pages of the platform panel.
const (
	PlatformTheme    = Platform + "/theme" // light or dark
	Tenants          = Platform + "/tenants"
	TenantAddress    = Tenants + "/address" // proposes an address for a name
	Plans            = Platform + "/plans"
	Invoices         = Platform + "/invoices"
	Jobs             = Platform + "/jobs"
	PlatformAudit    = Platform + "/audit"
	Health           = Platform + "/health"
	Verify           = Health + "/verify"
	PlatformTokens   = Platform + "/tokens"
	Deprecations     = Platform + "/deprecations"
	PlatformSettings = Platform + "/settings"
	PlatformAccount  = Platform + "/account"
)

// Tenant is the page of a business.
func Tenant(id core.TenantID) string { return numbered(Tenants, int64(id)) }

// Plan is a plan's page.
func Plan(id int64) string { return numbered(Plans, id) }

// Invoice is an invoice's page.
func Invoice(id int64) string { return numbered(Invoices, id) }

// PlatformToken is the page of a platform token.
func PlatformToken(id int64) string { return numbered(PlatformTokens, id) }

// Forms of new records.
const (
	NewTenant        = Tenants + "/new"
	NewTestBusiness  = Tenants + "/test" // a tenant for tests of an integration
	NewPlan          = Plans + "/new"
	NewPlatformToken = PlatformTokens + "/new"
	NewDeprecation   = Deprecations + "/new"
)

// TenantsOn lists the businesses on a plan.
func TenantsOn(plan int64) string { return WithQuery(Tenants, "plan", strconv.FormatInt(plan, 10)) }

// InvoicesOf lists the invoices of a business.
func InvoicesOf(id core.TenantID) string {
	return WithQuery(Invoices, "tenant", strconv.FormatInt(int64(id), 10))
}

// AuditOfTenant lists the entries about a business.
func AuditOfTenant(slug string) string { return WithQuery(PlatformAudit, "business", slug) }

func numbered(path string, id int64) string { return path + "/" + strconv.FormatInt(id, 10) }

// With sets a value in the query of an address; "" removes it.
func With(u *url.URL, name, value string) string {
	q := u.Query()
	q.Del(name)
	if value != "" {
		q.Set(name, value)
	}
	if len(q) == 0 {
		return u.Path
	}
	return u.Path + "?" + q.Encode()
}

// WithQuery adds a value to a path as its query, unless the value is "".
func WithQuery(path, name, value string) string { return With(&url.URL{Path: path}, name, value) }

// Level is the form of a level.
func Level(id int64) string { return Levels + "/" + strconv.FormatInt(id, 10) }
