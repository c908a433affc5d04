package docs

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/token"
	views "example.com/loyalty/views/docs"
)

// topic is a guide to one job of an integration.
type topic struct {
	path, label, description string
	scopes                   []token.Ability // that its requests need
	requests                 func(apiURL) map[string]string
	page                     func(views.Guide) templ.Component
}

// topics are the guides that explain several endpoints together, the most wanted first.
var topics = []topic{
	{"/docs/sync", "Staying in step", "How to copy customers and sales, and keep the copy in step without missing a change.", []token.Ability{token.CustomersRead, token.TransactionsWrite, token.RewardsRead, token.CouponsRead}, syncRequests, views.SyncPage},
	{"/docs/customers", "Customers", "How to find customers by phone number, e-mail or your own ID, and what happens when they are merged or erased.", []token.Ability{token.CustomersRead, token.CustomersWrite}, customerRequests, views.CustomersPage},
	{"/docs/scanning", "Scanning", "What the QR codes of cards and vouchers contain, and what a point of sale does with them.", []token.Ability{token.CustomersRead, token.CouponsRead}, scanningRequests, views.ScanningPage},
	{"/docs/tills", "Several tills", "How several tills share a business: tokens, keys, locations, and sales that were made offline.", []token.Ability{token.TransactionsWrite}, tillRequests, views.TillsPage},
	{"/docs/vouchers", "Vouchers", "How a web shop takes vouchers and rewards at its checkout, and gives them back when a payment fails.", []token.Ability{token.CouponsRead, token.TransactionsWrite, token.RewardsRead}, voucherRequests, views.VouchersPage},
	{"/docs/promotions", "Promotions and tiers", "How to send what was bought, what promotions make of it, and the tiers and birthdays of customers.", []token.Ability{token.RewardsRead, token.TransactionsWrite, token.CustomersRead, token.CustomersWrite}, promotionRequests, views.PromotionsPage},
	{"/docs/refunds", "Refunds", "How to take back the points of a sale, in part or whole, and find it by your order number.", []token.Ability{token.TransactionsWrite}, refundRequests, views.RefundsPage},
	{"/docs/browsers", "Browsers", "Why browsers can’t call the API (no CORS), and what a web shop does instead.", nil, browserRequests, views.BrowsersPage},
	{"/docs/retries", "Retries", "How to retry an API request without doing anything twice.", []token.Ability{token.CustomersWrite, token.TransactionsWrite}, retryRequests, views.RetriesPage},
}

// guides are the pages beside the reference.
type guides struct {
	topics     []views.Guide // in the order of topics
	versioning views.Versioning
	changelog  views.Changelog
}

func newGuides(s site) guides {
	api := s.base + "/api/v1"
	var list []views.Guide
	for _, t := range topics {
		g := views.Guide{Frame: s.frame(t.label+" · Loyalty", t.description, t.path), Requests: t.requests(apiURL(api))}
		for _, scope := range t.scopes {
			g.Scopes = append(g.Scopes, string(scope))
		}
		list = append(list, g)
	}
	return guides{
		topics: list,
		versioning: views.Versioning{
			Frame: s.frame("Versioning · Loyalty", "What API clients can rely on, and how you learn about changes.", "/docs/versioning"),
			Headers: `Deprecation: true
Sunset: Thu, 01 Apr 2027 00:00:00 GMT
Link: <` + s.base + `/docs/changelog>; rel="deprecation"`,
			Watch: `curl --silent --output /dev/null --dump-header - \
  --header "Authorization: Bearer $TOKEN" \
  ` + api + `/customers |
  grep -iE '^(deprecation|sunset|link):'`,
		},
		changelog: views.Changelog{
			Frame:  s.frame("Changelog · Loyalty", "What the API can do, and since when.", changelogPath),
			Feed:   feedPath,
			Launch: launch,
			Added:  added(),
		},
	}
}

// showTopics returns the handlers of the topics by their paths.
func (g guides) showTopics() map[string]echo.HandlerFunc {
	handlers := map[string]echo.HandlerFunc{}
	for i, t := range topics {
		handlers[t.path] = func(c echo.Context) error { return render(c, http.StatusOK, t.page(g.topics[i])) }
	}
	return handlers
}

func (g guides) showVersioning(c echo.Context) error {
	return render(c, http.StatusOK, views.VersioningPage(g.versioning))
}

func (g guides) showChangelog(c echo.Context) error {
	return render(c, http.StatusOK, views.ChangelogPage(g.changelog))
}
