package api

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/location"
)

type locationResource struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Active bool   `json:"active"`
}

func newLocationResource(l location.Location) locationResource {
	return locationResource{ID: l.ID, Name: l.Name, Active: l.Active}
}

func (a *API) listLocations(c echo.Context) error {
	q, err := parameters(c)
	if err != nil {
		return err
	}
	p := q.page()
	l, err := a.Locations.ListPage(c.Request().Context(), actor(c), p)
	if err != nil {
		return err
	}
	return writeList(c, p, l, newLocationResource)
}
