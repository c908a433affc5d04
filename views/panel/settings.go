package panel

// Settings is the frame of a settings page, with links to the others.
type Settings struct {
	Frame
	Sections []NavItem
}
