package invoice

// Drawn is what is drawn of a text.
func Drawn(text string, bold bool) string {
	faces, err := fonts()
	if err != nil {
		panic(err)
	}
	style := ""
	if bold {
		style = "B"
	}
	return (&sheet{faces: faces}).known(style, text)
}
