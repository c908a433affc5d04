package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/award"
	"example.com/loyalty/core/customer"
	"example.com/loyalty/core/ledger"
	"example.com/loyalty/core/transaction"
)

// customerFields are what lists and reports have of a customer.
type customerFields struct {
	ULID          core.ID         `json:"ulid"`
	FirstName     string          `json:"first_name"`
	LastName      string          `json:"last_name"`
	Phone         string          `json:"phone"`
	Email         *string         `json:"email"`
	Status        customer.Status `json:"status"`
	PointsBalance int64           `json:"points_balance"`
	StampsBalance int64           `json:"stamps_balance"`
	CreatedAt     stamp           `json:"created_at"`
	UpdatedAt     stamp           `json:"updated_at"`
}

type customerResource struct {
	customerFields
	PointsExpireOn   *day               `json:"points_expire_on"`
	StampsExpireOn   *day               `json:"stamps_expire_on"`
	ExternalID       *string            `json:"external_id"`
	Metadata         core.Metadata      `json:"metadata"`
	Tags             []string           `json:"tags"`
	BalanceChangedAt *stamp             `json:"balance_changed_at"`
	Birthday         *customer.Birthday `json:"birthday"`
	Tier             *tierResource      `json:"tier"`
}

// tierResource is a customer's level. Clients of the API know levels as tiers.
type tierResource struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Until *day   `json:"until"`
}

// newTierResource returns a customer's level; nil if the business has none.
func newTierResource(p *award.Progress) *tierResource {
	if p == nil {
		return nil
	}
	return &tierResource{ID: p.Level.ID, Name: p.Level.Name, Until: optionalDay(p.Until)}
}

// customerResources returns how customers of the caller's business are written, as of now.
func (a *API) customerResources(c echo.Context) (func(customer.Customer) customerResource, error) {
	by := actor(c)
	progress, err := a.Transactions.ProgressNow(c.Request().Context(), by)
	if err != nil {
		return nil, err
	}
	return func(c customer.Customer) customerResource {
		return newCustomerResource(by.Tenant, c, newTierResource(progress(c.Standing)))
	}, nil
}

func newCustomerResource(t core.Tenant, c customer.Customer, tier *tierResource) customerResource {
	return customerResource{
		customerFields: customerFields{
			ULID: c.ID, FirstName: c.FirstName, LastName: c.LastName, Phone: c.Phone, Email: c.Email, Status: c.Status,
			PointsBalance: c.PointsBalance, StampsBalance: c.StampsBalance,
			CreatedAt: stamp(c.CreatedAt), UpdatedAt: stamp(c.UpdatedAt),
		},
		PointsExpireOn: (*day)(c.ExpiresOn(t, ledger.Points)), StampsExpireOn: (*day)(c.ExpiresOn(t, ledger.Stamps)),
		BalanceChangedAt: optionalStamp(c.BalanceChangedAt),
		ExternalID:       c.ExternalID, Metadata: orEmpty(c.Metadata), Tags: append([]string{}, c.Tags...), Birthday: c.Birthday, Tier: tier,
	}
}

// orEmpty returns metadata as they are written: an object also if there are none.
func orEmpty(m core.Metadata) core.Metadata {
	if m == nil {
		return core.Metadata{}
	}
	return m
}

func (a *API) listCustomers(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	f := customer.Filter{
		Phone: q.text("phone"), Email: q.text("email"), ExternalID: q.text("external_id"), Search: q.text("search"), Status: q.text("status"),
		CreatedFrom: q.date("created_from"), CreatedTo: q.date("created_to"),
	}
	since := q.since()
	p := q.page()
	resource, err := a.customerResources(c)
	if err != nil {
		return err
	}
	l, err := a.Changes.Customers(c.Request().Context(), actor(c), f, since, p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, resource)
}

func (a *API) upsertCustomer(c echo.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	n := readNewCustomer(in)
	resource, err := a.customerResources(c)
	if err != nil {
		return err
	}
	return idempotent(c, func(once *core.Once[customer.Upserted]) (core.Reply[customer.Upserted], error) {
		return a.Customers.Upsert(c.Request().Context(), actor(c), n, once)
	}, upsertedResource(resource))
}

// upsertedResource returns the status and the resource of upserted customers.
func upsertedResource(resource func(customer.Customer) customerResource) func(customer.Upserted) (int, any) {
	return func(u customer.Upserted) (int, any) {
		if u.Created {
			return http.StatusCreated, resource(u.Customer)
		}
		return http.StatusOK, resource(u.Customer)
	}
}

// readNewCustomer reads a customer to add. It adds what it can't read to in.
func readNewCustomer(in object) customer.New {
	return customer.New{
		FirstName: in.value("first_name"), LastName: in.value("last_name"), Phone: in.value("phone"), Email: in.value("email"),
		ExternalID: in.value("external_id"), Metadata: core.OrZero(in.metadata("metadata")), Tags: core.OrZero(in.texts("tags")), Birthday: in.value("birthday"),
		Malformed: in.unreadable,
	}
}

func (a *API) findCustomer(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	resource, err := a.customerResources(c)
	if err != nil {
		return err
	}
	found, err := a.Customers.Find(c.Request().Context(), actor(c), id)
	if err != nil {
		return err
	}
	return writeData(c, http.StatusOK, resource(found))
}

func (a *API) editCustomer(c echo.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	id, err := pathID(c)
	if err != nil {
		return err
	}
	resource, err := a.customerResources(c)
	if err != nil {
		return err
	}
	edited, err := a.Customers.Edit(c.Request().Context(), actor(c), id, customer.Edit{
		FirstName: in.optionalText("first_name"), LastName: in.optionalText("last_name"),
		Phone: in.optionalText("phone"), Email: in.optionalText("email"), Status: in.optionalText("status"),
		If:         ifMatch(c, func(stored customer.Customer) any { return resource(stored) }),
		ExternalID: in.optionalText("external_id"), Metadata: in.optionalMetadata("metadata"), Tags: in.optionalTexts("tags"),
		Birthday:  in.optionalText("birthday"),
		Malformed: in.unreadable,
	})
	if err != nil {
		return err
	}
	return writeData(c, http.StatusOK, resource(edited))
}

func (a *API) listCustomerTransactions(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	id, err := pathID(c)
	if err != nil {
		return err
	}
	p := q.page()
	l, err := a.Transactions.ListByCustomer(c.Request().Context(), actor(c), id, p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, func(t transaction.Transaction) transactionResource { return newTransactionResource(actor(c), t) })
}

type endingResource struct {
	Unit      ledger.Unit `json:"unit"`
	Amount    int64       `json:"amount"`
	ExpiresOn *day        `json:"expires_on"`
}

func newEndingResource(e ledger.Ending) endingResource {
	return endingResource{Unit: e.Unit, Amount: e.Amount, ExpiresOn: (*day)(e.ExpiresOn)}
}

func (a *API) listExpiring(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	endings, err := a.Customers.Expiring(c.Request().Context(), actor(c), id)
	if err != nil {
		return err
	}
	return writeAll(c, endings, newEndingResource)
}

type ledgerEntryResource struct {
	ULID            core.ID     `json:"ulid"`
	Kind            ledger.Kind `json:"kind"`
	Unit            ledger.Unit `json:"unit"`
	Amount          int64       `json:"amount"`
	BalanceAfter    int64       `json:"balance_after"`
	TransactionULID *core.ID    `json:"transaction_ulid"`
	ExpiresOn       *day        `json:"expires_on"`
	CreatedAt       stamp       `json:"created_at"`
}

func newLedgerEntryResource(e customer.LedgerEntry) ledgerEntryResource {
	return ledgerEntryResource{
		ULID: e.ID, Kind: e.Kind, Unit: e.Unit, Amount: e.Amount, BalanceAfter: e.BalanceAfter,
		TransactionULID: e.TransactionID, ExpiresOn: (*day)(e.ExpiresOn), CreatedAt: stamp(e.CreatedAt),
	}
}

func (a *API) listLedgerEntries(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	id, err := pathID(c)
	if err != nil {
		return err
	}
	p := q.page()
	l, err := a.Customers.LedgerEntries(c.Request().Context(), actor(c), id, p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, newLedgerEntryResource)
}
