package app

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

// tracesOfTalk is the number of traces of a conversation. They belong to partitions of their own, the conversation to another one.
const tracesOfTalk = 4

// spanSender sends the spans of conversations, each in a request of its own. One span of each trace names the conversation.
type spanSender struct {
	random *rand.Rand
	talk   int
	traces int
	left   []string   // requests of the current trace
	sent   [][]string // requests that were acknowledged, by conversation
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
	last := len(s.sent) - 1
	s.sent[last], s.left = append(s.sent[last], s.left[0]), s.left[1:]
	s.acked++
	return true
}

// next returns the spans of another trace in any order: calls of a tool below an agent.
func (s *spanSender) next() (requests []string) {
	number := s.talk*tracesOfTalk + s.traces
	if s.traces == 0 {
		s.sent = append(s.sent, nil)
	}
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
		requests = append(requests, fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"library"}}]},`+
			`"scopeSpans":[{"spans":[{"traceId":%q,"spanId":"%016x",%s"name":"span","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s]}]}]}]}`,
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

// check checks that each acknowledged span is stored once, and that the events of all traces are in the runs of their conversations.
func (s *spanSender) check(t *testing.T, db string) {
	t.Helper()
	var spans, others int
	postgres.Value(t, db, `SELECT COUNT(*) FROM spans`, &spans)
	if spans != s.acked {
		t.Errorf("%d spans are stored, %d were acknowledged", spans, s.acked)
	}
	postgres.Value(t, db, `SELECT COUNT(*) FROM runs WHERE id NOT LIKE 'talk-%' AND id NOT LIKE 's%'`, &others)
	if others > 0 {
		t.Errorf("%d runs are left whose events belong to conversations", others)
	}
	var warnings int
	postgres.Value(t, db, `SELECT COUNT(*) FROM warnings JOIN runs ON run = number WHERE runs.id LIKE 'talk-%'`, &warnings)
	if len(s.sent) > 1 && warnings == 0 { // the first conversation repeats a call twelve times
		t.Error("no conversation has a warning")
	}
	t.Logf("%d spans of %d conversations, %d warnings", spans, len(s.sent), warnings)
}

// compareToScans compares what a server says of each conversation with what a scan says of the requests that were acknowledged.
func (s *spanSender) compareToScans(t *testing.T, url string) {
	t.Helper()
	for talk, requests := range s.sent {
		compareToScanOf(t, url, fmt.Sprint("talk-", talk), []byte(strings.Join(requests, "\n")))
	}
}
