package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"unloop": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			root, err := filepath.Abs("../..")
			env.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			return err
		},
	})
}

// documented finds the commands in fenced sh blocks.
var documented = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestDocumentedCommands runs every command that the README and the docs show: unloop's own here, and of make's it checks
// that the target exists.
func TestDocumentedCommands(t *testing.T) {
	t.Chdir("../..")
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range documented.FindAllSubmatch(text, -1) {
			for _, command := range strings.Split(strings.TrimSpace(string(block[1])), "\n") {
				ran++
				t.Run(page+": "+command, func(t *testing.T) { runDocumented(t, command, string(makefile)) })
			}
		}
	}
	if ran < 8 {
		t.Errorf("found %d documented commands, want 8 or more", ran)
	}
}

func runDocumented(t *testing.T, command, makefile string) {
	command, _, _ = strings.Cut(command, "  #")
	words := strings.Fields(command)
	switch {
	case words[0] == "make":
		if len(words) > 1 && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(words[1])+`:`).MatchString(makefile) {
			t.Errorf("the Makefile has no target %s", words[1])
		}
	case strings.HasPrefix(command, "go run ./cmd/unloop "):
		var stdout, stderr bytes.Buffer
		status := Main(words[3:], strings.NewReader(""), &stdout, &stderr)
		if status > exitLoops || stdout.Len() == 0 || stderr.Len() > 0 {
			t.Errorf("exit status %d, %d bytes printed, errors: %s", status, stdout.Len(), stderr.String())
		}
	default:
		t.Errorf("no test knows how to run this: document it as a make target, or as go run ./cmd/unloop …")
	}
}
