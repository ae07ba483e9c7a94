// Command unloop says whether an agent is going round in circles.
package main

import (
	"os"

	_ "golang.org/x/crypto/x509roots/fallback" // for webhooks, where the system has no certificates, as in an image with nothing else

	"github.com/unloop-ai/unloop/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
