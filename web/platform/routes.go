package platform

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/core"
)

const (
	get  = http.MethodGet
	post = http.MethodPost
)

// route is a page or an action. Only super-admins have it, unless it is public.
type route struct {
	method string
	path   string
	handle echo.HandlerFunc
	public bool // strangers have it, too
	setup  bool // it is part of setting up two-step verification, before which there is nothing else
	slow   bool // a download: takes what it takes
}

// routes are the panel's. Those of a noun are in its file.
func (p *Platform) routes() []route {
	return slices.Concat(
		p.frameRoutes(),
		p.tenantRoutes(),
		p.signInRoutes(),
		p.planRoutes(),
		p.invoiceRoutes(),
		p.jobRoutes(),
		p.auditRoutes(),
		p.healthRoutes(),
		p.deprecationRoutes(),
		p.tokenRoutes(),
		p.settingRoutes(),
	)
}

// Page is what is there to be asked for: a page, a part of one, or a file.
type Page struct {
	Path   string // with a :name where a record's id goes
	Public bool   // strangers have it, too
	Slow   bool   // it takes what it takes
}

// Pages are all of the panel's.
func Pages() (list []Page) {
	for _, r := range (&Platform{}).routes() {
		if r.method == get {
			list = append(list, Page{Path: r.path, Public: r.public, Slow: r.slow})
		}
	}
	return list
}

// number is the record's id in the path, or core.ErrNotFound.
func number(c echo.Context) (int64, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return 0, core.ErrNotFound
	}
	return id, nil
}
