package docs_test

import (
	"go/ast"
	"path"
	"slices"
	"testing"
)

// TestTemplatesNameNoService checks that templates use what core knows, and nothing that core does. Only what takes a context
// reads or writes: functions, and the methods of services.
func TestTemplatesNameNoService(t *testing.T) {
	t.Parallel()
	sources := parsedSources(t)
	working := workers(sources)
	for _, s := range sources {
		if matches("views/…", s.pkg()) {
			for _, name := range used(s, working) {
				t.Errorf("%s uses %s, which reads or writes: a handler does that", s.name, name)
			}
		}
	}
	page, err := parse("views/admin/page.go", []byte(`package admin
		import (
			"example.com/loyalty/core/coupon"
			customers "example.com/loyalty/core/customer"
			"example.com/loyalty/core/db"
		)
		type page struct { Coupon coupon.Coupon; coupons *coupon.Service; customers customers.Service }
		var find = db.In[coupon.Voucher]`))
	if err != nil {
		t.Fatal(err)
	}
	if got := used(page, working); !slices.Equal(got, []string{"coupon.Service", "customers.Service", "db.In"}) {
		t.Errorf("a page that has services uses %q", got)
	}
}

// workers returns, by package of core, its functions that take a context and its types with such methods.
func workers(sources []source) map[string]map[string]bool {
	working := map[string]map[string]bool{}
	for _, s := range sources {
		if s.test || !matches("core/…", s.pkg()) {
			continue
		}
		if working[s.pkg()] == nil {
			working[s.pkg()] = map[string]bool{}
		}
		for _, d := range s.syntax.Decls {
			if f, isFunc := d.(*ast.FuncDecl); isFunc && f.Name.IsExported() && slices.ContainsFunc(f.Type.Params.List, isContext) {
				working[s.pkg()][owner(f)] = true
			}
		}
	}
	return working
}

func isContext(parameter *ast.Field) bool {
	chosen, isChosen := parameter.Type.(*ast.SelectorExpr)
	return isChosen && chosen.Sel.Name == "Context"
}

// owner returns the name of a method's type, or of a function.
func owner(f *ast.FuncDecl) (name string) {
	if f.Recv == nil {
		return f.Name.Name
	}
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, isName := n.(*ast.Ident); isName && name == "" {
			name = id.Name // the first, before those of type parameters
		}
		return true
	})
	return name
}

// used returns the workers that a file names.
func used(s source, working map[string]map[string]bool) (names []string) {
	packages := map[string]string{} // by their names in the file
	for i, spec := range s.syntax.Imports {
		packages[path.Base(s.imports[i])] = s.imports[i]
		if spec.Name != nil {
			packages[spec.Name.Name] = s.imports[i]
		}
	}
	ast.Inspect(s.syntax, func(n ast.Node) bool {
		if chosen, isChosen := n.(*ast.SelectorExpr); isChosen {
			if from, isName := chosen.X.(*ast.Ident); isName && working[packages[from.Name]][chosen.Sel.Name] {
				names = append(names, from.Name+"."+chosen.Sel.Name)
			}
		}
		return true
	})
	return names
}
