package settings

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
	views "example.com/loyalty/views/admin/settings"
	"example.com/loyalty/views/format"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/page"
	"example.com/loyalty/web/route"
)

func (h *Handlers) posterRoutes() []route.Route {
	return []route.Route{route.Get(links.Poster, route.Managers, h.showPoster)}
}

// showPoster shows the poster with which customers join, as it is printed.
func (h *Handlers) showPoster(c echo.Context) error {
	ctx, by := c.Request().Context(), page.Actor(c)
	types, err := h.Transactions.Types(ctx, by)
	if err != nil {
		return err
	}
	rewards, err := h.Rewards.ListActive(ctx, by, core.Page{Size: core.MaxPageSize})
	if err != nil {
		return err
	}
	host := c.Request().Host
	qr, err := page.QR("https://"+host+"/join", "QR code that opens "+host+"/join")
	if err != nil {
		return err
	}
	v := views.Poster{
		Frame: h.Frame(c, "Poster", links.Poster), QR: qr, Address: host + "/join",
		Offer: format.OfferOf(types, rewards.Items, by.Tenant.Currency, h.Reader(c).Today()), Paper: views.A4,
	}
	if c.QueryParam("paper") == string(views.A5) {
		v.Paper = views.A5
	}
	return h.Render(c, http.StatusOK, views.PosterPage(v), nil)
}
