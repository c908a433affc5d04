package admin

// Settings is what the pages of the settings have around them: the frame, and the way to
// each other.
type Settings struct {
	Frame
	Sections []NavItem
}
