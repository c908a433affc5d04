package till

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	"example.com/loyalty/views/links"
	views "example.com/loyalty/views/till"
	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

// locationCookie stores the location of the device.
const (
	locationCookie = "__Host-till-location"
	locationTime   = 365 * 24 * 3600 // seconds
)

// deviceLocation is the location that this device is set to. It may have been closed since.
func deviceLocation(c echo.Context) *int64 {
	cookie, err := c.Cookie(locationCookie)
	if err != nil {
		return nil
	}
	id, err := strconv.ParseInt(cookie.Value, 10, 64)
	if err != nil {
		return nil
	}
	return &id
}

// openLocations is the menu of open locations, or nil if there are none. The device is at the only
// one, if there is just one.
func (t *Till) openLocations(c echo.Context) (*views.Places, error) {
	list, err := t.Locations.List(c.Request().Context(), page.Actor(c))
	if err != nil {
		return nil, err
	}
	p, chosen := &views.Places{}, deviceLocation(c)
	for _, l := range list {
		if l.Active {
			current := chosen != nil && *chosen == l.ID
			p.List = append(p.List, views.Place{ID: strconv.FormatInt(l.ID, 10), Name: l.Name, Current: current})
		}
	}
	if len(p.List) == 0 {
		return nil, nil //nolint:nilnil // a business without locations has no menu of them
	}
	if len(p.List) == 1 {
		p.List[0].Current = true
	}
	for _, l := range p.List {
		if l.Current {
			p.Current, p.ID = l.Name, l.ID
		}
	}
	return p, nil
}

// unasked reports whether the device's location isn't known, although there are several.
func unasked(p *views.Places) bool { return p != nil && p.ID == "" }

// askLocation asks for the device's location before the first sale. The answer leads back to the draft.
func (t *Till) askLocation(c echo.Context, frame views.Frame, d draft) error {
	frame.Title = "Choose location"
	v := views.WhichPlace{Frame: frame, To: d.path()}
	return t.Render(c, http.StatusOK, views.WhichPlacePage(v), views.WhichPlaceMain(v))
}

// path is the address of the draft's page.
func (d draft) path() string {
	path, q := links.Till, url.Values{}
	if id, err := core.ParseID(d.Value(customerField)); err == nil {
		path = links.TillCustomer(id)
	}
	for _, name := range []string{spendField, amountField, typeField, pinField, pendingField, rewardsField, vouchersField} {
		if d.Filled(name) != nil {
			q[name] = d.Values[name]
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

func (t *Till) chooseLocation(c echo.Context) error {
	form, err := forms.Read(c)
	if err != nil {
		return err
	}
	id := form.Integer("id")
	if id == nil {
		return core.ErrNotFound
	}
	list, err := t.Locations.List(c.Request().Context(), page.Actor(c))
	if err != nil {
		return err
	}
	for _, l := range list {
		if l.ID == *id && l.Active {
			return t.setLocation(c, l.ID, page.SafePath(form.Value("to"), page.Back(c, links.Till)))
		}
	}
	return core.ErrNotFound
}

func (t *Till) setLocation(c echo.Context, id int64, to string) error {
	cookie := &http.Cookie{
		Name: locationCookie, Value: strconv.FormatInt(id, 10), Path: "/", MaxAge: locationTime,
		Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	c.SetCookie(cookie)
	if !page.IsFragment(c) {
		return t.Redirect(c, to)
	}
	c.Request().Header.Del("Cookie") // openLocations reads the cookie, and must find the new one
	c.Request().AddCookie(cookie)
	places, err := t.openLocations(c)
	if err != nil {
		return err
	}
	return t.Render(c, http.StatusOK, nil, views.PlacesMenu(*places))
}
