package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/profile"
)

// fixtures returns the fixtures of all decoders.
func fixtures(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../ingest/*/testdata/*.[jc]s*")
	if err != nil || len(paths) < 20 {
		t.Fatalf("%d fixtures, error %v", len(paths), err)
	}
	// One has two runs of the same id, which a scan tells apart by where they stand. To a server, an id is one run.
	return slices.DeleteFunc(paths, func(path string) bool { return path == "../ingest/openai/testdata/runs.jsonl" })
}

// sentLines returns what a server gets when the paths are fed to it.
func sentLines(t *testing.T, paths ...string) string {
	t.Helper()
	var lines strings.Builder
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before := lines.Len()
		if _, err := io.Copy(&lines, r.Body); err != nil {
			t.Error(err)
		}
		_, _ = fmt.Fprintf(w, `{"accepted":%d}`, strings.Count(lines.String()[before:], "\n"))
	}))
	defer server.Close()
	c, err := client.New(server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	sender := c.NewSender()
	feed := Importer{
		Take: func(e *unloop.Event, project string) error { return sender.AddTo(t.Context(), e, project) },
		Warn: func(err error) { t.Error(err) },
	}
	if _, err := feed.Run(t.Context(), paths); err != nil {
		t.Fatal(err)
	}
	if err := sender.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return lines.String()
}

// judgements returns a line for each run and each of its warnings, sorted.
func judgements(t *testing.T, p *profile.Profile, name, text string) []string {
	t.Helper()
	var all []string
	for _, r := range scanAll(t, p, name, []byte(text)) {
		all = append(all, fmt.Sprintf("%s: %d steps, health %d, %d decisions, %d tokens", r.ID, r.Steps, r.Health.Score, len(r.Decisions), r.Metrics.Tokens))
		for _, w := range r.Warnings {
			all = append(all, fmt.Sprintf("%s: %s %s %d %s", r.ID, w.Rule, w.Subject, w.Count, w.What))
		}
	}
	slices.Sort(all)
	return all
}

func TestImportedRunsHaveTheVerdictsOfAScan(t *testing.T) {
	for _, name := range []string{profile.Default, "looplens", "agentium"} {
		p, err := profile.New(name)
		if err != nil {
			t.Fatal(err)
		}
		warned := 0
		for _, path := range append(fixtures(t), "../../examples/stuck-agent.jsonl") {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := judgements(t, p, filepath.Base(path), string(text))
			warned += len(want)
			if diff := cmp.Diff(want, judgements(t, p, filepath.Base(path), sentLines(t, path))); diff != "" {
				t.Errorf("%s, profile %s:\n%s", path, name, diff)
			}
		}
		if warned < 40 {
			t.Errorf("profile %s: only %d lines were compared", name, warned)
		}
	}
}

// fedEvent is what names an event that was handed on.
type fedEvent struct{ Run, ID, Tool string }

// feedFiles writes files and feeds their folder. Names are file names, texts their contents.
func feedFiles(t *testing.T, namesAndTexts ...string) (events []fedEvent, fed ImportResult, said []string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for i := 0; i < len(namesAndTexts); i += 2 {
		if err := os.MkdirAll(filepath.Dir(namesAndTexts[i]), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(namesAndTexts[i], []byte(namesAndTexts[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	feed := Importer{
		Take: func(e *unloop.Event, _ string) error {
			events = append(events, fedEvent{e.RunID, e.ID, e.Tool})
			return nil
		},
		Warn: func(err error) { said = append(said, err.Error()) },
	}
	fed, err := feed.Run(t.Context(), []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	return events, fed, said
}

func TestImportNamesRunsWithoutAnID(t *testing.T) {
	const chat = `[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]`
	events, fed, said := feedFiles(t, "a/chat.json", chat, "b/chat.json", chat, "c/chat.json", chat+"\n", "note.txt", "just a note")
	runs := make(map[string]int)
	for _, e := range events {
		runs[e.Run]++
	}
	if len(runs) != 3 || runs["chat"] != 2 || fed.Events != 6 || len(fed.Runs) != 3 || fed.Faulty != 0 || said != nil {
		t.Errorf("runs %v, %+v, said %q", runs, fed, said)
	}
}

func TestARotatedLogWithoutEventIDsLosesNothing(t *testing.T) {
	first := `{"run_id":"r","type":"tool_call_started","tool":"a","timestamp":"2026-01-02T03:04:05Z"}` + "\n"
	second := `{"run_id":"r","type":"tool_call_started","tool":"b","timestamp":"2026-01-02T03:04:06Z"}` + "\n"
	events, fed, _ := feedFiles(t, "log", second+second, "log.1", first)
	ids := make(map[string]bool)
	for _, e := range events {
		ids[e.ID] = true
	}
	if len(ids) != 3 || len(fed.Runs) != 1 {
		t.Errorf("events %v", events)
	}
	again, _, _ := feedFiles(t, "log", second+second, "log.1", first)
	if diff := cmp.Diff(events, again); diff != "" {
		t.Errorf("another time the ids are others: %s", diff)
	}
}

func TestImportContinuesAfterBadLinesAndFiles(t *testing.T) {
	good := `{"event_id":"1","run_id":"r","type":"x"}` + "\n"
	events, fed, said := feedFiles(t, "a.jsonl", good+`{"event_id":"2","run_id":"r","type":7}`+"\n"+good, "b.jsonl", good)
	if len(events) != 3 || fed.Faulty != 1 || len(said) != 1 || !strings.Contains(said[0], "a.jsonl:2: type") {
		t.Errorf("events %v, %+v, said %q", events, fed, said)
	}
}

func TestARejectedEventEndsTheImport(t *testing.T) {
	broken := errors.New("no server")
	taken := 0
	feed := Importer{
		Take: func(*unloop.Event, string) error {
			taken++
			return broken
		},
		Warn: func(err error) { t.Error(err) },
	}
	if fed, err := feed.Run(t.Context(), []string{"../../examples"}); !errors.Is(err, broken) || taken != 1 || fed.Events != 1 || len(fed.Runs) != 1 {
		t.Errorf("error %v after %d events, %+v", err, taken, fed)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := feed.Run(ctx, []string{"../../examples"}); !errors.Is(err, context.Canceled) || taken != 1 {
		t.Errorf("error %v after %d events", err, taken)
	}
}

func TestImportPassesOnTheProjectOfEachEvent(t *testing.T) {
	trace := `{"event_id":"1","run_id":"a","project":"shop","type":"run_started"}
{"event_id":"2","run_id":"a","type":"run_completed"}
{"event_id":"1","run_id":"b","project":"web","type":"run_started"}
`
	var got []string
	f := Importer{
		Stdin: strings.NewReader(trace), Warn: func(err error) { t.Error(err) }, Hint: func(text string) { t.Error(text) },
		Take: func(e *unloop.Event, project string) error {
			got = append(got, e.RunID+" "+e.ID+" "+project)
			return nil
		},
	}
	if _, err := f.Run(t.Context(), []string{"-"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a 1 shop", "a 2 ", "b 1 web"}, got); diff != "" {
		t.Error(diff)
	}
}
