package reports

import (
	"github.com/a-h/templ"

	"example.com/loyalty/core/report"
	"example.com/loyalty/views/panel"
)

// Dashboard shows the business's figures for a period.
type Dashboard struct {
	panel.Frame
	Setup    templ.Component // leads back to the setup guide; nil: it is finished
	Period   Period          // the chosen one
	Overview report.Overview // of its days
	Top      []report.Customer
	Feed     report.Feed
}
