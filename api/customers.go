package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/customer"
)

type customerResource struct {
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

func newCustomerResource(c customer.Customer) customerResource {
	return customerResource{
		ULID: c.ID, FirstName: c.FirstName, LastName: c.LastName, Phone: c.Phone, Email: c.Email, Status: c.Status,
		PointsBalance: c.PointsBalance, StampsBalance: c.StampsBalance,
		CreatedAt: stamp(c.CreatedAt), UpdatedAt: stamp(c.UpdatedAt),
	}
}

func (a *API) listCustomers(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	f := customer.Filter{
		Phone: q.text("phone"), Email: q.text("email"), Search: q.text("search"), Status: q.text("status"),
		CreatedFrom: q.date("created_from"), CreatedTo: q.date("created_to"),
	}
	p := q.page()
	l, err := a.Customers.List(c.Request().Context(), actor(c), f, p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, newCustomerResource)
}

func (a *API) upsertCustomer(c echo.Context) error {
	in, err := readBody(c)
	if err != nil {
		return err
	}
	n := customer.New{
		FirstName: in.value("first_name"), LastName: in.value("last_name"), Phone: in.value("phone"), Email: in.value("email"),
		Malformed: in.unreadable,
	}
	return idempotent(c, func(once *core.Once[customer.Upserted]) (core.Reply[customer.Upserted], error) {
		return a.Customers.Upsert(c.Request().Context(), actor(c), n, once)
	}, func(u customer.Upserted) (int, any) {
		if u.Created {
			return http.StatusCreated, newCustomerResource(u.Customer)
		}
		return http.StatusOK, newCustomerResource(u.Customer)
	})
}

func (a *API) findCustomer(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	found, err := a.Customers.Find(c.Request().Context(), actor(c), id)
	if err != nil {
		return err
	}
	return writeData(c, http.StatusOK, newCustomerResource(found))
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
	edited, err := a.Customers.Edit(c.Request().Context(), actor(c), id, customer.Edit{
		FirstName: in.optionalText("first_name"), LastName: in.optionalText("last_name"),
		Phone: in.optionalText("phone"), Email: in.optionalText("email"), Status: in.optionalText("status"),
		Malformed: in.unreadable,
	})
	if err != nil {
		return err
	}
	return writeData(c, http.StatusOK, newCustomerResource(edited))
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
	return writeList(c, p, l, newTransactionResource)
}
