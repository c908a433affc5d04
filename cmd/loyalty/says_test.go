package main

import (
	"example.com/loyalty/core"
	"example.com/loyalty/web/page"
)

// says returns the message of a violation of a command for a field.
func says(field string, v core.Violation) string { return page.MessageApart(field, v, page.Number) }
