package httpd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/live"
	"github.com/unloop-ai/unloop/internal/names"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
)

// Options are the dependencies and limits of a server. Zero limits mean the defaults.
type Options struct {
	Version   string
	GRPC      string    // state of OTLP over gRPC for the health: on, taken or off; "" means off
	Pipeline  Pipeline  // required
	Store     Store     // required
	Telemetry Telemetry // required
	Hub       *live.Hub // required
	Judge     Judge     // required
	Tuner     Tuner     // required
	Shadow    Shadow    // required
	Guards    Guards    // required
	Alerts    Alerts    // required

	// RunID returns the recorded id for a sent id. It differs if the id contains a secret. Nil means that it never differs.
	RunID func(id string) string

	// Name returns a name without its secrets. Nil means that names are recorded unchanged.
	Name func(name string) string

	// NotFound answers browsers that ask for an unknown page. Nil means a problem in JSON, which other clients get.
	NotFound http.Handler

	// Ready returns why the server cannot work at the moment, or nil. Nil means that it always can.
	Ready func(ctx context.Context) error

	// Recording returns the state of the recording for the health. It may be nil.
	Recording func() pipeline.State

	// Cluster returns the state of the cluster for the health, or nil. It may be nil.
	Cluster func(ctx context.Context) *api.Cluster

	Tokens  []Token  // without tokens, every client may do everything
	Hosts   []string // allowed host names and addresses, besides those of the machine
	Origins []string // origins of web pages that may send requests, besides the server's own: https://app.example.com

	// A server of a cluster may have some of the roles. Every server answers GET /api/health and GET /metrics.
	NoIngest  bool // it answers no requests of the scope Ingest
	NoQueries bool // it answers no requests of other scopes

	Limits Limits
	Log    *slog.Logger // for internal errors; nil means no log
	Access *slog.Logger // for one line per request; nil means none
}

// Pipeline records events.
type Pipeline interface {
	Submit(ctx context.Context, d *pipeline.Submission) (pipeline.Ack, error)
}

// Telemetry records OTLP data. Rejected spans or records must not be sent again; the reason says why. The error is one of
// Pipeline's.
type Telemetry interface {
	Traces(ctx context.Context, td ptrace.Traces) (rejected int, reason string, err error)
	Logs(ctx context.Context, ld plog.Logs) (rejected int, reason string, err error)
}

// Store reads all records that are recorded at the time of the call.
type Store interface {
	Runs
	Events
	Judgements
	Acts
}

// Runs reads runs.
type Runs interface {
	// Run returns the run with the id, or nil.
	Run(ctx context.Context, id string) (*store.Run, error)
	// Runs returns a page of the runs that the filter selects, in the given order, and the cursor of the next page.
	Runs(ctx context.Context, f store.Filter, o store.Order, p store.Page) (runs []store.Run, next string, err error)
	// CountRuns returns the number of runs that the filter selects.
	CountRuns(ctx context.Context, f store.Filter) (int, error)
	// RunsSince returns the runs whose latest event arrived after the given arrival, in the order of their latest arrivals: at most
	// limit runs.
	RunsSince(ctx context.Context, arrival int64, limit int) ([]store.Run, error)
	// Overview summarizes the runs that the query selects.
	Overview(ctx context.Context, q store.OverviewQuery) (store.Overview, error)
}

// Events reads events.
type Events interface {
	// EventPage returns a page of the events of a run, in order or backward.
	EventPage(ctx context.Context, run int64, p store.Page) (events []store.Event, next string, err error)
	// EventsSince returns the first events of a run after an arrival, in the order of arrival: at most limit, and fewer if they are
	// large. more reports whether further ones may exist.
	EventsSince(ctx context.Context, run, arrival int64, limit int) (events []store.Event, more bool, err error)
	// EventsOf returns the events of the run that have one of the ids, in any order.
	EventsOf(ctx context.Context, run int64, ids []string) ([]store.Event, error)
	// Arrivals returns the arrivals of the events of the run that have one of the ids.
	Arrivals(ctx context.Context, run int64, ids []string) (map[string]int64, error)
}

// Judgements reads warnings and decisions.
type Judgements interface {
	// Warnings returns all warnings of a run.
	Warnings(ctx context.Context, run int64) ([]store.Warning, error)
	// Decisions returns a page of a run's decisions, in the order of the run.
	Decisions(ctx context.Context, run int64, p store.Page) (decisions []store.Decision, next string, err error)
}

// Scope is the permission of a token.
type Scope string

// The scopes.
const (
	Anyone Scope = ""       // needs no token
	Ingest Scope = "ingest" // sends events
	Read   Scope = "read"   // reads runs and uses their data
	Admin  Scope = "admin"  // both, and deletes runs
)

// Token is a configured token.
type Token struct {
	Name   string
	Scope  Scope
	SHA256 string // of the token, in hexadecimal digits
}

// Limits are the limits of a server. Zero values mean the defaults.
type Limits struct {
	Body        int64 // bytes of a request's body, compressed and decompressed; 16 MiB
	Bodies      int64 // bytes of all bodies in progress, as sent and as decoded; 16 times Body
	Answers     int64 // bytes of all large answers and parts of streams that clients have not read; 16 times Body
	Events      int   // in a request; 10,000
	Levels      int   // of nested objects and arrays in an event; 128
	Name        int   // bytes of an id or a name; 512; stores shorten longer ids to a hash
	Connections int   // open at once, a quarter of them for unproven connections (see Silence); 1,024
	Streams     int   // open at once; 256
	Header      int   // bytes of a request's header; 64 KiB

	HeaderTime time.Duration // to receive the header of a request; 10 s
	ReadTime   time.Duration // to receive a request; 60 s
	WriteTime  time.Duration // to send an answer, or a part of a stream; 60 s
	IdleTime   time.Duration // between two requests of a connection; 120 s
	Silence    time.Duration // for a connection without a token, or without a complete request if there are no tokens; 10 s
	KeepAlive  time.Duration // between two keepalive comments of a stream; 15 s
	Grace      time.Duration // for open requests when the server stops; 10 s
}

func orElse[T comparable](value *T, other T) {
	var zero T
	if *value == zero {
		*value = other
	}
}

// DefaultLimits returns the limits of a server whose options set none.
func DefaultLimits() (l Limits) {
	l.fill()
	return l
}

func (l *Limits) fill() {
	orElse(&l.Body, 16<<20)
	orElse(&l.Bodies, 16*l.Body)
	orElse(&l.Answers, 16*l.Body)
	orElse(&l.Events, 10_000)
	orElse(&l.Levels, 128)
	orElse(&l.Name, names.Max)
	orElse(&l.Connections, 1024)
	orElse(&l.Streams, 256)
	orElse(&l.Header, 64<<10)
	orElse(&l.HeaderTime, 10*time.Second)
	orElse(&l.ReadTime, time.Minute)
	orElse(&l.WriteTime, time.Minute)
	orElse(&l.IdleTime, 2*time.Minute)
	orElse(&l.Silence, 10*time.Second)
	orElse(&l.KeepAlive, 15*time.Second)
	orElse(&l.Grace, 10*time.Second)
}

// fill sets the defaults of what is not set.
func (o *Options) fill() {
	o.Limits.fill()
	orElse(&o.GRPC, "off")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.RunID == nil {
		o.RunID = func(id string) string { return id }
	}
	if o.Name == nil {
		o.Name = func(name string) string { return name }
	}
}

// Validate returns all errors of the options.
func (o *Options) Validate() error {
	var wrong []error
	if o.Pipeline == nil || o.Store == nil || o.Telemetry == nil || o.Hub == nil || o.Judge == nil || o.Tuner == nil || o.Shadow == nil || o.Guards == nil || o.Alerts == nil {
		wrong = append(wrong, errors.New("pipeline, store, telemetry, hub, judge, tuner, shadow, guards and alerts are required"))
	}
	for i, t := range o.Tokens {
		if hash, err := hex.DecodeString(t.SHA256); err != nil || len(hash) != sha256.Size {
			wrong = append(wrong, fmt.Errorf("tokens[%d].sha256: want a SHA-256 hash of %d hexadecimal digits", i, 2*sha256.Size))
		}
		if t.Scope != Ingest && t.Scope != Read && t.Scope != Admin {
			wrong = append(wrong, fmt.Errorf("tokens[%d].scope: invalid scope %q: want ingest, read or admin", i, t.Scope))
		}
	}
	for i, h := range o.Hosts {
		if h == "" || strings.ContainsAny(h, "/@ ") {
			wrong = append(wrong, fmt.Errorf("hosts[%d]: invalid host %q: want a name or an address", i, h))
		}
	}
	for i, s := range o.Origins {
		u, err := url.Parse(s)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != s {
			wrong = append(wrong, fmt.Errorf("origins[%d]: invalid origin %q: want a value such as https://app.example.com", i, s))
		}
	}
	l := &o.Limits
	if min(l.Body, l.Bodies, l.Answers, int64(min(l.Events, l.Levels, l.Name, l.Connections, l.Streams, l.Header))) < 0 ||
		min(l.HeaderTime, l.ReadTime, l.WriteTime, l.IdleTime, l.Silence, l.KeepAlive, l.Grace) < 0 {
		wrong = append(wrong, errors.New("limits must not be negative"))
	}
	return errors.Join(wrong...)
}
