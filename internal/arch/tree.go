package arch

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// tree is the source of the module as the checks read it. Paths are relative to its root, with slashes.
type tree struct {
	positions *token.FileSet
	folders   map[string]bool
	sources   []source          // Go files outside testdata
	pages     map[string]string // Markdown files outside testdata, by path
	scripts   map[string]string // testscript files, by path
}

// source is one Go file.
type source struct {
	path   string
	folder string // "." for the root
	text   string
	syntax *ast.File
}

// load reads and parses all that the checks look at. It fails on a Go file that does not parse.
func load(fsys fs.FS) (*tree, error) {
	t := &tree{
		positions: token.NewFileSet(),
		folders:   map[string]bool{},
		pages:     map[string]string{},
		scripts:   map[string]string{},
	}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != ".":
			return nil // a program that runs beside the tests has removed it
		case err != nil:
			return err
		case !entry.IsDir():
			return t.add(fsys, name)
		case isForeign(entry.Name()):
			return fs.SkipDir
		}
		t.folders[name] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the source tree: %w", err)
	}
	return t, nil
}

// isForeign reports whether a folder with this name has no files that are written by hand.
func isForeign(name string) bool {
	return slices.Contains([]string{".git", ".cache", "bin", "build", "dist", "node_modules", "__pycache__"}, name)
}

func (t *tree) add(fsys fs.FS, name string) error {
	data := slices.Contains(strings.Split(path.Dir(name), "/"), "testdata")
	ext := path.Ext(name)
	if ext != ".txtar" && (data || ext != ".go" && ext != ".md") {
		return nil
	}
	content, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	text := string(content)
	switch ext {
	case ".txtar":
		t.scripts[name] = text
	case ".md":
		t.pages[name] = text
	case ".go":
		syntax, err := parser.ParseFile(t.positions, name, content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		t.sources = append(t.sources, source{name, path.Dir(name), text, syntax})
	}
	return nil
}

// at returns the place of a node as path:line.
func (t *tree) at(n ast.Node) string {
	p := t.positions.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// lines returns the number of lines of a node.
func (t *tree) lines(n ast.Node) int {
	return t.positions.Position(n.End()).Line - t.positions.Position(n.Pos()).Line + 1
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s source) isGenerated() bool { return ast.IsGenerated(s.syntax) }
