package main

import (
	"example.com/loyalty/core"
	"example.com/loyalty/web/page"
)

// says returns the message of a violation for a field with that label.
func says(label string, v core.Violation) string { return page.Message("", label, v, page.Number) }
