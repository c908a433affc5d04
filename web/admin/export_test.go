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
