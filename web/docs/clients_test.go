package docs_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"example.com/loyalty/web/webtest"
)

// The plug-in for WooCommerce is a ZIP file as WordPress installs it: in a directory of its name, without its tests, and
// the same on every start.
func TestPluginForWooCommerce(t *testing.T) {
	t.Parallel()
	download := func(s *webtest.Browser) []byte {
		got := s.Ask(http.MethodGet, "/docs/clients/woocommerce.zip")
		if got.Code != http.StatusOK || got.Header().Get("Content-Type") != "application/zip" {
			t.Fatalf("%d %s", got.Code, got.Header().Get("Content-Type"))
		}
		return got.Body.Bytes()
	}
	content := download(newSite(t))
	if !bytes.Equal(content, download(newSite(t))) {
		t.Error("two starts have different files")
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	for _, file := range archive.File {
		files[file.Name] = true
		if !strings.HasPrefix(file.Name, "loyalty-for-woocommerce/") || strings.Contains(file.Name, "/test/") || file.Modified.Year() < 2026 {
			t.Errorf("the file %s of %s", file.Name, file.Modified)
		}
	}
	for _, name := range []string{"loyalty.php", "uninstall.php", "README.md", "src/Api.php"} {
		if !files["loyalty-for-woocommerce/"+name] {
			t.Errorf("%s is missing: %v", name, files)
		}
	}
}
