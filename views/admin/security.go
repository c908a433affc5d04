package admin

import "example.com/loyalty/views/ui"

// Security is a person's own account.
type Security struct {
	Settings
	Email           string
	NameProblem     ui.Problem
	Name            ui.Field
	PasswordProblem ui.Problem
	Current         ui.Field
	Password        ui.Field
	Factor          Factor
	Sessions        []SessionRow
}

// Factor is how a person's second factor stands.
type Factor struct {
	On    bool
	Codes string // how many recovery codes are left
	Few   bool   // too few of them
}

// SessionRow is where somebody is signed in.
type SessionRow struct {
	Browser, Address, Seen, Since string
	Current                       bool
	End                           string // the path that ends it
}

// FactorSetup gives an app its secret.
type FactorSetup struct {
	Settings
	Problem ui.Problem
	QR      ui.QR
	Secret  string // the same, to be typed
	Code    ui.Field
}

// FactorProof asks once more who it is.
type FactorProof struct {
	Settings
	Problem      ui.Problem
	Confirmation ui.Field
}

// RecoveryCodes are shown this once.
type RecoveryCodes struct {
	Settings
	Intro string
	Codes string // one a line
}
