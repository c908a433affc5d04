package panel

import "example.com/loyalty/views/ui"

// Tab leads to a part of a list.
type Tab struct {
	ID, Label, Path string
	Count           string // of its records; "": not counted
	Current         bool
}

// RedemptionRow is a line of the list.
type RedemptionRow struct {
	Path         string
	Reward       string
	Cost         string
	Customer     string
	CustomerPath string
	When         string
	Ago          string // "" unless pending
	Status       ui.Badge
	Ended        string // when it was fulfilled or voided
	FulfilPath   string // "" unless pending
	VoidPath     string // "" if it can't be voided
	By           string // who redeemed it
}
