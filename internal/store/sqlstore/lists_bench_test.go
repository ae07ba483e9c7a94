package sqlstore_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/policy"
)

var (
	listRuns   = flag.Int("list.runs", 2000, "runs of BenchmarkLists")
	listEvents = flag.Int("list.events", 20_000, "events of BenchmarkLists")
)

// history makes runs as a year of agents leaves them: 5 % with a warning, 40 projects, 30 tools, 12 agents, 6 models, and events
// whose words are as frequent as those of a language.
type history struct {
	source *rand.Rand
	words  *rand.Zipf
}

const vocabulary = 200_000

func (h *history) run(number int64) store.Run {
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(number) * 5 * time.Minute)
	tool := fmt.Sprint("tool_", number%30)
	r := store.Run{
		Number: number, ID: fmt.Sprintf("run_%016x", h.source.Uint64()), Name: fmt.Sprint("task ", number%1000, " of the nightly batch"), Arrival: number,
		Project: fmt.Sprint("project-", number%40), Status: store.Completed, Profile: "default", Started: started, Ended: started.Add(time.Minute), Updated: started.Add(time.Minute),
		Tools: []string{"bash", "edit_file", "read_file", tool}, Agents: []string{fmt.Sprint("agent-", number%12)}, Models: []string{fmt.Sprint("model-", number%6)},
		Metadata: fmt.Appendf(nil, `{"prompt":"v%d","user":"u%d"}`, number%20, number%500), Health: policy.Health{Score: 100, Status: policy.GradeHealthy},
		Metrics: store.Metrics{
			Events: 50, ToolCalls: 20, Tokens: h.source.Int64N(1e6), Cost: h.source.Float64(), Duration: h.source.Float64() * 600, MeanLatency: h.source.Float64() * 1000,
			MaxLatency: h.source.Float64() * 9000, BusiestTool: &tool,
		},
		Preview: store.Preview{Tools: []store.ToolCalls{{Name: "bash", Calls: 9}, {Name: tool, Calls: 3}}, Novelty: make([]float64, store.MaxNovelty)}, MeanNovelty: h.source.Float64(),
	}
	if number%20 == 0 {
		r.Health, r.WorstAction, r.Warnings, r.FirstWarningAt = policy.Health{Score: 30, Status: policy.GradeStuck}, policy.Halt, 1, started
		r.UsageAfterWarning = store.Usage{Calls: 5, Tokens: 5000, Cost: 0.1}
	}
	return r
}

func (h *history) event(arrival, run int64, words int) store.Event {
	text := make([]byte, 0, 512)
	for range words {
		text = fmt.Appendf(text, "w%d ", h.words.Uint64())
	}
	body, err := store.Encode(&unloop.Event{
		ID: fmt.Sprint("e", arrival), Type: unloop.ToolCallCompleted, Tool: "read_file", Output: json.RawMessage(`"` + string(text) + `"`),
	})
	if err != nil {
		panic(err)
	}
	return store.Event{
		Arrival: arrival, Run: run, ID: fmt.Sprint("e", arrival), Received: time.Unix(arrival, 0), Body: body,
		Position: store.Position{Sequence: arrival, Tie: arrival},
	}
}

// fill writes the history and indexes it. It reports what an event takes.
func fill(b *testing.B, s *sqlstore.Store) {
	h := &history{source: rand.New(rand.NewPCG(1, 2))}
	h.words = rand.NewZipf(h.source, 1.1, 8, vocabulary)
	each := max(1, *listEvents / *listRuns)
	var writing, indexing time.Duration // of processors
	arrival := int64(0)
	for number := int64(1); number <= int64(*listRuns); {
		var batch store.Batch
		for len(batch.Events) < 4000 && number <= int64(*listRuns) {
			r := h.run(number)
			if r.Warnings > 0 {
				batch.Warnings = append(batch.Warnings, store.Warning{Run: number, ID: r.ID, Rule: "same_call_same_result", Tool: "bash", Count: 9, Message: "bash was called 9 times"})
			}
			batch.Runs = append(batch.Runs, r)
			for range each {
				arrival++
				batch.Events = append(batch.Events, h.event(arrival, number, 50))
			}
			number++
		}
		began := processor(b)
		if _, err := s.Commit(b.Context(), &batch); err != nil {
			b.Fatal(err)
		}
		writing += processor(b) - began
		began = processor(b)
		for n := 1; n > 0; {
			var err error
			if n, err = s.Index(b.Context(), 500); err != nil {
				b.Fatal(err)
			}
		}
		indexing += processor(b) - began
	}
	size, err := s.Size(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d runs, %d events: %.1f µs of a processor to record an event, %.1f µs to index it, %d bytes an event", *listRuns, arrival,
		float64(writing.Microseconds())/float64(arrival), float64(indexing.Microseconds())/float64(arrival), size/arrival)
}

// BenchmarkLists measures the first page of lists of runs, as the dashboard asks for it. The flags -list.runs and -list.events set how
// many there are.
func BenchmarkLists(b *testing.B) {
	s := open(b, databases["SQLite"](b))
	fill(b, s)
	middle := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(*listRuns) * 5 * time.Minute / 2)
	loops := []policy.Action{policy.Warn, policy.Block, policy.Halt}
	for _, c := range []struct {
		says   string
		filter store.Filter
		order  store.Order
	}{
		{"all", store.Filter{}, store.Order{}},
		{"looping", store.Filter{Decisions: loops}, store.Order{}},
		{"by_cost", store.Filter{}, store.Order{Key: store.ByCost}},
		{"by_novelty", store.Filter{}, store.Order{Key: store.ByNovelty, Ascending: true}},
		{"by_the_most_called_tool", store.Filter{}, store.Order{Key: store.ByTool, Ascending: true}},
		{"looping_by_name", store.Filter{Decisions: loops}, store.Order{Key: store.ByName, Ascending: true}},
		{"of_a_tool_and_a_project", store.Filter{Tool: "tool_7", Project: "project-7"}, store.Order{}},
		{"of_a_tool_that_no_run_called", store.Filter{Tool: "none"}, store.Order{}},
		{"of_a_rule", store.Filter{Warning: "same_call_same_result"}, store.Order{}},
		{"of_metadata", store.Filter{Label: "prompt=v7"}, store.Order{}},
		{"since", store.Filter{Since: middle}, store.Order{Key: store.ByDuration}},
		{"text_in_names", store.Filter{Text: "task 77"}, store.Order{}},
		{"text_common", store.Filter{Text: "w0"}, store.Order{}},
		{"text_two_words", store.Filter{Text: "w300 w500"}, store.Order{}},
		{"text_rare", store.Filter{Text: "w150000"}, store.Order{}},
		{"text_of_none", store.Filter{Text: "nothing has this"}, store.Order{}},
		{"text_common_looping_by_cost", store.Filter{Text: "w10", Decisions: loops}, store.Order{Key: store.ByCost}},
	} {
		b.Run(c.says, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.Runs(b.Context(), c.filter, c.order, store.Page{Limit: 200}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.says+"/count", func(b *testing.B) {
			for b.Loop() {
				if _, err := s.CountRuns(b.Context(), c.filter); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
