package panel

import (
	"github.com/labstack/echo/v4"

	"example.com/loyalty/web/forms"
	"example.com/loyalty/web/page"
)

func PathNumber(c echo.Context) (int64, error) { return page.PathNumber(c, "id") }

// CompleteRule is shown in place of what an incomplete rule would earn.
const CompleteRule = "Complete the rule to see what it earns"

// EnterAmount asks for the amount of an example.
func EnterAmount(currency string) string {
	return "Enter an amount, e.g. " + forms.AmountExample(currency)
}
