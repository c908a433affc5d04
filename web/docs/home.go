package docs

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/docs"
)

// readyPatience is how long the start page waits for the readiness of the service.
const readyPatience = 2 * time.Second

const (
	missingBusiness = "Enter your business’s address."
	unknownBusiness = "No business has this address. Check your invitation e-mail."
)

// showHome shows the start page. With a business's address, it leads to its sign-in.
func (p *Pages) showHome(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyPatience)
	defer cancel()
	_, err := p.Ready(ctx)
	v := views.Home{
		Frame: p.frame("Loyalty", "Points and stamps for the customers of shops: sign in, or connect with the API.", "/"),
		API:   p.base + "/api/v1", Ready: err == nil,
	}
	if p.Names.Tenant("x") != p.base { // an installation at an address has no other hosts
		v.Suffix = "." + strings.TrimPrefix(p.base, "https://")
	}
	// The form leads to the host of a business, which browsers treat as a part of its action.
	policy := c.Response().Header().Get(echo.HeaderContentSecurityPolicy)
	c.Response().Header().Set(echo.HeaderContentSecurityPolicy, strings.Replace(policy, "form-action 'self'", "form-action 'self' "+p.Names.Tenant("*"), 1))
	entered, asked := c.QueryParams()["business"]
	if !asked {
		return render(c, http.StatusOK, views.HomePage(v))
	}
	v.Business, v.Problem = strings.TrimSpace(entered[0]), unknownBusiness
	if v.Business == "" {
		v.Problem = missingBusiness
	}
	if slug := p.slugOf(v.Business); slug != "" {
		found, err := p.Exists(c.Request().Context(), slug)
		if err != nil {
			return err
		}
		if found {
			return c.Redirect(http.StatusSeeOther, p.Names.Tenant(slug)+"/admin")
		}
	}
	return render(c, http.StatusUnprocessableEntity, views.HomePage(v))
}

var slugPattern = regexp.MustCompile(`^[a-z0-9-]{1,63}$`)

// slugOf returns the slug in what people enter: "demo", "demo.example.com" or an address copied
// from the browser; "" if there is none.
func (p *Pages) slugOf(entered string) string {
	entered = strings.TrimPrefix(strings.ToLower(entered), "https://")
	address, _, _ := strings.Cut(entered, "/")
	if slug, known := p.Names.Slug(address); known && slug != "" {
		return slug
	}
	if slugPattern.MatchString(address) {
		return address
	}
	return ""
}
