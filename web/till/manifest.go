package till

import (
	"cmp"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core/tenant"
	"example.com/loyalty/views/links"
	"example.com/loyalty/web/page"
)

// manifest lets people put the point of sale on a device's home screen.
func (t *Till) manifest(c echo.Context) error {
	business, err := t.Tenant(c)
	if err != nil {
		return err
	}
	colour := tenant.ProductColour
	if business.Colour != nil {
		colour = *business.Colour
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "private, max-age=3600")
	return page.WriteManifest(c, page.Manifest{
		ID: links.Till, Name: cmp.Or(business.Name, "Point of sale") + " · Point of sale", ShortName: "Point of sale",
		StartURL: links.Till, Scope: links.Till, Background: "#f7f7f9", Theme: "#ffffff",
	}, func(side int) string { return page.IconPath(colour, business.LogoHash, side) })
}
