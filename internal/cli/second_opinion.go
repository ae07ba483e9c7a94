package cli

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/unloop-ai/unloop/internal/app"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/secondopinion"
)

// errNoEndpoint is the error of a file without an endpoint of second opinions.
var errNoEndpoint = errors.New("--second-opinion: the file has no second_opinion.endpoint")

// loadSecondOpinion returns the client that a server's configuration file describes, and how long decisions wait for it. If the
// variable with its key is not set, it logs a warning, and the client is nil.
func loadSecondOpinion(path string, log io.Writer) (*secondopinion.Client, time.Duration, error) {
	loaded, err := config.Load(config.Source{Path: path, Env: os.Environ()})
	if err != nil {
		return nil, 0, err
	}
	if loaded.SecondOpinion.Endpoint == "" {
		return nil, 0, errNoEndpoint
	}
	useFallbackRoots()
	client, err := app.SecondOpinion(loaded.Config, os.Getenv, logger(log, loaded.Log))
	return client, time.Duration(loaded.SecondOpinion.Wait), err
}
