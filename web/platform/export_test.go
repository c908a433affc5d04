package platform

// Route is a route as tests walk it.
type Route struct {
	Method, Path  string
	Public, Setup bool
}

// Routes are all of the panel's.
func Routes() (list []Route) {
	for _, r := range (&Platform{}).routes() {
		list = append(list, Route{r.method, r.path, r.public, r.setup})
	}
	return list
}
