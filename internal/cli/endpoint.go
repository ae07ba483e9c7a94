package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/unloop-ai/unloop/internal/client"
)

// endpointFlags say which server is meant.
type endpointFlags struct{ endpoint string }

const endpointHelp = "The server is that of --endpoint, else of UNLOOP_ENDPOINT, else " + client.DefaultEndpoint + ". Where it wants a\n" +
	"token, set UNLOOP_TOKEN."

func (f *endpointFlags) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVar(&f.endpoint, "endpoint", "", "the `URL` of the server (default UNLOOP_ENDPOINT, else "+client.DefaultEndpoint+")")
}

// url returns the server's address.
func (f *endpointFlags) url() string {
	return cmp.Or(f.endpoint, os.Getenv("UNLOOP_ENDPOINT"), client.DefaultEndpoint)
}

func (f *endpointFlags) client() (*client.Client, error) {
	return client.New(f.url(), os.Getenv("UNLOOP_TOKEN"))
}

// outage tells people once that a server does not take events for the time being, and not each time that it is tried again.
type outage struct {
	w     io.Writer
	since time.Time // of the last time that it was told
}

func (o *outage) waiting(err error, _ time.Duration) {
	if time.Since(o.since) < time.Minute {
		return
	}
	o.since = time.Now()
	fmt.Fprintf(o.w, "unloop: %v; it is tried again\n", err)
}

// plural returns a number with its noun.
func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// tellSent says what became of events.
func tellSent(stdout, stderr io.Writer, sent client.Sent) {
	for _, r := range sent.Refusals {
		fmt.Fprintf(stderr, "unloop: run %s, event %s is refused: %s\n", r.RunID, r.EventID, r.Reason)
	}
	if more := sent.Refused - len(sent.Refusals); more > 0 {
		fmt.Fprintf(stderr, "unloop: %s refused as well\n", plural(more, "further event is", "further events are"))
	}
	fmt.Fprintf(stdout, "%s new, %d there already, %d refused\n", plural(sent.Accepted-sent.Doubled, "event is", "events are"),
		sent.Doubled, sent.Refused)
}
