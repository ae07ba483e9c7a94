package scan

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// mixedRuns writes the events of runs runs, mixed, each with calls calls of which the last ones repeat.
func mixedRuns(runs, calls int) []string {
	var lines []string
	for c := range calls {
		for r := range runs {
			arg := min(c, calls/2)
			lines = append(lines,
				fmt.Sprintf(`{"event_id":"%d-%d","run_id":"r%d","sequence":%d,"type":"tool_call_started","tool":"search","input":{"q":"%d"}}`, r, 2*c, r, 2*c+1, arg),
				fmt.Sprintf(`{"event_id":"%d-%d","run_id":"r%d","sequence":%d,"type":"tool_call_completed","tool":"search","output":"answer %d of %d"}`, r, 2*c+1, r, 2*c+2, arg, r))
		}
	}
	return lines
}

// summaries scans lines as one file, with as much room as is given, and says what matters of each verdict.
func summaries(t *testing.T, lines []string, has room, stdin bool) map[string]string {
	t.Helper()
	return summariesOf(t, strings.Join(lines, "\n")+"\n", has, stdin)
}

func summariesOf(t *testing.T, data string, has room, stdin bool) map[string]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	if stdin {
		path = "-"
	} else if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	s := Scanner{
		Profile: p, Stdin: strings.NewReader(data), room: has,
		Verdict: func(r *report.Run) error {
			if _, ok := got[r.ID]; ok {
				t.Errorf("two verdicts on %s", r.ID)
			}
			text := fmt.Sprintf("%d events, %d steps, %v", r.Events, r.Steps, r.Health)
			for _, w := range r.Warnings {
				text += fmt.Sprintf("; %s %d at %s", w.Rule, w.Count, w.Event.ID)
			}
			for _, d := range r.Decisions {
				text += fmt.Sprintf("; %v at %s", d.Action, d.Event.ID)
			}
			got[r.ID] = text
			return nil
		},
		Warn: func(err error) { t.Errorf("warned of %v", err) },
	}
	if _, err := s.Run(context.Background(), []string{path}); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTheVerdictDoesNotDependOnOrderOrMemory(t *testing.T) {
	lines := mixedRuns(7, 12)
	want := summaries(t, lines, room{}, false)
	if len(want) != 7 || !strings.Contains(want["r3"], "same_call_same_result 6 at 3-23") {
		t.Fatalf("verdicts %v", want)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for _, tc := range []struct {
		name  string
		room  room
		stdin bool
	}{
		{"enough room", room{}, false},
		{"room for two runs a pass", room{tracks: 2, sorted: 1 << 20}, false},
		{"room for one run to be sorted", room{tracks: 100, sorted: 15_000}, false},
		{"standard input", room{tracks: 3, sorted: 30_000}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(want, summaries(t, lines, tc.room, tc.stdin)); diff != "" {
				t.Errorf("in order (-want +got):\n%s", diff)
			}
			mixed := append(append([]string(nil), lines...), lines[:20]...) // some twice
			random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			got := summaries(t, mixed, tc.room, tc.stdin)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("shuffled and doubled (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheErrorForARunTooLargeToSortContainsAdvice(t *testing.T) {
	lines := mixedRuns(1, 30)
	lines[3], lines[40] = lines[40], lines[3]
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	var warned []error
	s := Scanner{
		Profile: p, room: room{tracks: 10, sorted: 10_000},
		Verdict: func(r *report.Run) error { t.Errorf("a verdict on %s", r.ID); return nil },
		Warn:    func(err error) { warned = append(warned, err) },
	}
	result, err := s.Run(context.Background(), []string{path})
	if err != nil || result.Faulty != 1 || len(warned) != 1 || !strings.Contains(warned[0].Error(), "sort the file by sequence") {
		t.Errorf("result %+v, error %v, warned %v", result, err, warned)
	}
}

func TestACompressedFileWithLateEventsIsReadAgain(t *testing.T) {
	lines := mixedRuns(3, 8)
	want := summaries(t, lines, room{}, false)
	slices.Reverse(lines)
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	if _, err := io.WriteString(z, strings.Join(lines, "\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, summariesOf(t, file.String(), room{}, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheContentOfACompressedFileIsBounded(t *testing.T) {
	l := limitedReader{r: strings.NewReader("abc"), left: 2}
	if got, err := io.ReadAll(&l); string(got) != "ab" || !errors.Is(err, errTooLarge) {
		t.Errorf("read %q, error %v", got, err)
	}
}

func TestAFailedWriteOfAVerdictEndsTheScan(t *testing.T) {
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	s := Scanner{Profile: p, Verdict: func(*report.Run) error { return full }, Warn: func(error) {}}
	if _, err := s.Run(context.Background(), []string{"../../examples", "../../examples"}); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Run(ctx, []string{"../../examples"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after an interrupt", err)
	}
}

func TestOnlyTheStuckExampleIsStopped(t *testing.T) {
	worst := map[string]policy.Action{}
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	s := Scanner{Profile: p, Verdict: func(r *report.Run) error { worst[r.ID] = r.Worst(); return nil }, Warn: func(error) {}}
	if _, err := s.Run(context.Background(), []string{"../../examples"}); err != nil {
		t.Fatal(err)
	}
	if worst["fix-login-timeout"] != policy.Halt || worst["release-notes"] != policy.Allow {
		t.Errorf("the worst decisions are %v", worst)
	}
}

// BenchmarkScan measures a scan of events as JSON Lines, 20 runs of 500 calls, from a file to verdicts.
func BenchmarkScan(b *testing.B) {
	var file bytes.Buffer
	sequence := 0
	for c := range 500 {
		for r := range 20 {
			sequence += 2
			fmt.Fprintf(&file, `{"event_id":"e%d","run_id":"run-%d","sequence":%d,"timestamp":"2026-01-02T03:%02d:%02dZ","type":"tool_call_started","agent":"coder","tool":"grep","call_id":"c%d","input":{"path":"internal/server/file_%d.go","query":"where the handler of request %d reads the body and closes it","offset":%d,"limit":50,"include":["*.go","*.md"],"context":{"before":3,"after":3}}}`+"\n",
				sequence, r, sequence, c/60, c%60, sequence, c, sequence, c)
			fmt.Fprintf(&file, `{"event_id":"e%d","run_id":"run-%d","sequence":%d,"timestamp":"2026-01-02T03:%02d:%02dZ","type":"tool_call_completed","agent":"coder","tool":"grep","call_id":"c%d","latency_ms":41,"output":"internal/server/file_%d.go:%d: func (h *handler) read(w http.ResponseWriter, r *http.Request) {\ninternal/server/file_%d.go:%d: defer r.Body.Close()\n"}`+"\n",
				sequence+1, r, sequence+1, c/60, c%60, sequence, c, sequence, c, sequence+9)
		}
	}
	path := filepath.Join(b.TempDir(), "events.jsonl")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, name := range profile.Names() {
		b.Run("profile="+name, func(b *testing.B) {
			p, err := profile.New(name)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(file.Len()))
			for b.Loop() {
				s := Scanner{Profile: p, Verdict: func(*report.Run) error { return nil }, Warn: func(err error) { b.Error(err) }}
				if _, err := s.Run(context.Background(), []string{path}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestEventsWithoutContentCount(t *testing.T) {
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	runs := scanAll(t, p, "runs.jsonl", []byte(`{"id":"r","source":"s","outcome":"success","labels":{},"events":[`+
		`{"kind":"message","role":"assistant","agent":null,"text":" \n"},`+
		`{"kind":"tool_call","agent":null,"tool":"bash","args":{"command":"ls"},"result":"a","error":null}]}`+"\n"))
	if len(runs) != 1 || runs[0].Events != 2 || runs[0].Steps != 1 {
		t.Errorf("runs %+v, want one of 2 entries and 1 step", runs)
	}
}

func TestWorkIsLinearInEvents(t *testing.T) {
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	for _, runs := range []int{10, 400, 4000} {
		lines := mixedRuns(runs, 1)
		verdicts := 0
		s := Scanner{
			Profile: p, Stdin: strings.NewReader(strings.Join(lines, "\n")), room: room{tracks: 4, sorted: 1 << 20},
			Verdict: func(r *report.Run) error { verdicts++; return nil }, Warn: func(err error) { t.Error(err) },
		}
		if _, err := s.Run(context.Background(), []string{"-"}); err != nil {
			t.Fatal(err)
		}
		// With room for 4 runs in a pass and 64 files, 4,000 runs take three passes, a few of them four, and not 1,000.
		if verdicts != runs || s.folded > 4*len(lines) {
			t.Errorf("%d runs of 2 events: %d verdicts, and %d events folded", runs, verdicts, s.folded)
		}
	}
}

func TestTheOverflowKeepsEventsUnchanged(t *testing.T) {
	zero := 0.0
	want := []*unloop.Event{
		{ID: "1", RunID: "r", Type: unloop.ToolCallCompleted, Latency: &zero, Usage: &unloop.Usage{}, Hints: &unloop.ToolHints{}, Output: []byte("null"), Index: 7},
		{ID: "2", RunID: "r", Sequence: -1, Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Type: "x\xff", Text: "\x00", Input: []byte(`{ "a" : 1 }`), Output: []byte{}},
		{RunID: "r"},
	}
	var o overflow
	defer o.close()
	for _, e := range want {
		if err := o.put(e); err != nil {
			t.Fatal(err)
		}
	}
	part := o.parts[hashOf("0", "r")%fanOut]
	for range 2 {
		var got []*unloop.Event
		if err := part.each(context.Background(), func(e *unloop.Event) error { got = append(got, e); return nil }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	}
}

// scanAll scans one file and returns the verdicts.
func scanAll(t *testing.T, p *profile.Profile, name string, data []byte) []*report.Run {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var runs []*report.Run
	s := Scanner{
		Profile: p,
		Verdict: func(r *report.Run) error { runs = append(runs, r); return nil },
		Warn:    func(err error) { t.Errorf("warned of %v", err) },
	}
	if _, err := s.Run(context.Background(), []string{path}); err != nil {
		t.Fatal(err)
	}
	return runs
}
