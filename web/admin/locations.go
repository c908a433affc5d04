package admin

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/location"
	views "example.com/loyalty/views/admin"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

const locationsPath = "/admin/locations"

func (a *Admin) locationRoutes() []route.Route {
	return []route.Route{
		route.Get(locationsPath, route.Managers, a.listLocations),
		route.Post(locationsPath, route.Managers, a.addLocation),
		route.Get(locationsPath+"/:id", route.Managers, a.askLocationName),
		route.Post(locationsPath+"/:id", route.Managers, a.renameLocation),
		route.Post(locationsPath+"/:id/active", route.Managers, a.setLocationActive),
	}
}

func locationRow(l location.Location) views.LocationRow {
	id := strconv.FormatInt(l.ID, 10)
	return views.LocationRow{
		ID: id, Path: locationsPath + "/" + id, Name: l.Name, Open: l.Active, Sales: page.WithQuery(transactionsPath, "location_id", id),
	}
}

func (a *Admin) listLocations(c echo.Context) error {
	return a.locations(c, http.StatusOK, &page.Form{}, nil)
}

// locations shows the list with the form that adds a location. renamed replaces its line.
func (a *Admin) locations(c echo.Context, status int, form *page.Form, renamed *views.LocationRow) error {
	places, err := a.Locations.List(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	v := views.LocationList{Frame: a.frame(c, "Locations", locationsPath), FormKey: a.NewFormKey(), Add: form.Field("name", "New location")}
	v.Problem = form.Problem()
	v.Add.Autocomplete, v.Add.Placeholder = "off", "Station Street"
	for _, l := range places {
		row := locationRow(l)
		if renamed != nil && renamed.ID == row.ID {
			row = *renamed
		}
		v.Rows = append(v.Rows, row)
	}
	return a.Render(c, status, views.LocationListPage(v), views.LocationCard(v))
}

func (a *Admin) addLocation(c echo.Context) error {
	return page.Submit(a.Kit, c, page.Submission[location.Location]{
		Run: func(ctx context.Context, by core.Actor, form *page.Form) (location.Location, error) {
			return a.Locations.Add(ctx, by, location.New{Name: form.Text("name")})
		},
		Refused: func(status int, form *page.Form) error { return a.locations(c, status, form, nil) },
		Once:    true,
		To:      page.To[location.Location](locationsPath),
		Done:    func(l location.Location) string { return "“" + l.Name + "” was added." },
	})
}

// locationOf finds the location of a path. A business has few, so all are read.
func (a *Admin) locationOf(c echo.Context) (location.Location, error) {
	id, err := pathNumber(c)
	if err != nil {
		return location.Location{}, err
	}
	places, err := a.Locations.List(c.Request().Context(), page.Actor(c))
	if err != nil {
		return location.Location{}, err
	}
	at := slices.IndexFunc(places, func(l location.Location) bool { return l.ID == id })
	if at < 0 {
		return location.Location{}, core.ErrNotFound
	}
	return places[at], nil
}

// askLocationName shows the form that renames a location in its line of the list.
func (a *Admin) askLocationName(c echo.Context) error {
	l, err := a.locationOf(c)
	if err != nil {
		return err
	}
	return a.renameForm(c, http.StatusOK, l, page.Blank(map[string]string{"name": l.Name}))
}

func (a *Admin) renameForm(c echo.Context, status int, l location.Location, form *page.Form) error {
	row := locationRow(l)
	field := form.Field("name", "Name")
	row.Rename = &field
	if page.IsFragment(c) {
		return a.Render(c, status, views.LocationLine(row), nil)
	}
	return a.locations(c, status, &page.Form{}, &row)
}

func (a *Admin) renameLocation(c echo.Context) error {
	old, err := a.locationOf(c)
	if err != nil {
		return err
	}
	form, err := page.Read(c)
	if err != nil {
		return err
	}
	l, err := a.Locations.Edit(c.Request().Context(), page.Actor(c), old.ID, location.Edit{Name: setTo(form.Text("name"))})
	if form.Refused(err) {
		return a.renameForm(c, http.StatusUnprocessableEntity, old, form)
	}
	if err != nil {
		return err
	}
	if page.IsFragment(c) {
		row := locationRow(l)
		row.Done = "Renamed"
		return a.Render(c, http.StatusOK, views.LocationLine(row), nil)
	}
	a.Flash(c, ui.Done, "“"+old.Name+"” was renamed to “"+l.Name+"”.")
	return a.Redirect(c, locationsPath)
}

func (a *Admin) setLocationActive(c echo.Context) error {
	id, err := pathNumber(c)
	if err != nil {
		return err
	}
	set := func(ctx context.Context, by core.Actor, active bool) (location.Location, error) {
		return a.Locations.Edit(ctx, by, id, location.Edit{Active: core.Set(active)})
	}
	return setActive(a, c, locationsPath, set, func(l location.Location) string {
		if l.Active {
			return "“" + l.Name + "” is open"
		}
		return "“" + l.Name + "” is closed. It can't be used for new sales."
	})
}
