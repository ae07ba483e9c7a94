package report

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/goldentest"
)

func TestJSON(t *testing.T) {
	t.Run("a folder of runs is a line for each", func(t *testing.T) {
		goldentest.Compare(t, filepath.Join("testdata", "runs.jsonl"), write(t, "json", Options{}, sampleRuns()...))
	})
	t.Run("an empty run has all keys, with empty lists and nulls", func(t *testing.T) {
		r := &Run{Warnings: []Warning{{}}}
		want := `{"run_id":"","source":"","format":"","events":0,"steps":0,"health":{"score":0,"status":""},"verdict":{"grade":"","share":0,"stretches":0},` +
			`"metrics":{"total_events":0,"total_duration_sec":0,"total_llm_calls":0,"total_tool_calls":0,"total_retries":0,` +
			`"total_handoffs":0,"total_errors":0,"total_failed_steps":0,"total_tokens":0,"estimated_cost":0,"average_latency_ms":0,"max_latency_ms":0,` +
			`"most_used_tool":null,"most_active_agent":null,"warnings_count":1},` +
			`"warnings":[{"type":"","severity":"","subject":"","count":null,"event_id":"","event_index":0,"first_event_index":0,` +
			`"message":"","why":"","try":"","evidence":[]}],"decisions":[]}` + "\n"
		if diff := cmp.Diff(want, string(write(t, "json", Options{}, r))); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
	t.Run("markup is not escaped", func(t *testing.T) {
		if got := string(write(t, "json", Options{}, &Run{ID: "<a & b>"})); !strings.HasPrefix(got, `{"run_id":"<a & b>"`) {
			t.Errorf("got %s", got)
		}
	})
	t.Run("numbers that JSON has no words for are the nearest it has", func(t *testing.T) {
		r := &Run{Metrics: unloop.Metrics{Cost: math.Inf(1), MaxLatency: math.Inf(-1), MeanLatency: math.NaN()}}
		var got api.ScanRun
		if err := json.Unmarshal(write(t, "json", Options{}, r), &got); err != nil {
			t.Fatal(err)
		}
		want := []float64{math.MaxFloat64, -math.MaxFloat64, 0}
		if diff := cmp.Diff(want, []float64{got.Metrics.Cost, got.Metrics.MaxLatency, got.Metrics.MeanLatency}); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestNoRuns(t *testing.T) {
	for format, want := range map[string]string{
		"pretty": "",
		"json":   "",
		"github": "",
		"sarif": `{"$schema":"` + sarifSchema + `","version":"2.1.0","runs":[{"tool":{"driver":{"name":"unloop","version":"1.2.3","rules":[]}},` +
			`"results":[]}]}` + "\n",
		"junit": "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"unloop\" tests=\"0\" failures=\"0\" errors=\"0\"></testsuites>\n",
	} {
		t.Run(format, func(t *testing.T) {
			if diff := cmp.Diff(want, string(write(t, format, Options{Version: "1.2.3"}))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFullDisk(t *testing.T) {
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			w, err := New(format, full{}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Write(stuckRun()), w.Write(stuckRun()), w.Close()); !errors.Is(err, errFull) {
				t.Errorf("got %v", err)
			}
		})
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
