package cli

import (
	"cmp"
	"os"

	"github.com/spf13/pflag"

	"github.com/unloop-ai/unloop/internal/client"
)

// endpointFlags are the flags about the server.
type endpointFlags struct{ endpoint string }

const endpointHelp = "--endpoint names the server; the default is UNLOOP_ENDPOINT, else " + client.DefaultEndpoint + ". If the server\n" +
	"requires a token, set UNLOOP_TOKEN."

func (f *endpointFlags) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVar(&f.endpoint, "endpoint", "", "the `URL` of the server (default UNLOOP_ENDPOINT, else "+client.DefaultEndpoint+")")
}

// url returns the URL of the server.
func (f *endpointFlags) url() string {
	return cmp.Or(f.endpoint, os.Getenv("UNLOOP_ENDPOINT"), client.DefaultEndpoint)
}

func (f *endpointFlags) client() (*client.Client, error) {
	return client.New(f.url(), os.Getenv("UNLOOP_TOKEN"))
}

// curl returns a shell command that follows a stream. The shell inserts the token, so that the token is not printed.
func curl(url string, token bool) string {
	if token {
		return `curl -N -H "Authorization: Bearer $UNLOOP_TOKEN" ` + url
	}
	return "curl -N " + url
}
