// Command unloop detects AI agents that loop, and stops them.
package main

import (
	"os"

	"github.com/unloop-ai/unloop/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
