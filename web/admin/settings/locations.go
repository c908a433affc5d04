package settings

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/core/location"
	views "example.com/loyalty/views/admin/settings"
	"example.com/loyalty/views/links"
	"example.com/loyalty/views/ui"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

func (h *Handlers) locationRoutes() []route.Route {
	return []route.Route{
		route.Get(links.Locations, route.Managers, h.listLocations),
		route.Post(links.Locations, route.Managers, h.addLocation),
		route.Get(links.Locations+"/:id", route.Managers, h.askLocationName),
		route.Post(links.Locations+"/:id", route.Managers, h.renameLocation),
		route.Post(links.Locations+"/:id/active", route.Managers, h.setLocationActive),
	}
}

func (h *Handlers) listLocations(c echo.Context) error {
	return h.locations(c, http.StatusOK, &forms.Form{}, views.LocationRename{})
}

// locations shows the list with the form that adds a location, and perhaps one that renames a location.
func (h *Handlers) locations(c echo.Context, status int, form *forms.Form, rename views.LocationRename) error {
	list, err := h.Locations.List(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	v := views.LocationList{Frame: h.Frame(c, "Locations", links.Locations), List: list, Form: form, FormKey: h.NewFormKey(), Rename: rename}
	return h.Render(c, status, views.LocationListPage(v), views.LocationCard(v))
}

func (h *Handlers) addLocation(c echo.Context) error {
	return page.Submit(h.Kit, c, page.Submission[location.Location]{
		RunOnce: func(ctx context.Context, by core.Actor, form *forms.Form, once *core.Once[location.Location]) (core.Reply[location.Location], error) {
			return h.Locations.Add(ctx, by, location.New{Name: form.Value("name")}, once)
		},
		Refused: func(status int, form *forms.Form) error { return h.locations(c, status, form, views.LocationRename{}) },
		To:      page.To[location.Location](links.Locations),
		Done:    func(l location.Location) string { return "“" + l.Name + "” was added." },
	})
}

// locationOf finds the location of a path. A business has few, so all are read.
func (h *Handlers) locationOf(c echo.Context) (location.Location, error) {
	id, err := panel.PathNumber(c)
	if err != nil {
		return location.Location{}, err
	}
	places, err := h.Locations.List(c.Request().Context(), page.Actor(c))
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
func (h *Handlers) askLocationName(c echo.Context) error {
	l, err := h.locationOf(c)
	if err != nil {
		return err
	}
	return h.renameForm(c, http.StatusOK, l, forms.Blank(map[string]string{"name": l.Name}))
}

func (h *Handlers) renameForm(c echo.Context, status int, l location.Location, form *forms.Form) error {
	if page.IsFragment(c) {
		return h.Render(c, status, views.LocationNameForm(l, form), nil)
	}
	return h.locations(c, status, &forms.Form{}, views.LocationRename{ID: l.ID, Form: form})
}

func (h *Handlers) renameLocation(c echo.Context) error {
	old, err := h.locationOf(c)
	if err != nil {
		return err
	}
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	l, err := h.Locations.Edit(c.Request().Context(), page.Actor(c), old.ID, location.Edit{Name: panel.SetTo(form.Text("name"))})
	if form.Refused(err) {
		return h.renameForm(c, http.StatusUnprocessableEntity, old, form)
	}
	if err != nil {
		return err
	}
	if page.IsFragment(c) {
		return h.Render(c, http.StatusOK, views.LocationLine(l, "Renamed"), nil)
	}
	h.Flash(c, ui.Done, "“"+old.Name+"” was renamed to “"+l.Name+"”.")
	return h.Redirect(c, links.Locations)
}

func (h *Handlers) setLocationActive(c echo.Context) error {
	id, err := panel.PathNumber(c)
	if err != nil {
		return err
	}
	set := func(ctx context.Context, by core.Actor, active bool) (location.Location, error) {
		return h.Locations.Edit(ctx, by, id, location.Edit{Active: core.Set(active)})
	}
	return panel.SetActive(&h.Panel, c, links.Locations, set, func(l location.Location) string {
		if l.Active {
			return "“" + l.Name + "” is open"
		}
		return "“" + l.Name + "” is closed. It can't be used for new sales."
	})
}
