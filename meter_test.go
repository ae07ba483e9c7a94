package unloop

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

var measured = Options{Shells: DefaultShells(), Needs: NeedEffort | NeedOutcomes | NeedExcerpts | NeedTexts}

func step(r *Run, n int) {
	input, _ := json.Marshal(map[string]string{"command": fmt.Sprintf("strings a.dat | grep -E 'PASSWORD=%d.*'", n%7)})
	output := json.RawMessage(fmt.Sprintf(`{"took_ms":%d,"hits":["PASSWORD=8XDP5Q2RT9Z"]}`, 30+n*7%11))
	r.Add(&Event{Type: ToolCallStarted, Tool: "bash", Input: input})
	r.Add(&Event{Type: ToolCallCompleted, Tool: "bash", Output: output})
	if n%9 == 0 {
		r.Add(&Event{Type: MessageSent, Role: RoleUser, Text: fmt.Sprintf("Please look for number %d.", n)})
		r.Add(&Event{Type: MessageSent, Role: RoleAssistant, Text: "I look for it once more."})
	}
}

// A run that is restored at any step measures on as the run that was written.
func TestARestoredMeterContinues(t *testing.T) {
	r := NewRun("r", measured)
	for n := range 40 {
		step(r, n)
		text, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		restored, err := RestoreRun(text, measured)
		if err != nil {
			t.Fatal(err)
		}
		step(r, n+1)
		step(restored, n+1)
		if diff := cmp.Diff(r.Meter(), restored.Meter()); diff != "" {
			t.Fatalf("after step %d (-written +restored):\n%s", n, diff)
		}
		again, _ := restored.Snapshot()
		if now, _ := r.Snapshot(); string(now) != string(again) {
			t.Fatalf("after step %d they write different snapshots", n)
		}
	}
}

// Earlier versions have other names for some fields, so their snapshots would be read without the values of those fields.
func TestASnapshotOfAnotherVersionIsRejected(t *testing.T) {
	r := NewRun("r", measured)
	step(r, 1)
	text, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Replace(string(text), `{"version":7`, `{"version":6`, 1)
	if _, err := RestoreRun([]byte(old), measured); err == nil || !strings.Contains(err.Error(), "has version 6; this program reads version 7") {
		t.Errorf("RestoreRun returns %v", err)
	}
}

func TestAnInvalidMeterIsRejected(t *testing.T) {
	for name, m := range map[string]meter{
		"less than nothing":            {Meter: Meter{Wasted: -1}},
		"no number":                    {Meter: Meter{Talk: math.NaN()}},
		"more than there is":           {Meter: Meter{Certain: 1e9}},
		"calls that were not counted":  {Acts: make([]act, 2), N: 1},
		"too many answers":             {Answers: make([]answer, recentAnswers+1)},
		"too many numbers":             {Answers: []answer{{Count: 9}}},
		"too many numbers that remain": {Remaining: remaining{Count: 9}},
		"more falls than events":       {Remaining: remaining{Falls: 101}},
		"too many numbers of a line":   {Answers: []answer{{Tail: fingerprint.Tail{Count: 5}}}},
		"an answer that is not there":  {Next: 3},
		"too much patience":            {Excused: 3},
		"an estimate over 1":           {Meter: Meter{Stalled: 1.5}},
		"an average that is no number": {Averages: [stepFeatures]float32{3: float32(math.NaN())}},
	} {
		if m.validate(&state{Metrics: Metrics{Events: 100}}) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAnInvalidEffortIsRejected(t *testing.T) {
	for name, e := range map[string]Effort{
		"a share over 1":               {Fresh: 1 << 53},
		"a share below 0":              {Alike: -0.5},
		"a share that is no number":    {Announced: math.NaN()},
		"more waste than a step has":   {Wasted: 2},
		"fewer words than none":        {Words: -16},
		"more said than anybody says":  {Said: math.MaxInt},
		"more calls than are compared": {Similar: recentActs + 1},
		"a result of an unknown kind":  {Yield: NoOp + 1},
	} {
		if (&Step{Effort: e}).validate(&state{Calls: 1}) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := (&Step{Effort: Effort{Alike: 1, Fresh: 1, Announced: 1, Novelty: 1, Wasted: weightStubborn, Similar: recentActs, Yield: NoOp}}).validate(&state{Calls: 1}); err != nil {
		t.Error(err)
	}
}
