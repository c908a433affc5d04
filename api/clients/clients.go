// Package clients embeds what is made for integrators, clients of the API and a plug-in, which the
// documentation offers for download. Their directories have the sources.
package clients

import (
	"archive/zip"
	"bytes"
	"embed"
	"io/fs"
	"path"
	"strings"
	"time"
)

// Files are the clients, each in the directory of its language, and the plug-in for WooCommerce.
//
//go:embed python/loyalty.py python/example.py python/sync.py typescript/*.ts typescript/package.json
//go:embed woocommerce/*.php woocommerce/src/*.php woocommerce/README.md
var Files embed.FS

// pluginName is the directory of the plug-in below wp-content/plugins.
const pluginName = "loyalty-for-woocommerce"

// pluginDay is the date of the files in the ZIP, which must have one. Embedded files have none.
var pluginDay = time.Date(2026, time.November, 27, 0, 0, 0, 0, time.UTC)

// WooCommerce returns the plug-in as a ZIP file, as WordPress installs it. It is the same on every start.
func WooCommerce() ([]byte, error) {
	var content bytes.Buffer
	archive := zip.NewWriter(&content)
	const root = "woocommerce"
	err := fs.WalkDir(Files, root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := Files.ReadFile(file)
		if err != nil {
			return err
		}
		w, err := archive.CreateHeader(&zip.FileHeader{
			Name: path.Join(pluginName, strings.TrimPrefix(file, root)), Method: zip.Deflate, Modified: pluginDay,
		})
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = archive.Close()
	return content.Bytes(), err
}
