package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/internal/config"
)

// errUnwell means that a check failed. It is already printed.
var errUnwell = errors.New("a check failed")

func doctorCommand() *cobra.Command {
	var server endpointFlags
	var quick bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check a server: its port, store and clock, and how fast it stores and returns an event",
		Long: "Doctor prints one line per check: the result, and how to fix a failure. It sends a run of two events, reads it back and\n" +
			"deletes it, as far as its token allows. With --quick it only asks whether the server can take events: no token is needed,\n" +
			"and nothing is sent, as for the health check of a container.\n\n" +
			endpointHelp + "\n\n" +
			"Exit status: 0 no check failed, 1 a check failed.",
		Example: "  unloop doctor\n  unloop doctor --endpoint https://unloop.example.com\n  unloop doctor --quick",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := server.client()
			if err != nil {
				return err
			}
			d := doctor{out: plainWriter{cmd.OutOrStdout()}, client: c, url: server.url()}
			d.examine(cmd.Context(), quick)
			if d.failed {
				return errUnwell
			}
			return cmd.Context().Err()
		},
	}
	server.add(cmd.Flags())
	cmd.Flags().BoolVar(&quick, "quick", false, "only ask whether the server can take events")
	return cmd
}

// doctor examines a server.
type doctor struct {
	out    io.Writer
	client *client.Client
	url    string
	failed bool
}

func (d *doctor) ok(check, format string, a ...any) {
	fmt.Fprintf(d.out, "ok    %-10s  %s\n", check, fmt.Sprintf(format, a...))
}

// note prints an observation that is not a failure.
func (d *doctor) note(check, format string, a ...any) {
	fmt.Fprintf(d.out, "note  %-10s  %s\n", check, fmt.Sprintf(format, a...))
}

func (d *doctor) fail(check, format string, a ...any) {
	d.failed = true
	fmt.Fprintf(d.out, "FAIL  %-10s  %s\n", check, fmt.Sprintf(format, a...))
}

func (d *doctor) examine(ctx context.Context, quick bool) {
	h, err := d.client.Health(ctx)
	if !d.server(ctx, h, err) || quick {
		return
	}
	d.clock(h)
	if c := h.Cluster; c != nil && !(slices.Contains(c.Roles, config.RoleIngest) && slices.Contains(c.Roles, config.RoleAPI)) {
		d.note("events", "not sent, because this server only has the roles %s: ask one that takes events and answers queries", strings.Join(c.Roles, ", "))
		return
	}
	d.roundTrip(ctx)
}

// server checks that a server answers, and reports whether further checks are possible.
func (d *doctor) server(ctx context.Context, h *client.Health, err error) bool {
	var away *client.UnreachableError
	var answer *client.Error
	switch {
	case errors.As(err, &away):
		d.port(ctx, away)
		return false
	case errors.As(err, &answer) && answer.Status == http.StatusServiceUnavailable:
		d.ok("port", "a server answers at %s", d.url)
		d.fail("store", "%s: see the server's log, and its disk or database", answer.Reason)
		return false
	case err != nil || h.Service != "unloop":
		d.fail("port", "another program answers at %s: use another port (unloop serve --addr), and pass it to --endpoint", d.url)
		return false
	}
	d.ok("port", "a server answers at %s, in %v", d.url, h.Took.Round(10*time.Microsecond))
	if h.Version == programVersion() {
		d.ok("version", "%s", h.Version)
	} else {
		d.ok("version", "the server has %s; this program has %s", h.Version, programVersion())
	}
	d.ok("store", "the server can write to its store")
	d.cluster(h.Cluster)
	if h.GRPC == "taken" {
		d.note("grpc", "the server does not accept telemetry over gRPC, because another program uses its port: use another port (unloop serve --grpc-addr), or send over HTTP")
	}
	return true
}

// cluster reports the owners of the partitions of a cluster. It is nil for a single server.
func (d *doctor) cluster(c *api.Cluster) {
	if c == nil {
		return
	}
	for _, s := range c.Servers {
		d.ok("cluster", "%s owns %d partitions", s.Address, s.Partitions)
	}
	if c.Unowned > 0 {
		d.note("cluster", "%d partitions have no owner: another server takes them within 5 s, if one works", c.Unowned)
	}
	if c.Lag > 0 {
		d.note("cluster", "%d messages of this server's partitions are not recorded yet", c.Lag)
	}
}

// port checks why no server answers.
func (d *doctor) port(ctx context.Context, away *client.UnreachableError) {
	u, err := url.Parse(d.url)
	if err != nil {
		d.fail("port", "%v", away)
		return
	}
	ip := net.ParseIP(u.Hostname())
	if u.Hostname() != "localhost" && !ip.IsLoopback() {
		d.fail("port", "no server answers at %s (%v): check that it is running, and that this machine can reach its port", d.url, away.Err)
		return
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", u.Host)
	if err != nil {
		d.fail("port", "another program uses %s and does not answer as a server (%v): use another port (unloop serve --addr)", u.Host, away.Err)
		return
	}
	_ = l.Close() // the listener only tested the port
	d.ok("port", "%s is free", u.Host)
	d.fail("server", "no server is running: start it with unloop serve")
}

// maxSkew is the maximum accepted difference of clocks. The server reports its time in whole seconds.
const maxSkew = 3 * time.Second

func (d *doctor) clock(h *client.Health) {
	if h.Clock.IsZero() {
		d.ok("clock", "the server does not report its time")
		return
	}
	// The server read its clock at any time between the request and the answer.
	skew := max(h.Asked.Sub(h.Clock), h.Clock.Sub(h.Asked.Add(h.Took))).Round(time.Second)
	if skew > maxSkew {
		d.fail("clock", "differs from the server's by %v: synchronize both clocks, or events of different machines are ordered wrongly", skew)
		return
	}
	d.ok("clock", "within 3 seconds of the server's")
}

// roundTrip sends a run, reads it back and deletes it.
func (d *doctor) roundTrip(ctx context.Context) {
	run := fmt.Sprintf("doctor-%d", time.Now().UnixNano())
	sender := d.client.NewSender()
	sender.Patience = 5 * time.Second
	begun := time.Now()
	for i, kind := range []unloop.EventType{unloop.RunStarted, unloop.RunCompleted} {
		e := &unloop.Event{ID: fmt.Sprint(run, "-", i), RunID: run, Sequence: int64(i + 1), Type: kind, Time: begun.UTC()}
		if err := sender.Add(ctx, e); err != nil {
			d.fail("events", "%v", err)
			return
		}
	}
	if err := sender.Flush(ctx); err != nil {
		d.fail("events", "%v", err)
		return
	}
	if sent := sender.Sent(); sent.Refused > 0 {
		d.fail("events", "the server refuses an event: %s", sent.Refusals[0].Reason)
		return
	}
	took := time.Since(begun)
	d.ok("events", "an event is on the server's disk after %v", took.Round(10*time.Microsecond))
	n := 0
	err := d.client.Events(ctx, run, func([]byte) error {
		n++
		return nil
	})
	var answer *client.Error
	switch {
	case errors.As(err, &answer) && answer.Status == http.StatusForbidden:
		d.note("reading", "not checked, because this token may only send events: %v", err)
	case err != nil:
		d.fail("reading", "%v", err)
	case n != 2:
		d.fail("reading", "the server returns %d of 2 events: see its log", n)
	default:
		d.ok("reading", "the events were read back after %v", time.Since(begun).Round(10*time.Microsecond))
	}
	if err := d.client.Delete(ctx, run); err != nil {
		d.note("deleting", "the run %s remains until retention or an admin token deletes it: %v", run, err)
	}
}
