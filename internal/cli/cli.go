// Package cli has the subcommands of unloop. It parses flags, calls the packages that do the work, and prints the results.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

// The exit statuses.
const (
	exitFine   = 0
	exitLoops  = 1 // loops were found, at or over --fail-on
	exitUnwell = 1 // a check of unloop doctor failed
	exitBad    = 2 // wrong usage, or input that cannot be read
	exitBreak  = 130
)

// errLoops means that loops were found. They are already printed.
var errLoops = errors.New("loops were found")

// errFaulty means that some input could not be read. The reasons are already printed.
var errFaulty = errors.New("some input could not be read")

// Main runs the command line and returns its exit status. It stops early and cleanly on an interrupt. A second interrupt ends the program at
// once, for example while it opens a pipe without a writer.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	log.SetOutput(libraryLog{os.Stderr})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := unknownHelp(root, args); err != nil {
		return exitStatus(err, stderr)
	}
	return exitStatus(root.ExecuteContext(ctx), stderr)
}

func exitStatus(err error, stderr io.Writer) int {
	var denied hookDenial
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &denied):
		return int(denied)
	case errors.Is(err, errLoops):
		return exitLoops
	case errors.Is(err, errUnwell):
		return exitUnwell
	case errors.Is(err, errFaulty):
		return exitBad
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "unloop: interrupted")
		return exitBreak
	}
	for _, line := range lines(err) {
		complain(stderr, line)
	}
	return exitBad
}

// lines returns the messages of joined errors one by one.
func lines(err error) []string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []string
		for _, e := range joined.Unwrap() {
			all = append(all, lines(e)...)
		}
		return all
	}
	return []string{err.Error()}
}
