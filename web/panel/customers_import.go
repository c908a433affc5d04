package panel

import (
	"example.com/loyalty/web/page"
)

func CustomerCount(n int64) string { return page.Count(n, "customer", "customers") }
