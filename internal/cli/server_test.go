package cli

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestServerScripts runs the commands that need a server, each script with one of its own.
func TestServerScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/server",
		Setup: func(env *testscript.Env) error {
			endpoint, stop, err := ownServer(context.Background())
			if err != nil {
				return err
			}
			env.Defer(func() {
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
			root, err := filepath.Abs("../..")
			env.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			env.Setenv("UNLOOP_ENDPOINT", endpoint)
			return err
		},
	})
}
