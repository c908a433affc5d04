package dbtest_test

import (
	"context"
	"go/ast"
	"go/constant"
	"go/doc"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"example.com/loyalty/core"
	"example.com/loyalty/core/db"
)

// statement is a constant whose name ends in SQL, or the first page of a list.
type statement struct {
	pkg, name, sql string
	file, comment  string   // where it is, and what it is for
	list           *db.List // nil: a constant
}

// checksEverything reports whether a statement is one of verify's checks.
func (s statement) checksEverything() bool {
	return s.pkg == "verify" && !strings.Contains(s.sql, "loyalty.verify_run")
}

// needsCitus reports whether a statement reads tables that only a distributed database has.
func (s statement) needsCitus() bool { return strings.Contains(s.sql, "pg_dist_") }

var planned = regexp.MustCompile(`(?i)^\s*(with|select|insert|update|delete)\b`)

// hasPlan reports whether the server plans a statement, so that it can be explained.
func (s statement) hasPlan() bool { return planned.MatchString(s.sql) }

// placed returns a statement with ordinals instead of names, as the server gets it, and the names in their order.
func placed(sql string) (text string, names []any, err error) {
	own := pgx.NamedArgs{}
	for _, found := range regexp.MustCompile(`@(\w+)`).FindAllStringSubmatch(sql, -1) {
		own[found[1]] = found[1]
	}
	return own.RewriteQuery(context.Background(), nil, sql, nil)
}

// statements returns the constants of core whose names end in SQL, with their parts joined.
func statements(t *testing.T) []statement {
	t.Helper()
	return slices.DeleteFunc(constantsAndLists(t), func(s statement) bool { return s.list != nil || s.needsCitus() })
}

// constantsAndLists returns the statements of core in the order of the source.
func constantsAndLists(t *testing.T) (all []statement) {
	t.Helper()
	s := readSource(t)
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		if !strings.HasPrefix(path, module+"/core/") || path == module+"/core/dbtest" {
			continue
		}
		for _, file := range s.files[path] {
			for _, d := range file.Decls {
				all = append(all, s.declared(path, d)...)
			}
		}
	}
	return all
}

const module = "example.com/loyalty"

// source is the product's code. Its types are checked without bodies of functions and without other modules: enough to know
// constants.
type source struct {
	fset     *token.FileSet
	files    map[string][]*ast.File // by the package's path
	packages map[string]*types.Package
	info     types.Info
	left     []*db.List // that were not found in the source yet
}

func readSource(t *testing.T) *source {
	t.Helper()
	s := &source{
		fset: token.NewFileSet(), files: map[string][]*ast.File{}, packages: map[string]*types.Package{}, left: slices.Clone(db.Lists()),
		info: types.Info{Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}},
	}
	for dir, files := range goFiles(t, s.fset) {
		s.files[module+strings.TrimPrefix(filepath.ToSlash(dir), root)] = files
	}
	for path := range s.files {
		_, _ = s.Import(path)
	}
	return s
}

// Import is a types.Importer. Packages of other modules are empty, and what is missing in them is no error.
func (s *source) Import(path string) (*types.Package, error) {
	if s.packages[path] == nil {
		s.packages[path] = types.NewPackage(path, filepath.Base(path))
		if files := s.files[path]; files != nil {
			config := types.Config{Importer: s, IgnoreFuncBodies: true, Error: func(error) {}}
			s.packages[path], _ = config.Check(path, s.fset, files, &s.info)
		}
	}
	return s.packages[path], nil
}

// declared returns the statements of a declaration of constants or variables.
func (s *source) declared(path string, d ast.Decl) (all []statement) {
	decl, ok := d.(*ast.GenDecl)
	if !ok {
		return nil
	}
	for _, spec := range decl.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		described := statement{
			pkg: filepath.Base(path), file: strings.TrimPrefix(filepath.ToSlash(s.fset.Position(v.Pos()).Filename), root+"/"),
			comment: s.comment(path, decl, v),
		}
		for _, name := range v.Names {
			if c, ok := s.info.Defs[name].(*types.Const); ok && strings.HasSuffix(name.Name, "SQL") {
				described.name, described.sql = name.Name, constant.StringVal(c.Val())
				all = append(all, described)
			}
		}
		all = append(all, s.lists(v, described)...)
	}
	return all
}

// lists returns the lists of a variable, which may be a map of several. The program made them in the order of the source.
func (s *source) lists(spec *ast.ValueSpec, described statement) (all []statement) {
	key := ""
	ast.Inspect(spec, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			if selector, ok := n.Key.(*ast.SelectorExpr); ok {
				key = selector.Sel.Name
			}
		case *ast.CallExpr:
			if !isNewList(n) {
				return true
			}
			sql := constant.StringVal(s.info.Types[n.Args[0]].Value)
			i := slices.IndexFunc(s.left, func(l *db.List) bool { return l.SQL == sql })
			described.list, described.name = s.left[i], spec.Names[0].Name+key
			described.sql, _ = s.left[i].Statement(core.Page{Size: core.DefaultPageSize}, nil)
			s.left = slices.Delete(s.left, i, i+1)
			all = append(all, described)
		}
		return true
	})
	return all
}

func isNewList(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "NewList" {
		return false
	}
	x, ok := f.X.(*ast.Ident)
	return ok && x.Name == "db"
}

// comment returns the first sentence about a statement or, without one, about the function that uses it.
func (s *source) comment(path string, decl *ast.GenDecl, spec *ast.ValueSpec) (comment string) {
	for _, group := range []*ast.CommentGroup{spec.Doc, decl.Doc} {
		if group != nil {
			return ": " + new(doc.Package).Synopsis(group.Text())
		}
	}
	for _, file := range s.files[path] {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Doc == nil || strings.HasPrefix(f.Name.Name, "New") {
				continue // a service is made with some of its statements
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if used, ok := n.(*ast.Ident); ok && used.Name == spec.Names[0].Name && comment == "" {
					comment = ", for " + f.Name.Name + ": " + new(doc.Package).Synopsis(f.Doc.Text())
				}
				return comment == ""
			})
		}
	}
	return comment
}
