package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/loyalty/core"
	"example.com/loyalty/core/demo"
	"example.com/loyalty/web/browsertest"
)

// view is a page of the product, and who looks at it.
type view struct {
	name string // of its pictures
	path string
	as   core.Role // at the demo's host; "": a stranger at the base host
}

// views are the pages that people see.
var views = []view{
	{name: "home", path: "/"},
	{name: "reference", path: "/docs"},
	{name: "retries", path: "/docs/retries"},
	{name: "versioning", path: "/docs/versioning"},
	{name: "changelog", path: "/docs/changelog"},
	{name: "problems", path: "/problems"},
	{name: "problem", path: "/problems/insufficient-points"},
}
