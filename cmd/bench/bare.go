package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/sample"
)

// bareCommand is the argument that makes this program the bare handler.
const bareCommand = "bare"

// leanCustomer has the fields of the API's customer.
type leanCustomer struct {
	ULID          core.ID   `json:"ulid"`
	FirstName     string    `json:"first_name"`
	LastName      string    `json:"last_name"`
	Phone         string    `json:"phone"`
	Email         *string   `json:"email"`
	Status        string    `json:"status"`
	PointsBalance int64     `json:"points_balance"`
	StampsBalance int64     `json:"stamps_balance"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

const leanCustomerSQL = `
	select id, first_name, last_name, phone, email, status, points, stamps, created_at, updated_at
	from lean.customer
	where id = $1`

// serveBare serves what Echo and pgx can do at most: a customer by primary key, without tokens, limits,
// tenants and a log. Addresses, connections, heap growth and the response's fields are the product's.
func serveBare(ctx context.Context) {
	debug.SetGCPercent(400)
	config := sample.Must(pgxpool.ParseConfig(os.Getenv("DATABASE_URL")))
	config.MaxConns = 20
	pool := sample.Must(pgxpool.NewWithConfig(ctx, config))
	defer pool.Close()
	e := echo.New()
	e.GET("/readyz", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
	e.GET("/api/v1/customers/:ulid", func(c echo.Context) error {
		id, err := core.ParseID(c.Param("ulid"))
		if err != nil {
			return err
		}
		rows, err := pool.Query(c.Request().Context(), leanCustomerSQL, id)
		if err != nil {
			return err
		}
		found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[leanCustomer])
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, map[string]any{"data": found})
	})
	s := httptest.NewUnstartedServer(e) // with a certificate
	sample.Must(0, s.Listener.Close())
	s.Listener = sample.Must(new(net.ListenConfig).Listen(ctx, "tcp", os.Getenv("LOYALTY_ADDR")))
	s.StartTLS()
	<-ctx.Done()
	s.CloseClientConnections()
	s.Close()
}
