package page

import "strings"

// IconPath is the address of the icon of a business for home screens: its logo, or the product's
// icon in its colour. side is 180, 192 or 512 pixels.
func IconPath(colour string, logoHash *string, side string) string {
	key := strings.TrimPrefix(colour, "#")
	if logoHash != nil {
		key = *logoHash
	}
	return "/brand/icon/" + key + "-" + side + ".png"
}
