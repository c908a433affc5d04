package docs

import (
	"net/http"

	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/docs"
)

// guides are the pages beside the reference.
type guides struct {
	retries    views.Retries
	versioning views.Versioning
	changelog  views.Changelog
}

func newGuides(s site) guides {
	api := s.base + "/api/v1"
	return guides{
		retries: views.Retries{
			Frame:      s.frame("Retries · Loyalty", "How to retry an API request without doing anything twice.", "/docs/retries"),
			Keyed:      keyedRequest(api),
			Referenced: referencedRequest(api),
			Found:      lastTransactionRequest(api),
			Loop:       retryLoop(api),
			Pseudocode: pseudocode,
		},
		versioning: views.Versioning{
			Frame: s.frame("Versioning · Loyalty", "What API clients can rely on, and how you learn about changes.", "/docs/versioning"),
			Headers: `Deprecation: true
Sunset: Thu, 01 Apr 2027 00:00:00 GMT
Link: <` + s.base + `/docs/changelog>; rel="deprecation"`,
			Watch: `curl --silent --output /dev/null --dump-header - \
  --header "Authorization: Bearer $TOKEN" \
  ` + api + `/customers |
  grep -iE '^(deprecation|sunset|link):'`,
		},
		changelog: views.Changelog{
			Frame:  s.frame("Changelog · Loyalty", "What the API can do, and since when.", changelogPath),
			Feed:   feedPath,
			Launch: launch,
			Added:  added(),
		},
	}
}

func (g guides) showRetries(c echo.Context) error {
	return render(c, http.StatusOK, views.RetriesPage(g.retries))
}

func (g guides) showVersioning(c echo.Context) error {
	return render(c, http.StatusOK, views.VersioningPage(g.versioning))
}

func (g guides) showChangelog(c echo.Context) error {
	return render(c, http.StatusOK, views.ChangelogPage(g.changelog))
}
