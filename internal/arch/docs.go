package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const architecture = "ARCHITECTURE.md"

// folderName finds `folder/` in a page.
var folderName = regexp.MustCompile("`([a-zA-Z0-9._-][a-zA-Z0-9._/-]*)/`")

// checkMap compares ARCHITECTURE.md with the tree: it must name every folder with Go code, as `path/from/the/root/`, and no other
// folders. It may name a folder by the end of its path.
func checkMap(t *tree) (broken []string) {
	page, ok := t.pages[architecture]
	if !ok {
		return []string{architecture + " is missing: it is the map of the source"}
	}
	named := map[string]bool{}
	for _, match := range folderName.FindAllStringSubmatch(page, -1) {
		named[match[1]] = true
	}
	code := map[string]bool{}
	for _, s := range t.sources {
		code[s.folder] = true
	}
	for _, folder := range slices.Sorted(maps.Keys(code)) {
		if folder != "." && !named[folder] {
			broken = append(broken, fmt.Sprintf("%s does not name `%s/`, which holds Go code", architecture, folder))
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(named)) {
		if !t.hasFolder(folder) {
			broken = append(broken, fmt.Sprintf("%s names `%s/`, which does not exist", architecture, folder))
		}
	}
	return broken
}

// hasFolder reports whether there is a folder with this path or end of a path.
func (t *tree) hasFolder(name string) bool {
	for folder := range t.folders {
		if folder == name || strings.HasSuffix(folder, "/"+name) {
			return true
		}
	}
	return false
}

// machinePath matches a path on a personal machine and the name of its user. After a letter or a slash, it is part of another
// path.
var machinePath = regexp.MustCompile(`(?:^|[^\w./~*-])(/(?:work|root)/|/(?:home|Users)/([\w.-]+))`)

// nobody are the names of users that examples may contain.
var nobody = []string{"me", "user", "x", "you"}

// checkPaths finds paths on personal machines in Go files and pages. Fixtures under testdata are exempt.
func checkPaths(t *tree) (broken []string) {
	search := func(path, text string) {
		for number, line := range strings.Split(text, "\n") {
			for _, match := range machinePath.FindAllStringSubmatch(line, -1) {
				if slices.Contains(nobody, match[2]) {
					continue
				}
				broken = append(broken, fmt.Sprintf("%s:%d: %s is a path on a personal machine: use another one, such as /srv/app",
					path, number+1, match[1]))
			}
		}
	}
	for _, s := range t.sources {
		search(s.path, s.text)
	}
	for _, path := range slices.Sorted(maps.Keys(t.pages)) {
		search(path, t.pages[path])
	}
	return broken
}

// checkComments requires a package comment for every package, and for every exported identifier of a public package (a function,
// a type, a method of an exported type, a constant or a variable) its own comment or one for its group.
func checkComments(t *tree) (broken []string) {
	introduced := map[string]bool{}
	for _, s := range t.sources {
		if !s.isTest() && s.syntax.Doc != nil {
			introduced[s.folder] = true
		}
	}
	for _, s := range t.sources {
		if s.isTest() {
			continue
		}
		if !introduced[s.folder] {
			introduced[s.folder] = true
			broken = append(broken, fmt.Sprintf("%s has no package comment: describe its purpose and its place in the data flow", s.folder))
		}
		if !isPublic(s.folder) {
			continue
		}
		for _, name := range undocumented(s.syntax) {
			broken = append(broken, fmt.Sprintf("%s: %s is exported and has no comment", t.at(name), name.Name))
		}
	}
	return broken
}

// isPublic reports whether other modules can import the package in a folder.
func isPublic(folder string) bool {
	first, _, _ := strings.Cut(folder, "/")
	return first != "internal" && first != "cmd"
}

// undocumented returns the exported names of a file without a comment.
func undocumented(syntax *ast.File) (names []*ast.Ident) {
	for _, decl := range syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || receiver(d).IsExported()) {
				names = append(names, d.Name)
			}
		case *ast.GenDecl:
			if d.Tok == token.IMPORT || d.Doc != nil {
				continue
			}
			for _, spec := range d.Specs {
				names = append(names, bare(spec)...)
			}
		}
	}
	return names
}

// bare returns the exported names that a type, constant or variable declares without a comment.
func bare(spec ast.Spec) (names []*ast.Ident) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
			names = append(names, s.Name)
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if s.Doc == nil && s.Comment == nil && name.IsExported() {
				names = append(names, name)
			}
		}
	}
	return names
}

// receiver returns the name of the type of a method.
func receiver(f *ast.FuncDecl) *ast.Ident {
	typ := f.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.Ident:
			return x
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.ParenExpr:
			typ = x.X
		default:
			return ast.NewIdent("_")
		}
	}
}
