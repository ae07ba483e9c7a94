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

// curl returns a command with which people can follow a stream. The token is the shell's to fill in: it is not to be printed.
func curl(url string, token bool) string {
	if token {
		return `curl -N -H "Authorization: Bearer $UNLOOP_TOKEN" ` + url
	}
	return "curl -N " + url
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
	complain(o.w, fmt.Sprintf("%v; it is tried again", err))
}

// plural returns a number with its noun.
func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// refusals tells people of events that a server does not take, when it says so: the first one by one, and then one a minute.
type refusals struct {
	w       io.Writer
	all     int
	untold  int // since the last that was told
	nextDue time.Time
}

// maxToldRefusals is how many are told one by one.
const maxToldRefusals = 20

func (r *refusals) refused(one client.Refusal) {
	r.all++
	now := time.Now()
	if r.all > maxToldRefusals && now.Before(r.nextDue) {
		r.untold++
		return
	}
	r.tellUntold()
	r.nextDue = now.Add(time.Minute)
	complain(r.w, fmt.Sprintf("run %s, event %s is refused: %s", one.RunID, one.EventID, one.Reason))
}

// tellUntold says how many were not told.
func (r *refusals) tellUntold() {
	if r.untold > 0 {
		complain(r.w, plural(r.untold, "further event is", "further events are")+" refused as well")
	}
	r.untold = 0
}

// tellSent says what became of events.
func tellSent(stdout io.Writer, sent client.Sent) {
	fmt.Fprintf(stdout, "%s new, %d there already, %d refused\n", plural(sent.Accepted-sent.Duplicates, "event is", "events are"),
		sent.Duplicates, sent.Refused)
}
