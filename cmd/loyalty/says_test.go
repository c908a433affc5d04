package main

import (
	"example.com/loyalty/core"
	"example.com/loyalty/views/format"
	"example.com/loyalty/web/forms"
)

// says returns the message of a violation of a command for a field.
func says(field string, v core.Violation) string { return forms.MessageApart(field, v, format.Number) }
