package format

import "strconv"

// Rate formats a tax rate in hundredths of a percent: 25.5 %.
func Rate(hundredths int64) string {
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64) + nbsp + "%"
}
