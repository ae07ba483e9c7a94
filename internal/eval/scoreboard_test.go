package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/goldentest"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/profile"
)

// line returns a labelled run: each word of calls is a call of that tool without arguments, which takes 10 tokens and a
// cent; a word with a quote is a message.
func line(outcome, labels, calls string) string {
	var events []string
	for word := range strings.FieldsSeq(calls) {
		if text, ok := strings.CutPrefix(word, "'"); ok {
			events = append(events, fmt.Sprintf(`{"kind":"message","role":"user","text":%q}`, text))
			continue
		}
		events = append(events, fmt.Sprintf(`{"kind":"tool_call","tool":%q,"args":{},"result":"ok","tokens":10,"cost":0.01}`, word))
	}
	return fmt.Sprintf(`{"id":"r","source":"s","outcome":%q,"labels":%s,"events":[%s]}`+"\n", outcome, labels, strings.Join(events, ","))
}

// read returns a board of the profiles with what they make of the lines.
func read(t *testing.T, lines string, names ...string) *Scoreboard {
	t.Helper()
	var profiles []*profile.Profile
	for _, name := range names {
		p, err := profile.New(name)
		if err != nil {
			t.Fatal(err)
		}
		profiles = append(profiles, p)
	}
	b := New(profiles)
	if err := b.Read(t.Context(), "runs", strings.NewReader(lines)); err != nil {
		t.Fatal(err)
	}
	return b
}

// The profile cycles warns at the second and third equal call in a row, and halts at the fourth and later ones.
func TestSheet(t *testing.T) {
	hit := func(flagged, stopped int) Hit { return Hit{Proportion{flagged, 1}, Proportion{stopped, 1}} }
	calls := func(n int) Usage { return Usage{n, int64(10 * n), float64(n) / 100} }
	for _, tc := range []struct {
		name string
		line string
		want Sheet
	}{
		{
			"a loop is caught in its stretch, and delays count from its onset",
			line("unknown", `{"loop":{"kind":"k","onset":3,"end":7}}`, "'go b a a a a a c"),
			Sheet{
				Loops:     map[string]*Caught{"k": {hit(1, 1), Delays{0}, Delays{2}}},
				WholeRuns: Score{Proportion{1, 1}, Proportion{1, 1}},
				InLoops:   Saved{calls(3), calls(7)}, // the call that is halted, and two after it
			},
		},
		{
			"a loop that is only warned of is not stopped",
			line("unknown", `{"loop":{"kind":"k","onset":1,"end":2}}`, "a a a b"),
			Sheet{
				Loops:     map[string]*Caught{"k": {hit(1, 0), Delays{0}, nil}},
				WholeRuns: Score{Proportion{1, 1}, Proportion{1, 1}},
				InLoops:   Saved{calls(0), calls(4)},
			},
		},
		{
			"a decision before the onset catches nothing",
			line("unknown", `{"loop":{"kind":"k","onset":3,"end":4}}`, "a a b c d"),
			Sheet{
				Loops:     map[string]*Caught{"k": {hit(0, 0), nil, nil}},
				WholeRuns: Score{Proportion{1, 1}, Proportion{1, 1}},
				InLoops:   Saved{calls(0), calls(5)},
			},
		},
		{
			"a decision behind the end catches nothing",
			line("unknown", `{"loop":{"kind":"k","onset":0,"end":1}}`, "a b c c"),
			Sheet{
				Loops:     map[string]*Caught{"k": {hit(0, 0), nil, nil}},
				WholeRuns: Score{Proportion{1, 1}, Proportion{1, 1}},
				InLoops:   Saved{calls(0), calls(4)},
			},
		},
		{
			"a lookalike that is flagged is a false alarm of its kind, and no successful run",
			line("success", `{"loop":{"kind":"poll","onset":1,"end":2,"benign":true}}`, "a a a"),
			Sheet{LookAlikes: map[string]*Hit{"poll": {Proportion{1, 1}, Proportion{0, 1}}}, WholeRuns: Score{Precision: Proportion{0, 1}}},
		},
		{
			"a lookalike that is halted is a false stop, too",
			line("unknown", `{"loop":{"kind":"poll","onset":1,"end":4,"benign":true}}`, "a a a a a"),
			Sheet{LookAlikes: map[string]*Hit{"poll": {Proportion{1, 1}, Proportion{1, 1}}}, WholeRuns: Score{Precision: Proportion{0, 1}}},
		},
		{
			"a successful run that is warned of is a false alarm",
			line("success", `{}`, "a a b"),
			Sheet{Successful: hit(1, 0), InSuccessful: Saved{calls(0), calls(3)}},
		},
		{
			"a successful run that is halted would have lost the rest",
			line("success", `{}`, "a a a a b"),
			Sheet{Successful: hit(1, 1), InSuccessful: Saved{calls(2), calls(5)}},
		},
		{
			"a successful run with steps that repeat is no false alarm",
			line("success", `{"step_repetition":1}`, "a a b"),
			Sheet{WholeRuns: Score{Proportion{1, 1}, Proportion{1, 1}}},
		},
		{
			"a failed run that is left alone",
			line("failure", `{"step_repetition":0}`, "a b"),
			Sheet{Failed: hit(0, 0), InFailed: Saved{calls(0), calls(2)}},
		},
		{
			"a run of unknown outcome without labels counts only as a run",
			line("unknown", `{}`, "a a a a"),
			Sheet{},
		},
		{
			// Decisions at events 1 and 4: the first moment has the one, the second none, the third the other.
			"a moment is called by what fell since the one before it",
			line("failure", `{"checkpoints":[{"after_event":1,"loop":true},{"after_event":3,"loop":true},{"after_event":4,"loop":false},{"after_event":5,"loop":false}]}`, "a a b c c d"),
			Sheet{
				JudgedMoments: Score{Proportion{1, 2}, Proportion{1, 2}}, WholeRuns: Score{Proportion{1, 1}, Proportion{1, 1}},
				Failed: hit(1, 0), InFailed: Saved{calls(0), calls(6)},
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.want.Profile, tc.want.Runs = "cycles", 1
			if tc.want.Loops == nil {
				tc.want.Loops = map[string]*Caught{}
			}
			if tc.want.LookAlikes == nil {
				tc.want.LookAlikes = map[string]*Hit{}
			}
			tc.want.BySource = map[string]*Judged{}
			got := read(t, tc.line, "cycles").Sheets[0]
			near := cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })
			if diff := cmp.Diff(&tc.want, got, near); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The profile default nudges at the third equal result, nudges harder at the fifth and blocks at the seventh, which has
// then been spent.
func TestUsageBeforeAStopIsNotSaved(t *testing.T) {
	got := read(t, line("failure", `{}`, "a a a a a a a a a a"), profile.Default).Sheets[0].InFailed.After
	if want := (Usage{3, 30, 0.03}); got.Calls != want.Calls || got.Tokens != want.Tokens || rounded(got.Cost) != want.Cost {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestMedian(t *testing.T) {
	for name, tc := range map[string]struct {
		delays Delays
		want   string
	}{
		"nothing was caught":                   {nil, "–"},
		"the middle of an odd number":          {Delays{9, 1, 2}, "2"},
		"the mean of the two in the middle":    {Delays{9, 1, 2, 3}, "2.5"},
		"one loop is a median, too, even of 0": {Delays{0}, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := medianOf(tc.delays); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}

func TestBadLabels(t *testing.T) {
	for name, tc := range map[string]struct{ line, want string }{
		"a stretch beyond the run":        {line("", `{"loop":{"kind":"k","onset":0,"end":2}}`, "a a"), "runs:2: labels.loop: from event 0 to 2 is no stretch of a run of 2 events"},
		"a stretch that ends too early":   {line("", `{"loop":{"kind":"k","onset":1,"end":0}}`, "a a"), "runs:2: labels.loop: from event 1 to 0 is no stretch of a run of 2 events"},
		"a loop without a kind":           {line("", `{"loop":{"onset":0,"end":1}}`, "a a"), "runs:2: labels.loop.kind: a loop needs a kind of printable characters"},
		"a kind that writes to a screen":  {line("", `{"loop":{"kind":"\u001b[2J","onset":0,"end":1}}`, "a a"), "runs:2: labels.loop.kind: a loop needs a kind of printable characters"},
		"a loop that is only a word":      {line("", `{"loop":true}`, "a a"), "runs:2: labels.loop: a JSON true does not fit here, want an object"},
		"moments out of order":            {line("", `{"checkpoints":[{"after_event":1},{"after_event":1}]}`, "a a"), "runs:2: labels.checkpoints.1.after_event: 1 is not after 1, within a run of 2 events"},
		"a moment beyond the run":         {line("", `{"checkpoints":[{"after_event":2}]}`, "a a"), "runs:2: labels.checkpoints.0.after_event: 2 is not after -1, within a run of 2 events"},
		"a judged stretch beyond the run": {line("", `{"stuck":{"agreed":[],"borderline":[{"onset":1,"end":2}]}}`, "a a"), "runs:2: labels.stuck.borderline.0: from event 1 to 2 is no stretch of a run of 2 events"},
		"an event that cannot be read":    {`{"id":"r","labels":{},"events":[{"kind":"tool_call","tool":7}]}`, "runs:2: events.0.tool: a JSON number does not fit here, want a string"},
		"a run without an id":             {`{"labels":{},"events":[]}`, "runs:2: id: a run needs an id"},
		"a line that is cut":              {`{"id":"r","labels":{}`, "runs:2: not valid JSON at byte 21: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			err := New(nil).Read(t.Context(), "runs", strings.NewReader(line("success", "{}", "a")+tc.line))
			var bad *ingest.BadInput
			if !errors.As(err, &bad) {
				t.Fatalf("got %v, want a BadInput", err)
			}
			if diff := cmp.Diff(tc.want, bad.Error()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := New(nil).Read(ctx, "runs", strings.NewReader(line("success", "{}", "a"))); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// mixed has runs for every section of the table.
func mixed() string {
	return line("success", `{}`, "a b c") +
		line("success", `{}`, "a a b") +
		line("failure", `{"checkpoints":[{"after_event":1,"loop":true},{"after_event":3,"loop":false}]}`, "a a b c") +
		line("failure", `{"step_repetition":false}`, "a a a a a a") +
		line("unknown", `{"loop":{"kind":"same call","onset":1,"end":5}}`, "a a a a a a") +
		line("unknown", `{"loop":{"kind":"same call","onset":2,"end":6}}`, "b a a a a a a") +
		line("unknown", `{"loop":{"kind":"cycle","onset":2,"end":5}}`, "a b a b a b") +
		line("unknown", `{"loop":{"kind":"poll","onset":1,"end":2,"benign":true}}`, "a a a b") +
		line("failure", `{"stuck":{"agreed":[{"onset":1,"end":3}],"borderline":[]}}`, "a a a a b") +
		line("failure", `{"stuck":{"agreed":[],"borderline":[]}}`, "a b c")
}

func TestGolden(t *testing.T) {
	b := read(t, mixed(), "cycles", "agentium", "looplens")
	for file, write := range map[string]func(*bytes.Buffer) error{
		"testdata/table.golden": func(w *bytes.Buffer) error { return b.Pretty(w) },
		"testdata/json.golden":  func(w *bytes.Buffer) error { return b.JSON(w) },
	} {
		t.Run(file, func(t *testing.T) {
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			goldentest.Compare(t, file, got.Bytes())
		})
	}
}

func TestJSONHasALineForEachProfile(t *testing.T) {
	var out bytes.Buffer
	if err := read(t, mixed(), "cycles", "agentium").JSON(&out); err != nil {
		t.Fatal(err)
	}
	var names []string
	for text := range strings.Lines(out.String()) {
		var sheet struct{ Profile string }
		if err := json.Unmarshal([]byte(text), &sheet); err != nil {
			t.Fatal(err)
		}
		names = append(names, sheet.Profile)
	}
	if diff := cmp.Diff([]string{"cycles", "agentium"}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
