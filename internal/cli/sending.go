package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/unloop-ai/unloop/internal/client"
)

// newSender returns a sender that retries for as long as patience and reports it.
func newSender(c *client.Client, w io.Writer) *client.Sender {
	s := c.NewSender()
	s.Patience = patience
	s.Waiting = (&outage{w: w}).waiting
	return s
}

// patience is the maximum time that a command waits for a server that is unreachable or busy.
const patience = time.Minute

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
