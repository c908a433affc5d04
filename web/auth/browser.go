package auth

import "strings"

// The names of browsers and systems in a User-Agent. Most contain several, of which the first in this
// order is right.
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

// browser describes a browser by its User-Agent. An unknown one is described by the header itself.
func browser(agent string) string {
	name, system := named(browsers, agent), named(systems, agent)
	switch {
	case name != "" && system != "":
		return name + " on " + system
	case agent == "":
		return "Unknown browser"
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
