package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/profile"
)

// fields are the members of an object as they were written.
type fields map[string]json.RawMessage

// lines returns the named members, one on a line, byte for byte.
func (f fields) lines(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s %s\n", name, f[name])
	}
	return b.String()
}

// compareToScan compares what a server says of a run with what unloop scan --format json says of the run's exported events.
func compareToScan(t *testing.T, url, run string) {
	t.Helper()
	compareToScanOf(t, url, run, exported(t, url, run))
}

// compareToScanOf does so with a scan of a file with the given text, which must have this run only. The members that both have must be
// equal byte for byte.
func compareToScanOf(t *testing.T, url, run string, text []byte) {
	t.Helper()
	judge, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	scanned := scanAll(t, judge, run+".jsonl", text)
	if len(scanned) != 1 || scanned[0].ID != run {
		t.Fatalf("%s: a scan finds %d runs: %v", run, len(scanned), scanned)
	}
	var said bytes.Buffer
	if err := report.JSON(&said).Write(scanned[0]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(scanVerdict(t, said.Bytes()), apiVerdict(t, url, run)); diff != "" {
		t.Errorf("%s (-scan +server):\n%s", run, diff)
	}
}

// The members of warnings that a scan and the API have, and those of them that the API has in details.
var (
	warningFields = []string{"type", "severity", "subject", "count", "event_id", "message", "why", "try", "evidence"}
	detailFields  = []string{"why", "try", "evidence"}
)

// scanVerdict returns the comparable members of a scan's verdict.
func scanVerdict(t *testing.T, text []byte) (lines []string) {
	t.Helper()
	var v struct {
		Metrics, Health     fields
		Warnings, Decisions []fields
	}
	unmarshal(t, text, &v)
	for _, w := range v.Warnings {
		lines = append(lines, w.lines(warningFields...))
	}
	slices.Sort(lines)
	for _, d := range v.Decisions {
		lines = append(lines, d.lines("event_id", "action", "code", "message"))
	}
	return append(lines, fmt.Sprint("score ", string(v.Health["score"]), ", ", string(v.Metrics["total_events"]), " events, ", string(v.Metrics["total_tool_calls"]), " calls"))
}

// apiVerdict returns the same of the API's answers about a run.
func apiVerdict(t *testing.T, url, run string) (lines []string) {
	t.Helper()
	at := url + "/api/runs/" + run
	for _, w := range decoded[[]fields](t, get(t, at+"/warnings")) {
		var details fields
		unmarshal(t, w["details"], &details)
		for _, name := range detailFields {
			w[name] = details[name]
		}
		w["evidence"] = idsOfEvidence(t, w["evidence"])
		lines = append(lines, w.lines(warningFields...))
	}
	slices.Sort(lines)
	for _, page := range pages(t, at+"/decisions", "application/json") {
		for _, d := range decoded[[]fields](t, page) {
			lines = append(lines, d.lines("event_id", "action", "code", "message"))
		}
	}
	metrics := decoded[fields](t, get(t, at+"/metrics"))
	return append(lines, fmt.Sprint("score ", string(metrics["health_score"]), ", ", string(metrics["total_events"]), " events, ", string(metrics["total_tool_calls"]), " calls"))
}

// idsOfEvidence returns evidence as a scan writes it: without the numbers of the events.
func idsOfEvidence(t *testing.T, evidence json.RawMessage) json.RawMessage {
	t.Helper()
	ids := []string{}
	for _, e := range decoded[[]struct {
		ID string `json:"event_id"`
	}](t, evidence) {
		ids = append(ids, e.ID)
	}
	text, err := json.Marshal(ids)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// exported returns the events of a run as unloop export writes them, one on a line.
func exported(t *testing.T, url, run string) []byte {
	t.Helper()
	return bytes.Join(pages(t, url+"/api/runs/"+run+"/events", "application/x-ndjson"), nil)
}

// pages returns the pages of a list in a media type.
func pages(t *testing.T, url, accept string) (all [][]byte) {
	t.Helper()
	for cursor := ""; ; {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"?limit=1000"+cursor, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", accept)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %.300s (%v)", url, answer.Status, page, err)
		}
		all = append(all, page)
		if cursor = answer.Header.Get("X-Next-Cursor"); cursor == "" {
			return all
		}
		cursor = "&cursor=" + cursor
	}
}
