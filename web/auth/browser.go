package auth

import "strings"

// Names of browsers and systems as a browser calls itself. The first match is
// right: most call themselves by several.
var (
	browsers = [][2]string{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Vivaldi/", "Vivaldi"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	}
	systems = [][2]string{
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Android", "Android"},
		{"CrOS", "ChromeOS"},
		{"Windows", "Windows"},
		{"Mac OS X", "Mac"},
		{"Linux", "Linux"},
	}
)

// browser is a browser in words, or as it calls itself where we do not know it.
func browser(agent string) string {
	name, system := named(browsers, agent), named(systems, agent)
	switch {
	case name != "" && system != "":
		return name + " on " + system
	case agent == "":
		return "An unnamed browser"
	}
	return agent
}

func named(names [][2]string, agent string) string {
	for _, n := range names {
		if strings.Contains(agent, n[0]) {
			return n[1]
		}
	}
	return ""
}
