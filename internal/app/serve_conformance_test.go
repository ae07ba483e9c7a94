package app

import (
	"bytes"
	stdcmp "cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/unloop-ai/unloop/internal/config"
)

// lensCases returns the conformance cases of the profile looplens, by name.
func lensCases(t *testing.T) map[string]lensCase {
	t.Helper()
	paths, err := filepath.Glob("testdata/conformance/looplens/*.json")
	if err != nil || len(paths) != 54 {
		t.Fatalf("%d cases, want 54 (%v)", len(paths), err)
	}
	cases := make(map[string]lensCase)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var c lensCase
		unmarshal(t, data, &c)
		cases[strings.TrimSuffix(filepath.Base(path), ".json")] = c
	}
	return cases
}

// lensSites are sites with the profile looplens, by the budget of the cases that they are for. Costs are those that events tell.
type lensSites map[float64]*site

func startLensSites(t *testing.T, start startSite, cases map[string]lensCase) lensSites {
	t.Helper()
	sites := make(lensSites)
	for _, c := range cases {
		if budget := c.Settings.CostBudget; sites[budget] == nil {
			sites[budget] = start(t, func(o *config.Config) {
				o.Profile = "looplens"
				if budget > 0 {
					o.Settings = config.Settings{"cost_budget": strconv.FormatFloat(budget, 'g', -1, 64)}
				}
			})
		}
	}
	return sites
}

func (l lensSites) of(c lensCase) *site { return l[c.Settings.CostBudget] }

func (l lensSites) settle(t *testing.T) {
	t.Helper()
	for _, s := range l {
		s.settle(t)
	}
}

// TestLoopLensConformanceOverHTTP sends each case to a site, as it stands, doubled, and shuffled.
func TestLoopLensConformanceOverHTTP(t *testing.T) {
	onEachKindOfSite(t, func(t *testing.T, start startSite) {
		cases := lensCases(t)
		sites := startLensSites(t, start, cases)
		for _, way := range []struct {
			name, run string
			requests  func(name string, events []json.RawMessage) [][]json.RawMessage
		}{
			{"in the order of arrival", "", inOneRequest},
			{"doubled", "", inOneRequest},
			{"shuffled, in two requests", "-shuffled", shuffledInTwo},
		} {
			t.Run(way.name, func(t *testing.T) {
				for name, c := range cases {
					for _, events := range way.requests(name, c.Events) {
						post(t, sites.of(c).url()+"/api/events", "application/x-ndjson", inRun(t, name+way.run, events))
					}
				}
				sites.settle(t)
				for name, c := range cases {
					if diff := cmp.Diff(c.Expect, servedVerdict(t, sites.of(c).url(), name+way.run)); diff != "" {
						t.Errorf("%s (-want +got):\n%s", name, diff)
					}
				}
			})
		}
	})
}

func inOneRequest(_ string, events []json.RawMessage) [][]json.RawMessage {
	return [][]json.RawMessage{events}
}

func shuffledInTwo(name string, events []json.RawMessage) [][]json.RawMessage {
	random := rand.New(rand.NewPCG(uint64(len(name)), 7))
	shuffled := slices.Clone(events)
	random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	return [][]json.RawMessage{shuffled[:len(shuffled)/2], shuffled[len(shuffled)/2:]}
}

// inRun makes a request's body of events, as events of a run.
func inRun(t *testing.T, run string, events []json.RawMessage) []byte {
	t.Helper()
	var body bytes.Buffer
	for _, raw := range events {
		var e map[string]any
		unmarshal(t, raw, &e)
		e["run_id"] = run
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		body.Write(append(line, '\n'))
	}
	return body.Bytes()
}

// servedVerdict asks a server for all that a case expects.
func servedVerdict(t *testing.T, url, run string) lensVerdict {
	t.Helper()
	v := lensVerdict{Warnings: servedWarnings(t, url, run)}
	text := get(t, url+"/api/runs/"+run+"/metrics")
	unmarshal(t, text, &v.Metrics)
	var health struct {
		Score  int    `json:"health_score"`
		Status string `json:"status"`
	}
	unmarshal(t, text, &health)
	unmarshal(t, get(t, url+"/api/runs/"+run), &health)
	v.Health.Score, v.Health.Status = health.Score, lensHealth(health.Score, health.Status == "failed")
	return v
}

// servedWarnings asks a server for the warnings, and sorts them as the cases do.
func servedWarnings(t *testing.T, url, run string) []lensWarning {
	t.Helper()
	warnings := []lensWarning{}
	unmarshal(t, get(t, url+"/api/runs/"+run+"/warnings"), &warnings)
	slices.SortFunc(warnings, func(a, b lensWarning) int {
		return stdcmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.Subject, b.Subject))
	})
	return warnings
}

// traced is a case as spans.
type traced struct {
	spans []ptrace.Span
	ids   map[string]string // of the spans' events, by those of the case's
}

// asTrace makes spans of a case's events; nil where spans cannot tell what they do: state that was changed, retries, a cost of a
// tool, calls within one another.
func asTrace(t *testing.T, c lensCase) *traced {
	t.Helper()
	tr := &traced{ids: make(map[string]string)}
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var open *tracedEvent
	for _, raw := range inSequence(t, c.Events) {
		e := raw
		switch e.Type {
		case "run_started":
		case "tool_call_started", "llm_call_started":
			if open != nil {
				clock = tr.call(open, nil, clock)
			}
			open = &e
		case "tool_call_completed", "tool_call_failed", "llm_call_completed", "llm_call_failed":
			if open == nil || open.tool() != e.tool() || strings.HasPrefix(e.Type, "tool") && e.Cost != 0 {
				return nil
			}
			clock, open = tr.call(open, &e, clock), nil
		case "handoff_started":
			clock = tr.handoff(&e, clock)
		case "run_completed", "run_failed":
			if open != nil {
				clock, open = tr.call(open, nil, clock), nil
			}
			tr.end(&e, clock)
		default:
			return nil
		}
	}
	if open != nil {
		tr.call(open, nil, clock)
	}
	return tr
}

type tracedEvent struct {
	ID       string          `json:"event_id"`
	Sequence int64           `json:"sequence"`
	Type     string          `json:"type"`
	Agent    string          `json:"agent"`
	Name     string          `json:"name"`
	Tool     string          `json:"tool"`
	Model    string          `json:"model"`
	Input    json.RawMessage `json:"input"`
	Output   json.RawMessage `json:"output"`
	Tokens   int64           `json:"tokens"`
	Cost     float64         `json:"cost"`
	Latency  float64         `json:"latency_ms"`
}

func (e *tracedEvent) tool() string {
	if e.Tool != "" {
		return e.Tool
	}
	return e.Name
}

func inSequence(t *testing.T, raws []json.RawMessage) (events []tracedEvent) {
	t.Helper()
	known := make(map[string]bool)
	for _, raw := range raws {
		var e tracedEvent
		unmarshal(t, raw, &e)
		if !known[e.ID] {
			events = append(events, e)
		}
		known[e.ID] = true
	}
	slices.SortStableFunc(events, func(a, b tracedEvent) int { return int(a.Sequence - b.Sequence) })
	return events
}

// span begins a span under the root and returns its id. A span's events have ids made of its own.
func (tr *traced) span(name string, at, end time.Time) (ptrace.Span, string) {
	s := ptrace.NewSpan()
	s.SetName(name)
	var id pcommon.SpanID
	binary.BigEndian.PutUint64(id[:], uint64(len(tr.spans)+2))
	s.SetSpanID(id)
	s.SetParentSpanID(pcommon.SpanID{7: 1})
	s.SetStartTimestamp(pcommon.NewTimestampFromTime(at))
	s.SetEndTimestamp(pcommon.NewTimestampFromTime(end))
	tr.spans = append(tr.spans, s)
	return s, id.String()
}

func (tr *traced) call(start, end *tracedEvent, at time.Time) time.Time {
	took := time.Millisecond
	if end != nil && end.Latency > 0 {
		took = time.Duration(end.Latency * float64(time.Millisecond))
	}
	s, id := tr.span(start.Type, at, at.Add(took))
	a := s.Attributes()
	if start.Agent != "" {
		a.PutStr("gen_ai.agent.name", start.Agent)
	}
	if start.Type == "tool_call_started" {
		a.PutStr("gen_ai.operation.name", "execute_tool")
		a.PutStr("gen_ai.tool.name", start.tool())
		if start.Input != nil {
			a.PutStr("gen_ai.tool.call.arguments", string(start.Input))
		}
	} else {
		a.PutStr("gen_ai.operation.name", "chat")
		a.PutStr("gen_ai.request.model", start.Model)
	}
	tr.ids[start.ID] = id + ".start"
	if end == nil {
		return at.Add(took + time.Second)
	}
	tr.ids[end.ID] = id + ".end"
	if end.Output != nil {
		a.PutStr("gen_ai.tool.call.result", string(end.Output))
	}
	a.PutInt("gen_ai.usage.input_tokens", end.Tokens)
	a.PutDouble("gen_ai.usage.cost", end.Cost)
	if strings.HasSuffix(end.Type, "_failed") {
		s.Status().SetCode(ptrace.StatusCodeError)
	}
	return at.Add(took + time.Second)
}

func (tr *traced) handoff(e *tracedEvent, at time.Time) time.Time {
	s, id := tr.span("handoff", at, at.Add(time.Millisecond))
	s.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
	s.Attributes().PutStr("gen_ai.tool.name", "transfer_to_"+e.Agent)
	tr.ids[e.ID] = id + ".start"
	return at.Add(time.Second)
}

// end adds the root.
func (tr *traced) end(e *tracedEvent, at time.Time) {
	s, _ := tr.span("invoke_agent", time.Date(2026, 1, 2, 3, 4, 4, 0, time.UTC), at)
	s.SetSpanID(pcommon.SpanID{7: 1})
	s.SetParentSpanID(pcommon.SpanID{})
	s.Attributes().PutStr("gen_ai.operation.name", "invoke_agent")
	if e.Type == "run_failed" {
		s.Status().SetCode(ptrace.StatusCodeError)
	}
}

// sendSpans sends spans as one request, of the trace run.
func sendSpans(t *testing.T, url, run string, spans ...ptrace.Span) {
	t.Helper()
	traces := ptrace.NewTraces()
	into := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for _, s := range spans {
		to := into.AppendEmpty()
		s.CopyTo(to)
		trace, err := hex.DecodeString(run)
		if err != nil {
			t.Fatal(err)
		}
		to.SetTraceID(pcommon.TraceID(trace))
	}
	body, err := ptraceotlp.NewExportRequestFromTraces(traces).MarshalProto()
	if err != nil {
		t.Fatal(err)
	}
	post(t, url+"/v1/traces", "application/x-protobuf", body)
}

// expressible is how many of the cases spans can tell.
const expressible = 25

// TestLoopLensConformanceOverOTLP sends the cases that spans can tell as traces: the warnings are those of the case, byte by byte
// the same when the spans come one by one in disorder, some of them twice, the root late.
func TestLoopLensConformanceOverOTLP(t *testing.T) {
	cases, traces := lensCases(t), make(map[string]*traced)
	for name, c := range cases {
		if traces[name] = asTrace(t, c); traces[name] == nil {
			delete(cases, name)
		}
	}
	if len(cases) != expressible {
		t.Errorf("%d cases can be expressed as spans, want %d", len(cases), expressible)
	}
	onEachKindOfSite(t, func(t *testing.T, start startSite) {
		whole, pieces := startLensSites(t, start, cases), startLensSites(t, start, cases)
		for name, c := range cases {
			tr := traces[name]
			sendSpans(t, whole.of(c).url(), traceID(name), tr.spans...)
			random := rand.New(rand.NewPCG(uint64(len(name)), 3))
			mixed := append(slices.Clone(tr.spans), tr.spans[:len(tr.spans)/2]...)
			random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			for _, s := range mixed {
				sendSpans(t, pieces.of(c).url(), traceID(name), s)
			}
		}
		whole.settle(t)
		pieces.settle(t)
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				want := slices.Clone(c.Expect.Warnings)
				for k := range want {
					want[k].EventID = traces[name].ids[want[k].EventID]
					if id, ok := traces[name].ids[want[k].Subject]; ok { // an event
						want[k].Subject = id
					}
				}
				if diff := cmp.Diff(want, servedWarnings(t, whole.of(c).url(), traceID(name))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				path := "/api/runs/" + traceID(name) + "/warnings"
				if diff := cmp.Diff(string(get(t, whole.of(c).url()+path)), string(get(t, pieces.of(c).url()+path))); diff != "" {
					t.Errorf("in disorder (-in order +in disorder):\n%s", diff)
				}
			})
		}
	})
}

// traceID returns the id of the trace of a case, which is the id of its run.
func traceID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}
