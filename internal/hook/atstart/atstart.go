// Package atstart answers a hook before the packages of the rest of the program are initialised, which takes a quarter of the time of a
// hook. Go initialises a package as soon as all that it imports is initialised, so this package imports only what a hook needs. A hook
// that has a server, or another command line than the one that install writes, is left to the command in package cli.
package atstart

import (
	"context"
	"os"

	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/hook"
)

func init() {
	state, err := config.StateFolder()
	h, ok := hook.OfCommand(os.Args[1:], hook.FolderIn(state), os.Getenv)
	if err != nil || !ok || h.HasServer() {
		return
	}
	hook.OwnProcess()
	os.Exit(h.Run(context.Background(), os.Stdin, os.Stdout, os.Stderr))
}
