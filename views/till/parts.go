package till

import "strconv"

// formKey is the name of the field that makes two clicks one sale.
const formKey = "form_key"

func number(n int64) string { return strconv.FormatInt(n, 10) }

func percent(p float64) string { return strconv.FormatFloat(p, 'f', 2, 64) + "%" }
