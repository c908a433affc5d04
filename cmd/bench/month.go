package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/valyala/fasthttp"
)

// measureMonth measures the summary of a past month of the large business.
func (b *bench) measureMonth(ctx context.Context) {
	d, now := b.createLargeBusiness(ctx), time.Now()
	summary := scenario{name: "summary", business: d, workers: 1, request: func() *fasthttp.Request {
		from := time.Date(now.Year(), now.Month()-time.Month(1+rand.IntN(23)), 1, 0, 0, 0, 0, time.UTC)
		return b.api(d, "GET", "/reports/summary?from="+from.Format(time.DateOnly)+"&to="+from.AddDate(0, 1, -1).Format(time.DateOnly), "")
	}}
	b.measure(ctx, fmt.Sprintf("a month among %d sales", b.sales), []scenario{summary, summary.with("month")})
}
