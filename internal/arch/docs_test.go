package arch

import "testing"

func TestMap(t *testing.T) {
	t.Run("a page that names every folder is accepted", func(t *testing.T) {
		expect(t, checkMap, example{
			"ARCHITECTURE.md": "`detect/` and `internal/cli/`, whose `testdata/` holds scripts", "run.go": "package unloop",
			"detect/d.go": "package detect", "internal/cli/cli.go": "package cli", "internal/cli/testdata/a.txtar": "",
		})
	})
	t.Run("a folder that the page does not name is reported", func(t *testing.T) {
		expect(t, checkMap, example{"ARCHITECTURE.md": "`cli/`", "internal/cli/cli.go": "package cli"},
			"ARCHITECTURE.md does not name `internal/cli/`, which holds Go code")
	})
	t.Run("a folder that does not exist is reported", func(t *testing.T) {
		expect(t, checkMap, example{"ARCHITECTURE.md": "`detect/`, `guard/`", "detect/d.go": "package detect"},
			"ARCHITECTURE.md names `guard/`, which does not exist")
	})
	t.Run("a missing page is reported", func(t *testing.T) {
		expect(t, checkMap, example{"run.go": "package unloop"}, "ARCHITECTURE.md is missing: it is the map of the source")
	})
}

func TestPaths(t *testing.T) {
	// Put together here, so that this file does not break the rule itself.
	const home, work = "/ho" + "me/", "/wo" + "rk/"
	const because = " is a path on a personal machine: use another one, such as /srv/app"
	t.Run("neutral paths, URLs and parts of other paths are accepted", func(t *testing.T) {
		expect(t, checkPaths, example{
			"run.go":  "package unloop\n// /srv/app/x, https://example.com" + home + "a, ~" + work + "x, /tmp/x, internal" + work,
			"PAGE.md": "the frame" + work[1:] + ", " + home + "me/traces",
		})
	})
	t.Run("a path in a comment, a string or a page is reported", func(t *testing.T) {
		expect(t, checkPaths, example{
			"run.go":       "package unloop\n// see " + work + "notes\nconst p = `" + home + "jane/x`",
			"docs/PAGE.md": home + "me, but (" + home + "jane)",
		},
			"run.go:2: "+work+because, "run.go:3: "+home+"jane"+because, "docs/PAGE.md:1: "+home+"jane"+because)
	})
	t.Run("fixtures are exempt", func(t *testing.T) {
		expect(t, checkPaths, example{"detect/testdata/page.md": home + "jane"})
	})
}

func TestComments(t *testing.T) {
	t.Run("an identifier needs a comment of its own or of its group", func(t *testing.T) {
		expect(t, checkComments, example{"policy/p.go": `// Package policy decides.
package policy

// Ladder goes up.
type Ladder struct{}

// The codes.
const (
	CodeA = "a"
	CodeB = "b"
)

var (
	Fine = 1 // is explained here
	// Good is explained above.
	Good = 2
	own  = 3
)

func (l *Ladder) climb() {}

type hidden struct{}

func (hidden) String() string { return "" }
`})
	})
	t.Run("an exported identifier without a comment is reported", func(t *testing.T) {
		expect(t, checkComments, example{"policy/p.go": `// Package policy decides.
package policy

type Ladder[T any] struct{}

func (l *Ladder[T]) Decide() {}

func New() {}

const (
	A, B = 1, 2
)
`},
			"policy/p.go:4: Ladder is exported and has no comment", "policy/p.go:6: Decide is exported and has no comment",
			"policy/p.go:8: New is exported and has no comment", "policy/p.go:11: A is exported and has no comment",
			"policy/p.go:11: B is exported and has no comment")
	})
	t.Run("a package without a comment is reported", func(t *testing.T) {
		expect(t, checkComments, example{"internal/cli/a.go": "package cli\nfunc Main() {}", "internal/cli/b.go": "package cli"},
			"internal/cli has no package comment: describe its purpose and its place in the data flow")
	})
}
