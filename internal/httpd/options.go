package httpd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop/internal/live"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
)

// Options say what a server stands on and what it lets in. Zero limits stand for the defaults.
type Options struct {
	Version   string
	GRPC      string    // how OTLP over gRPC does, for health: on, taken, or off, as where it is left out
	Pipeline  Pipeline  // needed
	Store     Store     // needed
	Telemetry Telemetry // needed
	Hub       *live.Hub // needed
	Judge     Judge     // needed
	Guards    Guards    // needed

	// RunID returns the id under which a run is recorded that was sent with an id: another one where that holds a secret. Nil if
	// that is always the same.
	RunID func(id string) string

	// Name returns a name as it is recorded: without its secrets. Nil if that is always the same.
	Name func(name string) string

	// Ready returns why the server cannot work at the moment, or nil. Nil for a server that always can.
	Ready func(ctx context.Context) error

	// Recording returns how the recording goes, for the answer of a healthy server. Nil for nothing to say.
	Recording func() pipeline.State

	Tokens  []Token  // none: whoever reaches the server may do all
	Hosts   []string // names and addresses, beside those of the machine itself, under which the server may be asked
	Origins []string // of web pages, beside the server's own, that may send requests: https://app.example.com

	Limits Limits
	Log    *slog.Logger // for what goes wrong inside; nil for nowhere
	Access *slog.Logger // one line a request; nil for none
}

// Pipeline records events.
type Pipeline interface {
	Submit(ctx context.Context, d *pipeline.Submission) (pipeline.Ack, error)
}

// Telemetry takes OTLP. Rejected spans or records are refused for good, with the reason; the error is one of Pipeline's.
type Telemetry interface {
	Traces(ctx context.Context, td ptrace.Traces) (rejected int, reason string, err error)
	Logs(ctx context.Context, ld plog.Logs) (rejected int, reason string, err error)
}

// Store answers for what was recorded, up to the moment when it is asked.
type Store interface {
	Runs
	Events
	Judgements
}

// Runs finds runs.
type Runs interface {
	// Run returns the run with the id, or nil.
	Run(ctx context.Context, id string) (*store.Run, error)
	// Runs returns a page of the runs that the filter chooses, in an order, and the cursor of the next.
	Runs(ctx context.Context, f store.Filter, o store.Order, p store.Page) (runs []store.Run, next string, err error)
	// CountRuns returns how many runs the filter chooses.
	CountRuns(ctx context.Context, f store.Filter) (int, error)
	// RunsSince returns the first so many runs whose latest event arrived behind an arrival, in the order of these.
	RunsSince(ctx context.Context, arrival int64, limit int) ([]store.Run, error)
	// Overview sums up the runs that the query chooses.
	Overview(ctx context.Context, q store.OverviewQuery) (store.Overview, error)
}

// Events finds events.
type Events interface {
	// EventPage returns a page of a run's events, in the order of the run or backward.
	EventPage(ctx context.Context, run int64, p store.Page) (events []store.Event, next string, err error)
	// EventsSince returns the first so many of a run's events behind an arrival, in the order of arrival.
	EventsSince(ctx context.Context, run, arrival int64, limit int) ([]store.Event, error)
	// EventsOf returns those of the ids that are ids of the run's events, in any order.
	EventsOf(ctx context.Context, run int64, ids []string) ([]store.Event, error)
}

// Judgements finds what was found and decided.
type Judgements interface {
	// Warnings returns all warnings of a run.
	Warnings(ctx context.Context, run int64) ([]store.Warning, error)
	// Decisions returns a page of a run's decisions, in the order of the run.
	Decisions(ctx context.Context, run int64, p store.Page) (decisions []store.Decision, next string, err error)
}

// Scope says what a token is for.
type Scope string

// The scopes.
const (
	Anyone Scope = ""       // needs no token
	Ingest Scope = "ingest" // sends events
	Read   Scope = "read"   // reads runs
	Admin  Scope = "admin"  // both, and deletes runs
)

// Token lets who knows it do what its scope says.
type Token struct {
	Name   string
	Scope  Scope
	SHA256 string // of the token, in hexadecimal digits
}

// Limits bound what a server takes, and how long it waits. Zero values stand for the defaults.
type Limits struct {
	Body        int64 // bytes of a request's body, both as sent and unpacked; 16 MiB
	Bodies      int64 // bytes of the bodies that are worked on at once, as sent and as decoded; 16 times Body
	Events      int   // in a request; 10,000
	Levels      int   // of nested objects and arrays in an event; 128
	Name        int   // bytes of an id or a name; 512, beyond which a store keeps ids by their hash
	Connections int   // open at once, a quarter of them for those that Silence is about; 1,024
	Streams     int   // open at once; 256
	Header      int   // bytes of a request's header; 64 KiB

	HeaderTime time.Duration // for a request's header; 10 s
	ReadTime   time.Duration // for a request; 60 s
	WriteTime  time.Duration // for an answer, or a part of a stream; 60 s
	IdleTime   time.Duration // between two requests of a connection; 120 s
	Silence    time.Duration // of a connection that has shown no token, or sent no whole request where there are none; 10 s
	KeepAlive  time.Duration // between two signs of life of a stream; 15 s
	Grace      time.Duration // for open requests when the server stops; 10 s
}

func orElse[T comparable](value *T, other T) {
	var zero T
	if *value == zero {
		*value = other
	}
}

func (l *Limits) fill() {
	orElse(&l.Body, 16<<20)
	orElse(&l.Bodies, 16*l.Body)
	orElse(&l.Events, 10_000)
	orElse(&l.Levels, 128)
	orElse(&l.Name, 512)
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

// Validate returns all that is wrong with the options.
func (o *Options) Validate() error {
	var wrong []error
	if o.Pipeline == nil || o.Store == nil || o.Telemetry == nil || o.Hub == nil || o.Judge == nil || o.Guards == nil {
		wrong = append(wrong, errors.New("a pipeline, a store, a taker of telemetry, a hub, a judge and guards are needed"))
	}
	for i, t := range o.Tokens {
		if hash, err := hex.DecodeString(t.SHA256); err != nil || len(hash) != sha256.Size {
			wrong = append(wrong, fmt.Errorf("tokens[%d].sha256: the %d hexadecimal digits of a SHA-256 hash are wanted", i, 2*sha256.Size))
		}
		if t.Scope != Ingest && t.Scope != Read && t.Scope != Admin {
			wrong = append(wrong, fmt.Errorf("tokens[%d].scope: %q is none of ingest, read and admin", i, t.Scope))
		}
	}
	for i, h := range o.Hosts {
		if h == "" || strings.ContainsAny(h, "/@ ") {
			wrong = append(wrong, fmt.Errorf("hosts[%d]: %q is no name or address of a host", i, h))
		}
	}
	for i, s := range o.Origins {
		u, err := url.Parse(s)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != s {
			wrong = append(wrong, fmt.Errorf("origins[%d]: %q is no origin, such as https://app.example.com", i, s))
		}
	}
	l := &o.Limits
	if min(l.Body, l.Bodies, int64(min(l.Events, l.Levels, l.Name, l.Connections, l.Streams, l.Header))) < 0 ||
		min(l.HeaderTime, l.ReadTime, l.WriteTime, l.IdleTime, l.Silence, l.KeepAlive, l.Grace) < 0 {
		wrong = append(wrong, errors.New("limits: less than nothing"))
	}
	return errors.Join(wrong...)
}

// CheckAddr returns why a server must not listen at an address: others can reach it, and there are no tokens. The address is
// HOST:PORT; an empty host is every address of the machine.
func CheckAddr(addr string, hasTokens bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("listen at %q: %w", addr, err)
	}
	if hasTokens || isLoopback(host) {
		return nil
	}
	return fmt.Errorf("others can reach %s, so that the server needs tokens there; without any it listens at 127.0.0.1 only", addr)
}

// isLoopback reports whether a host's name or address is one of the machine itself.
func isLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && address.Unmap().IsLoopback()
}
