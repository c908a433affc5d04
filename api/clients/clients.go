// Package clients embeds the clients of the API that are made for integrators, which the
// documentation offers for download. Their directories have the sources.
package clients

import "embed"

// Files are the clients, each in the directory of its language.
//
//go:embed python/loyalty.py python/example.py python/sync.py typescript/*.ts typescript/package.json
var Files embed.FS
