// Package operations serves the pages of operators: health, jobs, the audit log, API tokens, deprecations, the settings of the platform.
package operations

import (
	"slices"

	"example.com/loyalty/core/billing"
	"example.com/loyalty/core/job"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Platform
	Jobs         *job.Queue
	Invoices     *billing.Service // has the settings
	Requests     []string         // that can be deprecated: "GET /api/v1/customers"
	Version      string           // of the build
	MailTrouble  func() string    // the last error of the mail server, or ""
	LimitTrouble func() string    // the last error of Redis, or ""
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return slices.Concat(h.jobRoutes(), h.auditRoutes(), h.healthRoutes(), h.deprecationRoutes(), h.tokenRoutes(), h.settingRoutes())
}
