package invoice

// Drawn returns what is drawn for a text.
func Drawn(text string, bold bool) string {
	faces, err := fonts()
	if err != nil {
		panic(err)
	}
	style := ""
	if bold {
		style = "B"
	}
	return (&sheet{faces: faces}).drawable(style, text)
}
