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

// outage reports that a server does not accept events, at most once a minute.
type outage struct {
	w     io.Writer
	since time.Time // of the last report
}

func (o *outage) waiting(err error, _ time.Duration) {
	if time.Since(o.since) < time.Minute {
		return
	}
	o.since = time.Now()
	complain(o.w, fmt.Sprintf("%v; retrying", err))
}

// plural returns a number with its noun.
func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// refusals reports events that a server rejects: the first maxReportedRefusals one by one, then one a minute.
type refusals struct {
	w          io.Writer
	all        int
	unreported int // since the last report
	nextDue    time.Time
}

// maxReportedRefusals is the number of refusals that are reported one by one.
const maxReportedRefusals = 20

func (r *refusals) refused(one client.Refusal) {
	r.all++
	now := time.Now()
	if r.all > maxReportedRefusals && now.Before(r.nextDue) {
		r.unreported++
		return
	}
	r.reportRest()
	r.nextDue = now.Add(time.Minute)
	complain(r.w, fmt.Sprintf("run %s: event %s is refused: %s", one.RunID, one.EventID, one.Reason))
}

// reportRest reports the number of refusals that were not reported.
func (r *refusals) reportRest() {
	if r.unreported > 0 {
		complain(r.w, plural(r.unreported, "more event is", "more events are")+" refused")
	}
	r.unreported = 0
}

// printSent prints how many events were new, duplicate and refused.
func printSent(stdout io.Writer, sent client.Sent) {
	fmt.Fprintf(stdout, "%s, %s, %d refused\n", plural(sent.Accepted-sent.Duplicates, "new event", "new events"),
		plural(sent.Duplicates, "duplicate", "duplicates"), sent.Refused)
}
