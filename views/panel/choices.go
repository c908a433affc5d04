package panel

// Choice is a value of a filter.
type Choice struct {
	Label, Path string
	Count       string // "" for none
	Current     bool
}

// Moment is an instant: in words, exact, and machine-readable.
type Moment struct{ Text, Exact, Machine string }
