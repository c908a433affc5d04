package admin

import "example.com/loyalty/core"

// Route is a route as tests walk it.
type Route struct {
	Method, Path string
	Least        core.Role
}

// Routes are all of the panel's.
func Routes() (list []Route) {
	for _, r := range (&Admin{}).routes() {
		list = append(list, Route{r.method, r.path, r.least})
	}
	return list
}

// AuditSentence is what the log says of an action, and AuditNoun what it calls the noun:
// "" where it has no words.
func AuditSentence(action string) string { return auditSentences[action] }
func AuditNoun(name string) string       { return auditNouns[name].label }

// AuditWords are how many actions and nouns there are words for.
func AuditWords() (actions, nouns int) { return len(auditSentences), len(auditNouns) }
