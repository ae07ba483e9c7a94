// Package guardio speaks the guard's protocol: JSON lines in, one answer a line out, in order, so that an agent in any language
// has the guard as a child process, or asks that of a server. It stands at the edge of the arrow: package guard is behind it,
// and makes the decisions. The protocol is described in docs/guard-protocol.md.
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
	"github.com/unloop-ai/unloop/profile"
	"github.com/unloop-ai/unloop/swarm"
)

// Bounds of what one process holds.
const (
	maxLine = 16 << 20  // bytes in a line, its end left out
	maxRuns = 10_000    // about; the run that was idle longest is forgotten
	maxName = 256       // bytes in the name of a run or a worker
	maxID   = 1024      // bytes in an id
	chunk   = 64 * 1024 // bytes that are read and written at once
)

// Serve reads requests from in and writes the answers to out, until in ends; then it returns nil. When the context is done
// it returns the context's error, also while it waits for input. All that was answered is written before it waits and before
// it returns; while further input is at hand, answers are gathered. An error says that a stream broke, never that a line was
// bad: those are answered. It holds at most one line, about 10,000 runs and the counts of one swarm.
func Serve(ctx context.Context, p *profile.Profile, in io.Reader, out io.Writer) error {
	return ServeWith(ctx, p, Extras{}, in, out)
}

// Extras are options beside the profile. The zero value is that of Serve.
type Extras struct {
	Second *guard.SecondOpinion // for which requests wait; nil for none

	// Events and Controls are those of guard.Options, for the runs that have a name; nil for none. While a person has paused a run, the
	// answers to all requests wait.
	Events   func(*unloop.Event, guard.Decision)
	Controls func(run string, take func(*unloop.Event)) (stop func())
}

// ServeWith is Serve with more.
func ServeWith(ctx context.Context, p *profile.Profile, more Extras, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := New(p, maxRuns, 0, nil) // a child belongs to its agent, which may have it do what it likes
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

// Server answers requests, of many runs under one profile. It is safe for concurrent use: requests are answered one by one.
type Server struct {
	profile *profile.Profile
	runs    *guard.Group
	shared  swarm.Store // counts of the workers; nil where the profile does not look at them
	signer  *Signer     // of snapshots; nil where nobody could forge them
	extras  Extras

	mu      sync.Mutex // over all that follows
	open    calls
	parser  parser
	request request // the one at hand
	answer  []byte  // to it, with its line end
}

// New returns a server that holds about so many runs, in about so many bytes (0 for no such bound); the one that was idle longest
// is forgotten. The signer signs the snapshots that it gives out, and only these are restored; nil where the guard belongs to its
// only client.
func New(p *profile.Profile, runs int, bytes int64, signer *Signer) (*Server, error) {
	s := &Server{profile: p, signer: signer}
	s.runs = guard.NewGroup(p, s.options, runs)
	s.runs.LimitBytes(bytes)
	if p.Swarm() == (profile.Swarm{}) {
		return s, nil
	}
	store, err := swarm.NewMemory(swarm.DefaultBounds())
	s.shared = store
	return s, err
}

// Review has the guards of runs ask for second opinions; nil for none. It must be called before Answer.
func (s *Server) Review(second *guard.SecondOpinion) { s.extras.Second = second }

// Bytes estimates what the runs take in memory. It is 0 for a server without a bound.
func (s *Server) Bytes() int64 { return s.runs.Bytes() }

// Answer writes the answers to the lines of a text, in order. Lines of concurrent texts may come between those of each other.
// It ends early, with the error, when the context is done or an answer cannot be written.
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

// answerTo returns the answer to a line. It takes the memory of an earlier answer.
func (s *Server) answerTo(ctx context.Context, line, memory []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = memory
	s.handle(ctx, line)
	if len(line) > 1<<20 {
		s.parser = parser{} // one huge line is no reason to hold so much until the next
	}
	return s.done()
}

// refuseLong returns the answer to a line that is too long. It takes the memory of an earlier answer.
func (s *Server) refuseLong(memory []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = memory
	s.refuse(mistake{"line_too_long", fmt.Sprintf("the line has more than %d bytes; send less of the result", maxLine)})
	return s.done()
}

// done gives the answer away, and lets go of the line. The lock is held.
func (s *Server) done() []byte {
	answer := s.answer
	s.answer, s.request = nil, request{}
	return answer
}

// options are those of the guard that the request at hand begins: it names the worker.
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

// handle answers a line. The lock is held.
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

// control returns the event of what a person did.
func (q *request) control() *unloop.Event {
	e := &unloop.Event{ID: q.order, Type: unloop.Control, Name: q.act, Text: q.text, Tool: q.tool}
	if q.act == "allow" {
		e.Type, e.Name, e.Text = unloop.Override, q.text, ""
	}
	return e
}

// state answers with how the run stands.
func (s *Server) state() {
	state := s.run().State()
	if state.Failed != "" {
		s.refuse(runFailed(state.Failed))
		return
	}
	s.value("state", state)
}

// stats is what a guard counts, and what became of the process's runs.
type stats struct {
	guard.Stats
	Dropped int `json:"runs_dropped"`
}

// run returns the guard of the run that the request at hand names.
func (s *Server) run() *guard.Guard { return s.runs.Run(s.request.run) }
