package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	spanConnections = 8
	traceSpans      = 20 // spans of a trace; the last is the agent's, above the others
)

// otlp measures spans a second from request to disk: tool calls of agents, in the order in which exporters send them.
func otlp(ctx context.Context, s *server, set settings) (string, error) {
	timed, cancel := context.WithTimeout(ctx, set.time)
	defer cancel()
	sent, took, err := spanSenders(timed, s.url, set, 0)
	if err != nil {
		return "", err
	}
	now, most, err := s.resident()
	return fmt.Sprintf("%.0f spans/s (%d in %.1f s), server %d MiB, %d at most", float64(sent)/took.Seconds(), sent, took.Seconds(), now, most), err
}

// spansCPU sends half as many spans as events, since a span is two events, and prints the CPU time of the server for each span, by role.
func spansCPU(ctx context.Context, set settings) (string, error) {
	return profileOf(ctx, set, "span", func(url string) (int64, time.Duration, error) {
		return spanSenders(ctx, url, set, int64(set.events/2))
	})
}

// spanSenders sends requests of spans until ctx ends, or the budget of spans is used up. The budget 0 means no limit. It returns the
// number of spans sent.
func spanSenders(ctx context.Context, url string, set settings, budget int64) (sent int64, took time.Duration, err error) {
	c := client(spanConnections)
	var done atomic.Int64
	failed := make(chan error, spanConnections)
	begun := time.Now()
	all := newShuffledFeed(set, begun)
	for k := range spanConnections {
		var f requests = newSpanFeed(k, set, begun)
		if set.spans == shuffled {
			f = all
		}
		go func() {
			for ctx.Err() == nil && (budget == 0 || done.Load() < budget) {
				if err := send(context.WithoutCancel(ctx), c, url+"/v1/traces", "application/x-protobuf", http.StatusOK, f.request()); err != nil {
					failed <- err
					return
				}
				done.Add(int64(set.request))
			}
			failed <- nil
		}()
	}
	for range spanConnections {
		if e := <-failed; e != nil {
			err = e
		}
	}
	if err == nil {
		err = evaluated(url)
	}
	return done.Load(), time.Since(begun), err
}

// evaluated waits until no run has late events that are not folded.
func evaluated(url string) error {
	for {
		answer, err := http.Get(url + "/api/health")
		if err != nil {
			return err
		}
		var health struct {
			Refolding int `json:"refolding_runs"`
		}
		err = json.NewDecoder(answer.Body).Decode(&health)
		answer.Body.Close()
		if err != nil || health.Refolding == 0 {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// The shapes of the flag -spans.
const (
	scattered = "scattered" // a request has a few spans of each live trace; the agent's name comes with its last span
	whole     = "whole"     // a request has all spans of its traces
	named     = "named"     // like scattered, but each span names the agent
	shuffled  = "shuffled"  // the spans of all live traces are in disorder, over all requests
)

// requests makes the requests of a sender.
type requests interface{ request() []byte }

// spanFeed makes the spans of many traces at once. A trace that has ended makes room for another one.
type spanFeed struct {
	sender int
	traces []int // number of spans made in each place for a trace
	next   int
	begun  time.Time
	size   int  // spans of a request
	named  bool // each span names the agent
}

func newSpanFeed(sender int, set settings, begun time.Time) *spanFeed {
	live := max(1, set.runs/spanConnections)
	if set.spans == whole {
		live = 1
	}
	return &spanFeed{sender: sender, traces: make([]int, live), begun: begun, size: set.request, named: set.spans == named}
}

// request returns a request with the next spans.
func (f *spanFeed) request() []byte {
	var spans []byte
	for range f.size {
		place := f.next
		f.next = (f.next + 1) % len(f.traces)
		n := f.traces[place]
		f.traces[place]++
		spans = append(spans, field(2, f.span(place+n/traceSpans*len(f.traces), n%traceSpans))...)
	}
	return field(1, field(2, spans)) // ResourceSpans, ScopeSpans
}

// shuffledFeed makes the spans of all live traces in disorder, for all senders together. Then it makes as many new traces. It is safe for
// concurrent use.
type shuffledFeed struct {
	mu     sync.Mutex
	feed   spanFeed
	random *rand.Rand
	live   int
	done   int   // traces that were made
	left   []int // numbers of the spans of the live traces that are not sent
}

func newShuffledFeed(set settings, begun time.Time) *shuffledFeed {
	return &shuffledFeed{feed: spanFeed{begun: begun, size: set.request}, random: rand.New(rand.NewPCG(1, 1)), live: max(1, set.runs)}
}

func (f *shuffledFeed) request() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	var spans []byte
	for range f.feed.size {
		if len(f.left) == 0 {
			for _, k := range f.random.Perm(f.live * traceSpans) {
				f.left = append(f.left, f.done*traceSpans+k)
			}
			f.done += f.live
		}
		k := f.left[len(f.left)-1]
		f.left = f.left[:len(f.left)-1]
		spans = append(spans, field(2, f.feed.span(k/traceSpans, k%traceSpans))...)
	}
	return field(1, field(2, spans))
}

// span returns span n of a trace, as protobuf.
func (f *spanFeed) span(trace, n int) []byte {
	call := (f.sender*1_000_000+trace)*traceSpans + n
	id := func(k int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(k)) }
	of := append(id(f.sender+1), id(trace)...)
	at := f.begun.Add(time.Duration(n) * time.Second)
	if n == traceSpans-1 {
		return span(of, id(1), nil, "invoke_agent coder", f.begun, at.Add(time.Second),
			attribute("gen_ai.operation.name", "invoke_agent"), attribute("gen_ai.agent.name", "coder"))
	}
	attributes := [][]byte{
		attribute("gen_ai.operation.name", "execute_tool"), attribute("gen_ai.tool.name", "grep"),
		attribute("gen_ai.tool.call.arguments", fmt.Sprintf(`{"path":"internal/%s_%d.go","query":"where the %s and closes it"}`,
			appendWords(nil, call, 0, 2, '/'), call, appendWords(nil, call, 2, 4, ' '))),
		attribute("gen_ai.tool.call.result", fmt.Sprintf("internal/%s.go:88: // %s", appendWords(nil, call, 0, 2, '/'), appendWords(nil, call, 6, 16, ' '))),
	}
	if f.named {
		attributes = append(attributes, attribute("gen_ai.agent.name", "coder"))
	}
	return span(of, id(n+2), id(1), "execute_tool grep", at, at.Add(time.Second/2), attributes...)
}

// span returns a span as protobuf.
func span(trace, id, parent []byte, name string, from, to time.Time, attributes ...[]byte) []byte {
	s := append(field(1, trace), field(2, id)...)
	if parent != nil {
		s = append(s, field(4, parent)...)
	}
	s = append(s, field(5, []byte(name))...)
	s = binary.LittleEndian.AppendUint64(append(s, 7<<3|1), uint64(from.UnixNano()))
	s = binary.LittleEndian.AppendUint64(append(s, 8<<3|1), uint64(to.UnixNano()))
	for _, a := range attributes {
		s = append(s, field(9, a)...)
	}
	return s
}

// attribute returns an attribute with a text, as protobuf.
func attribute(name, text string) []byte {
	return append(field(1, []byte(name)), field(2, field(1, []byte(text)))...)
}
