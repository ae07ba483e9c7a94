// Package guardio implements the guard protocol: it reads requests as JSON lines and answers each with a line, in order. Agents
// in any language use it to ask package guard for decisions, through a child process or a server.
// docs/guard-protocol.md describes the protocol.
package guardio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/boundedmap"
	"github.com/unloop-ai/unloop/profile"
	"github.com/unloop-ai/unloop/swarm"
)

// Limits of one process.
const (
	maxLine      = 16 << 20  // bytes in a line without its end
	maxRuns      = 10_000    // approximate; the longest idle run is evicted
	maxName      = 256       // bytes in the name of a run or a worker
	maxID        = 1024      // bytes in an id
	maxOpenCalls = 4096      // calls whose before an after finds; further calls drop the oldest ones
	chunk        = 64 * 1024 // bytes that are read or written at once
)

// Extras are options beside the profile. The zero value has none.
type Extras struct {
	Second *guard.SecondOpinion // for which requests wait; nil for none

	// Events and Controls are those of guard.Options, for the runs that have a name; nil for none. While a person has paused a run, the
	// answers to all requests wait.
	Events   func(*unloop.Event, guard.Decision)
	Controls func(run string, take func(*unloop.Event)) (stop func())
}

// Serve reads requests from in and writes the answers to out, until in ends; then it returns nil. When the context is done it
// returns the context's error, even while it waits for input. It writes all answers before it waits and before it returns; while
// more input is available, it collects answers. An error means that a stream failed: invalid lines are answered and are not
// errors. It keeps at most one line, about 10,000 runs and the counts of one swarm.
func Serve(ctx context.Context, p *profile.Profile, more Extras, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := New(p, maxRuns, 0, nil) // the client owns the process, so its snapshots need no signature
	if err != nil {
		return err
	}
	s.extras = more
	defer s.runs.Close()
	var answer []byte
	w := bufio.NewWriterSize(out, chunk)
	lines := newLines(newInput(ctx, in, w.Flush))
	for {
		line, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return w.Flush()
		case errors.Is(err, errLong):
			answer = s.refuseLong(answer)
		case err != nil:
			return err
		default:
			answer = s.answerTo(ctx, line, answer)
		}
		if _, err := w.Write(answer); err != nil {
			return fmt.Errorf("write the answers: %w", err)
		}
	}
}

// openCall identifies a call between its before and its after.
type openCall struct{ run, id string }

// Server answers requests of many runs under one profile. It is safe for concurrent use. It answers one request at a time.
type Server struct {
	profile *profile.Profile
	runs    *guard.Group
	shared  swarm.Store // counts of the workers; nil if the profile does not use them
	signer  *Signer     // signs snapshots; nil without signatures
	extras  Extras

	mu      sync.Mutex                               // guards all following fields
	open    boundedmap.Map[openCall, guard.Decision] // open calls with the decisions before them
	parser  parser
	request request // the current request
	answer  []byte  // the answer to request, with its line end
}

// New returns a server with about the given maximum of runs and bytes (0 means no limit of bytes). It evicts the longest idle
// run. The signer signs snapshots, and only signed snapshots are restored. It is nil if the server has a single, trusted client.
func New(p *profile.Profile, runs int, bytes int64, signer *Signer) (*Server, error) {
	s := &Server{profile: p, signer: signer}
	s.open.Max = maxOpenCalls
	s.runs = guard.NewGroup(p, s.options, runs)
	s.runs.LimitBytes(bytes)
	if p.Swarm() == (profile.Swarm{}) {
		return s, nil
	}
	store, err := swarm.NewMemory(swarm.DefaultBounds())
	s.shared = store
	return s, err
}

// Review makes the guards of runs ask for second opinions; nil means none. It must be called before Answer.
func (s *Server) Review(second *guard.SecondOpinion) { s.extras.Second = second }

// Bytes estimates the memory of the runs in bytes. It is 0 without a limit.
func (s *Server) Bytes() int64 { return s.runs.Bytes() }

// Answer writes the answers to the lines of a text, in order. Lines of concurrent calls may be answered in between. Answer
// returns an error early if the context is done or an answer cannot be written.
func (s *Server) Answer(ctx context.Context, text []byte, out io.Writer) error {
	var answer []byte
	for line := range bytes.Lines(text) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > maxLine {
			answer = s.refuseLong(answer)
		} else {
			answer = s.answerTo(ctx, line, answer)
		}
		if _, err := out.Write(answer); err != nil {
			return fmt.Errorf("write the answers: %w", err)
		}
	}
	return nil
}

// answerTo returns the answer to a line. It reuses the memory of an earlier answer.
func (s *Server) answerTo(ctx context.Context, line, memory []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = memory
	s.handle(ctx, line)
	if len(line) > 1<<20 {
		s.parser = parser{} // the memory of a huge line is not kept
	}
	return s.done()
}

// refuseLong returns the answer to a line that is too long. It reuses the memory of an earlier answer.
func (s *Server) refuseLong(memory []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = memory
	s.refuse(mistake{"line_too_long", fmt.Sprintf("the line has more than %d bytes; shorten the result", maxLine)})
	return s.done()
}

// done returns the answer and drops the references to the line. The caller holds the lock.
func (s *Server) done() []byte {
	answer := s.answer
	s.answer, s.request = nil, request{}
	return answer
}

// options returns the options for the guard of a new run, with the worker of the current request.
func (s *Server) options(run string) guard.Options {
	o := guard.Options{Run: run, SecondOpinion: s.extras.Second}
	if run != "" {
		o.Events, o.Controls = s.extras.Events, s.extras.Controls
	}
	if s.shared != nil && s.request.worker != "" {
		o.Swarm = &guard.Swarm{Store: s.shared, Name: "workers", Worker: s.request.worker}
	}
	return o
}

// handle answers a line. The caller holds the lock.
func (s *Server) handle(ctx context.Context, line []byte) {
	q := &s.request
	s.parser.parse(line, q)
	if q.bad != nil {
		s.refuse(*q.bad)
		return
	}
	switch q.op {
	case "before":
		s.before(ctx, q)
	case "after":
		s.after(ctx, q)
	case "text":
		s.decided(s.run().Text(ctx, q.role, q.agent, q.text), nil)
	case "user":
		s.decided(s.run().Text(ctx, unloop.RoleUser, q.agent, q.text), nil)
	case "progress":
		s.decided(s.run().MarkProgress(ctx, q.text), nil)
	case "allow":
		s.decided(s.run().Allow(ctx, q.text), nil)
	case "control":
		s.run().Control(q.control())
		s.value("ok", true)
	case "state":
		s.state()
	case "stats":
		s.value("stats", stats{s.run().Stats(), s.runs.Dropped()})
	case "reset":
		s.runs.End(q.run)
		s.value("ok", true)
	case "snapshot":
		s.snapshot()
	case "restore":
		s.restore(q)
	}
}

// control returns the event that records an act of a person.
func (q *request) control() *unloop.Event {
	e := &unloop.Event{ID: q.order, Type: unloop.Control, Name: q.act, Text: q.text, Tool: q.tool}
	if q.act == "allow" {
		e.Type, e.Name, e.Text = unloop.Override, q.text, ""
	}
	return e
}

// state answers with the state of the run.
func (s *Server) state() {
	state := s.run().State()
	if state.Failed != "" {
		s.refuse(runFailed(state.Failed))
		return
	}
	s.value("state", state)
}

// stats is the answer to the operation stats: counts of the guard and of the process.
type stats struct {
	guard.Stats
	Dropped int `json:"runs_dropped"`
}

// run returns the guard of the current request's run.
func (s *Server) run() *guard.Guard { return s.runs.Run(s.request.run) }
