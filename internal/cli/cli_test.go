package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/unloop-ai/unloop/profile"
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

// Each start of the program makes all commands, and hooks and guards start it often.
func TestAStartMakesNoProfile(t *testing.T) {
	before := testing.AllocsPerRun(5, func() {
		if _, err := profile.New(profile.Default); err != nil {
			t.Fatal(err)
		}
	})
	if all := testing.AllocsPerRun(5, func() { rootCommand() }); all > before {
		t.Errorf("making the commands allocates %.0f times, and a profile alone %.0f: is one made at each start?", all, before)
	}
}
