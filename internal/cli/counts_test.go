package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// counts are the figures of a run that scan, import and the API must agree on. Costs are left out: a server computes those that a trace
// does not have.
type counts struct {
	Totals   api.Totals
	Warnings int
	Score    int
	Health   string
}

// TestScanImportAndTheAPIAgree scans each trace of the examples and of the decoders' fixtures, and imports it into a server of its own.
func TestScanImportAndTheAPIAgree(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../examples/*.jsonl", "../../examples/healthy/*.jsonl", "../ingest/*/testdata/*.json", "../ingest/*/testdata/*.jsonl", "../ingest/*/testdata/*.csv"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	// Two runs of this file have one id. They are two verdicts to a scan, and one run to a server.
	files = slices.DeleteFunc(files, func(file string) bool { return file == filepath.FromSlash("../ingest/openai/testdata/runs.jsonl") })
	if len(files) < 40 {
		t.Fatalf("%d trace files, want 40 or more", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimPrefix(filepath.ToSlash(file), "../"), func(t *testing.T) {
			t.Parallel()
			scanned := scanned(t, file)
			endpoint, stop, err := ownServer(context.WithoutCancel(t.Context()))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
			var told bytes.Buffer
			if status := Main([]string{"import", "--endpoint", endpoint, file}, strings.NewReader(""), &told, &told); status != exitFine {
				t.Fatalf("import: status %d: %s", status, told.String())
			}
			if diff := cmp.Diff(scanned, served(t, endpoint)); diff != "" {
				t.Errorf("figures of the runs (-scan +API):\n%s", diff)
			}
			events := 0
			for _, c := range scanned {
				events += c.Totals.Events
			}
			want := plural(events, "event", "events") + " of " + plural(len(scanned), "run", "runs") + ": " + plural(events, "new event", "new events")
			if !strings.Contains(told.String(), want) {
				t.Errorf("import says %q, want %q", told.String(), want)
			}
		})
	}
}

// scanned returns what scan says of each run of a file.
func scanned(t *testing.T, file string) map[string]counts {
	t.Helper()
	var out, errs bytes.Buffer
	if status := Main([]string{"scan", "--format", "json", "--fail-on", "never", file}, strings.NewReader(""), &out, &errs); status != exitFine {
		t.Fatalf("scan: status %d: %s", status, errs.String())
	}
	all := make(map[string]counts)
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var run struct {
			ID     string `json:"run_id"`
			Events int
			Steps  int
			Health struct {
				Score  int
				Status string
			}
			Metrics struct {
				api.Totals
				Warnings int `json:"warnings_count"`
			}
			Warnings []struct{}
		}
		if err := json.Unmarshal(lines.Bytes(), &run); err != nil {
			t.Fatal(err)
		}
		if run.Events != run.Metrics.Events || run.Metrics.Warnings != len(run.Warnings) {
			t.Errorf("run %s has %d and %d events, and %d and %d warnings", run.ID, run.Events, run.Metrics.Events, run.Metrics.Warnings, len(run.Warnings))
		}
		run.Metrics.Cost = 0
		all[run.ID] = counts{run.Metrics.Totals, len(run.Warnings), run.Health.Score, run.Health.Status}
	}
	return all
}

// served returns what a server says of each of its runs, which the list, the run and its metrics say alike.
func served(t *testing.T, endpoint string) map[string]counts {
	t.Helper()
	all := make(map[string]counts)
	for _, run := range fetch[[]api.RunSummary](t, endpoint+"/api/runs?limit=1000") {
		at := endpoint + "/api/runs/" + store.PathOf(run.ID)
		m := fetch[api.Metrics](t, at+"/metrics")
		warnings := fetch[[]api.Warning](t, at+"/warnings")
		if run.EventCount != m.Events || run.WarningCount != m.Warnings || m.Warnings != len(warnings) || run.Duration != m.Duration || run.HealthScore != m.HealthScore {
			t.Errorf("run %s: the list has %+v, the metrics are %+v, and there are %d warnings", run.ID, run, m, len(warnings))
		}
		if run.Status == "running" {
			t.Errorf("run %s is running, but it was imported", run.ID)
		}
		if run.Untimed && run.Duration != 0 || run.StartedAt == nil {
			t.Errorf("run %s: untimed %v, started %v, duration %v", run.ID, run.Untimed, run.StartedAt, run.Duration)
		}
		m.Cost = 0
		all[run.ID] = counts{m.Totals, m.Warnings, m.HealthScore, m.HealthStatus}
	}
	return all
}

// fetch returns what is at a URL, decoded.
func fetch[T any](t *testing.T, url string) (value T) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s (%v)", url, answer.Status, body, err)
	}
	if err := json.Unmarshal(body, &value); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return value
}
