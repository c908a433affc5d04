package page

import "github.com/labstack/echo/v4"

// WithRecord runs a handler with the record that the request is about.
func WithRecord[T any](load func(echo.Context) (T, error), handle func(echo.Context, T) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		record, err := load(c)
		if err != nil {
			return err
		}
		return handle(c, record)
	}
}
