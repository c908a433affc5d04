package format

import "example.com/loyalty/core"

// System is the actor of actions that no person took.
const System = "The system"

// Actor names who acted, with their kind where the name alone doesn't tell it: API token “Web shop”.
func (r Reader) Actor(kind core.ActorKind, name string) string {
	switch kind {
	case core.ByToken:
		if !r.By.SeesTokens() {
			return core.UnnamedToken
		}
		return "API token “" + name + "”"
	case core.ByAdmin:
		return name + " (platform)"
	case core.ByCustomer:
		return "The customer"
	case core.BySystem:
		return System
	case core.ByStaff:
	}
	return name
}
