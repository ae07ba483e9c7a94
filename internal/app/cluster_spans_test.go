package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
	"github.com/unloop-ai/unloop/internal/trace"
	"github.com/unloop-ai/unloop/profile"
)

// tracesOfTalk is the number of traces of a conversation. They belong to partitions of their own, the conversation to another one.
const tracesOfTalk = 4

// spanSender sends the spans of conversations, each in a request of its own. One span of each trace names the conversation.
type spanSender struct {
	random *rand.Rand
	talk   int
	traces int
	left   []string // requests of the current trace
	acked  int
}

// send sends the next span, and reports whether it was acknowledged.
func (s *spanSender) send(url string) bool {
	if len(s.left) == 0 {
		s.left = s.next()
	}
	client := http.Client{Timeout: 10 * time.Second}
	answer, err := client.Post(url+"/v1/traces", "application/json", strings.NewReader(s.left[0]))
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		return false
	}
	s.left = s.left[1:]
	s.acked++
	return true
}

// next returns the spans of another trace in any order: calls of a tool below an agent.
func (s *spanSender) next() (requests []string) {
	number := s.talk*tracesOfTalk + s.traces
	id := fmt.Sprintf("%032x", 1+number)
	begin := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(number) * time.Minute)
	names := s.random.IntN(4)
	for k := range 4 {
		from, attributes := begin.Add(time.Duration(10*k)*time.Second), `{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},{"key":"gen_ai.agent.name","value":{"stringValue":"desk"}}`
		parent, to := "", begin.Add(50*time.Second)
		if k > 0 {
			parent, to = fmt.Sprintf(`"parentSpanId":"%016x",`, 1+16*number), from.Add(5*time.Second)
			attributes = `{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"search"}},` +
				`{"key":"gen_ai.tool.call.arguments","value":{"stringValue":"{\"q\":1}"}},{"key":"gen_ai.tool.call.result","value":{"stringValue":"[]"}}`
		}
		if k == names {
			attributes += fmt.Sprintf(`,{"key":"session.id","value":{"stringValue":"talk-%d"}}`, s.talk)
		}
		requests = append(requests, fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"library"}}]},"scopeSpans":[{"spans":[
			{"traceId":%q,"spanId":"%016x",%s"name":"span","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s]}]}]}]}`,
			id, 1+16*number+k, parent, from.UnixNano(), to.UnixNano(), attributes))
	}
	s.random.Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
	if s.traces++; s.traces == tracesOfTalk {
		s.talk, s.traces = s.talk+1, 0
	}
	return requests
}

// sendSpans sends spans until the load ends, and then the rest of the current trace.
func (l *clusterLoad) sendSpans(s *spanSender) {
	pause := time.NewTicker(25 * time.Millisecond)
	defer pause.Stop()
	for {
		s.send(l.cluster.anyURL(s.random))
		select {
		case <-l.stopped:
			if len(s.left) == 0 {
				return
			}
		default:
		}
		<-pause.C
	}
}

// checkSpans compares the runs of spans with those that a server of its own makes of the same spans.
func (s *spanSender) check(t *testing.T, db string) {
	t.Helper()
	kept := openStore(t, db)
	var spans int
	postgres.Value(t, db, `SELECT COUNT(*) FROM spans`, &spans)
	if spans != s.acked {
		t.Errorf("%d spans are stored, %d were acknowledged", spans, s.acked)
	}
	var others int
	postgres.Value(t, db, `SELECT COUNT(*) FROM runs WHERE id NOT LIKE 'talk-%' AND id NOT LIKE 's%'`, &others)
	if others > 0 {
		t.Errorf("%d runs are left whose events belong to conversations", others)
	}
	talks := s.talk
	if s.traces > 0 {
		talks++
	}
	for talk := range talks {
		traces := tracesOfTalk
		if talk == s.talk {
			traces = s.traces
		}
		id := fmt.Sprint("talk-", talk)
		fresh := replaySpans(t, kept, talk, traces)
		if diff := cmp.Diff(idsOf(eventsOf(t, fresh, id)), idsOf(eventsOf(t, kept, id))); diff != "" {
			t.Errorf("%s: events (-fresh +cluster):\n%s", id, diff)
		}
		if diff := cmp.Diff(judged(t, fresh, id), judged(t, kept, id), regardlessOfArrival); diff != "" {
			t.Errorf("%s (-fresh +cluster):\n%s", id, diff)
		}
	}
	t.Logf("%d spans of %d conversations", spans, talks)
}

func idsOf(events []*unloop.Event) (ids []string) {
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}

// replaySpans gives the stored spans of a conversation to a fresh pipeline and returns its store.
func replaySpans(t *testing.T, kept *sqlstore.Store, talk, traces int) *sqlstore.Store {
	t.Helper()
	fresh := openStore(t, filepath.Join(t.TempDir(), "spans.db"))
	judge, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.New(t.Context(), pipeline.Options{Profile: judge, Store: fresh, Metrics: pipeline.NewMetrics(prometheus.NewRegistry())})
	if err != nil {
		t.Fatal(err)
	}
	var all []trace.Span
	for k := range traces {
		stored, err := kept.Spans(t.Context(), fmt.Sprintf("%032x", 1+talk*tracesOfTalk+k))
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range stored {
			var s trace.Span
			if err := json.Unmarshal(slices.Clone(one.Body), &s); err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	working := begin(func() error { return p.Run(ctx) })
	if _, err := p.Submit(ctx, &pipeline.Submission{Spans: all}); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := working.wait(); err != nil {
		t.Fatal(err)
	}
	return fresh
}
