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

// route is a page or an action for super-admins.
type route struct {
	method string
	path   string
	handle echo.HandlerFunc
	public bool // needs no sign-in
	setup  bool // part of setting up two-step verification, the only pages before it is set up
	slow   bool // without a time limit
}

// routes lists the routes of the panel. Each noun's are in its file.
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

// Page is a page, a part of one, or a file.
type Page struct {
	Path   string // with :id for a record's id
	Public bool   // needs no sign-in
	Slow   bool   // without a time limit
}

// Pages lists the pages of the panel.
func Pages() (list []Page) {
	for _, r := range (&Platform{}).routes() {
		if r.method == get {
			list = append(list, Page{Path: r.path, Public: r.public, Slow: r.slow})
		}
	}
	return list
}

// pathID returns the id in the path, or core.ErrNotFound.
func pathID(c echo.Context) (int64, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil {
		return 0, core.ErrNotFound
	}
	return id, nil
}
