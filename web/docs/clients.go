package docs

import (
	"net/http"
	"path"
	"strings"

	"github.com/labstack/echo/v4"

	"example.com/loyalty/api/clients"
	views "example.com/loyalty/views/docs"
)

const (
	clientsPath = "/docs/clients"
	pluginPath  = clientsPath + "/woocommerce.zip"
)

// newPlugin returns the plug-in for WooCommerce as a ZIP file.
func newPlugin() []byte {
	content, err := clients.WooCommerce()
	if err != nil {
		panic(err) // the files are part of the program
	}
	return content
}

func newClients(s site) views.Clients {
	v := views.Clients{
		Frame:  s.frame("Clients · Loyalty", "Clients of the API for Python and TypeScript, a plug-in for WooCommerce, and how to generate others.", clientsPath),
		Plugin: pluginPath, Address: s.base,
	}
	for _, c := range []struct {
		language, needs, install, example string
		files                             []string
	}{
		{
			"Python", "One module for Python 3.11 or newer, without packages. Copy it into your project. sync.py is a program that keeps a copy of a business with it.",
			"curl --remote-name " + s.base + clientsPath + "/python/loyalty.py",
			"python/example.py",
			[]string{"python/loyalty.py", "python/sync.py"},
		},
		{
			"TypeScript", "Two files on top of openapi-fetch, for Node.js 18 or newer, with import or require. Copy them into your project.",
			"npm install openapi-fetch@0.17.0\ncurl --remote-name " + s.base + clientsPath + "/typescript/client.ts\ncurl --remote-name " + s.base + clientsPath + "/typescript/schema.gen.ts",
			"typescript/example.ts",
			[]string{"typescript/client.ts", "typescript/schema.gen.ts"},
		},
	} {
		example, err := clients.Files.ReadFile(c.example)
		if err != nil {
			panic(err) // the file is part of the program
		}
		client := views.Client{
			ID: strings.ToLower(c.language), Language: c.language, Needs: c.needs, Install: c.install,
			Example: strings.TrimSuffix(string(example), "\n"), ExampleFile: path.Base(c.example),
		}
		for _, f := range c.files {
			client.Files = append(client.Files, views.NavLink{Path: clientsPath + "/" + f, Label: path.Base(f)})
		}
		v.Clients = append(v.Clients, client)
	}
	return v
}

func (p *Pages) showClients(c echo.Context) error {
	return render(c, http.StatusOK, views.ClientsPage(p.clients))
}

// showClientFile serves a file of a client.
func (p *Pages) showClientFile(c echo.Context) error {
	content, err := clients.Files.ReadFile(c.Param("language") + "/" + c.Param("file"))
	if err != nil {
		return NotFound(c)
	}
	return c.Blob(http.StatusOK, "text/plain; charset=utf-8", content)
}

func (p *Pages) showPlugin(c echo.Context) error {
	return c.Blob(http.StatusOK, "application/zip", p.plugin)
}
