package portal

import (
	"strconv"
	"strings"

	"example.com/loyalty/views/ui"
)

func inputType(f ui.Field) string {
	if f.Type == "" {
		return "text"
	}
	return f.Type
}

// describedBy lists the ids of the texts that describe an input.
func describedBy(f ui.Field) string {
	var ids []string
	if len(f.Errors) > 0 {
		ids = append(ids, f.ID()+"-error")
	}
	if f.Help != "" {
		ids = append(ids, f.ID()+"-help")
	}
	return strings.Join(ids, " ")
}

func number(n int) string { return strconv.Itoa(n) }
