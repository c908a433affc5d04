package page

import "github.com/labstack/echo/v4"

// Workbook is XLSX with sheets of at most rows rows.
func (k *Kit) Workbook(c echo.Context, name, sheet string, columns []Column, rows int, write func(row func(cells ...any) error) error) error {
	return k.workbook(c, name, sheet, columns, rows, write)
}
