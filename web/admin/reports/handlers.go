// Package reports serves the dashboard and the reports.
package reports

import (
	"slices"

	"example.com/loyalty/views/links"
	"example.com/loyalty/web/panel"
	"example.com/loyalty/web/route"
)

// Handlers serves the pages.
type Handlers struct {
	*panel.Business
	Guide Guide
}

// Routes lists the pages and actions.
func (h *Handlers) Routes() []route.Route {
	return slices.Concat(
		h.dashboardRoutes(), h.reportRoutes(), h.ExportRoutes(links.SummaryReport, h.summaryFile), h.ExportRoutes(links.TopReport, h.topFile),
		h.ExportRoutes(links.VisitorReport, h.visitorsFile), h.ExportRoutes(links.CohortReport, h.cohortsFile),
		h.ExportRoutes(links.GroupReport, h.groupsFile), h.ExportRoutes(links.AudienceReport, h.audienceFile), h.ExportRoutes(links.PointsReport, h.statementFile), h.ExportRoutes(links.LastDays, h.lastDaysFile), h.ExportRoutes(links.EarnedMonths, h.earnedFile),
		h.ExportRoutes(links.EarningReport, h.rulesFile), h.ExportRoutes(links.PromotionHours, h.promotionHoursFile), h.ExportRoutes(links.LevelReport, h.levelsFile),
		h.ExportRoutes(links.LocationReport, h.locationFile), h.ExportRoutes(links.StaffReport, h.staffFile), h.ExportRoutes(links.HourReport, h.hoursFile),
		h.ExportRoutes(links.RewardReport, h.rewardFile), h.ExportRoutes(links.RewardSteps, h.rewardStepsFile),
		h.ExportRoutes(links.CouponReport, h.couponFile), h.ExportRoutes(links.CouponSteps, h.couponStepsFile),
	)
}
