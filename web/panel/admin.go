package panel

import (
	"example.com/loyalty/static"
	"example.com/loyalty/views/ui"
)

// Assets are the files that every page loads.
var Assets = ui.Assets{
	Icon:         static.Path("img/icon.svg"),
	Font:         static.Path("vendor/inter/inter-latin.woff2"),
	Stylesheets:  []string{static.Path("vendor/tabler/tabler.css"), static.Path("css/panel.css")},
	Theme:        static.Path("js/theme.js"),
	Scripts:      []string{static.Path("vendor/htmx/htmx.js"), static.Path("js/form.js"), static.Path("js/panel.js"), static.Path("js/search.js")},
	ChartStyle:   static.Path("vendor/uplot/uplot.css"),
	ChartScripts: []string{static.Path("vendor/uplot/uplot.js"), static.Path("js/chart.js")},
}
