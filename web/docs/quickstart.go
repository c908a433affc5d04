package docs

import (
	"embed"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	views "example.com/loyalty/views/docs"
	"example.com/loyalty/views/links"
)

// quickStartFiles are programs that record a sale. Pages show and serve them with the
// installation's base URL; tests run what is served.
//
//go:embed quickstart/quickstart.*
var quickStartFiles embed.FS

// describedBase is the base URL in the embedded files, which each installation replaces with
// its own.
const describedBase = "https://localhost:8443"

// programs lists the quick start in each language. The second command is for installations that
// have their own certificate authority.
var programs = []struct{ id, language, needs, file, run, runOwnCA string }{
	{"curl", "curl", "bash and curl 7.76 or newer", "quickstart.sh", "bash quickstart.sh", "CURL_CA_BUNDLE=data/ca.pem bash quickstart.sh"},
	{"javascript", "JavaScript", "Node.js 18 or newer, no packages", "quickstart.mjs", "node quickstart.mjs", "NODE_EXTRA_CA_CERTS=data/ca.pem node quickstart.mjs"},
	{"python", "Python", "Python 3.10 or newer, no packages", "quickstart.py", "python3 quickstart.py", "SSL_CERT_FILE=data/ca.pem python3 quickstart.py"},
	{"php", "PHP", "PHP 8.1 or newer with the curl extension", "quickstart.php", "php quickstart.php", "php -d curl.cainfo=data/ca.pem quickstart.php"},
	{"go", "Go", "Go 1.22 or newer, no modules", "quickstart.go", "go run quickstart.go", "SSL_CERT_FILE=data/ca.pem go run quickstart.go"},
}

const (
	quickStartPath = "/docs/quickstart"
	recorded       = "Recorded sale 01M2FF0D893XRG3ZKH04DT11SA: 12 points"
	refused        = "Receipt 4711 was recorded before, with other details."
)

// newQuickStart returns the page, and the programs by their file names.
func newQuickStart(s site, tenantURL string, ownCA bool) (views.QuickStart, map[string]string) {
	v := views.QuickStart{
		Frame:    s.frame("Quick start · Loyalty", "From a token to the first sale, in curl, JavaScript, Python, PHP and Go.", quickStartPath),
		Tokens:   tenantURL + links.Tokens,
		Types:    tenantURL + links.Type(1),
		OwnCA:    ownCA,
		Recorded: recorded,
		Refused:  refused,
	}
	sources := map[string]string{}
	for _, p := range programs {
		content, err := quickStartFiles.ReadFile("quickstart/" + p.file)
		if err != nil {
			panic(err) // the file is part of the program
		}
		sources[p.file] = strings.ReplaceAll(string(content), describedBase, s.base)
		run := p.run
		if ownCA {
			run = p.runOwnCA
		}
		v.Programs = append(v.Programs, views.Program{
			ID: p.id, Language: p.language, Needs: p.needs, File: p.file, Path: quickStartPath + "/" + p.file,
			Source: strings.TrimSuffix(sources[p.file], "\n"), Run: run,
		})
	}
	return v, sources
}

func (p *Pages) showQuickStart(c echo.Context) error {
	return render(c, http.StatusOK, views.QuickStartPage(p.quickStart))
}

// showProgram serves a program as a file.
func (p *Pages) showProgram(c echo.Context) error {
	source, ok := p.programs[c.Param("file")]
	if !ok {
		return NotFound(c)
	}
	return c.Blob(http.StatusOK, "text/plain; charset=utf-8", []byte(source))
}
