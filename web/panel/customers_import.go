package panel

import "example.com/loyalty/views/format"

func CustomerCount(n int64) string { return format.Count(n, "customer", "customers") }
