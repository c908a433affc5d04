package platform

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/web/page"
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

func pathID(c echo.Context) (int64, error) { return page.PathNumber(c, "id") }

// OpenPosts lists the paths that take a POST without a sign-in.
func OpenPosts() (paths []string) {
	for _, r := range (&Platform{}).routes() {
		if r.method == post && r.public {
			paths = append(paths, r.path)
		}
	}
	return paths
}
