package unloop

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsPackedInStringsReadsAsWithoutThem(t *testing.T) {
	packed := func(raw string) []byte {
		text, err := json.Marshal(raw)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	input, output := `{"command":"grep -rn \"<map>\" src"}`, `{"output":"src/a.h:1:#include <map>\nmake: no rule\n","metadata":{"exit_code":2}}`
	steps := func(input, output []byte) (steps []Step) {
		r := NewRun("run", Options{Needs: NeedOutcomes | NeedArgs | NeedEffort | NeedExcerpts, Shells: DefaultShells()})
		for range 3 {
			r.Add(&Event{Type: ToolCallStarted, Tool: "bash", CallID: "c", Input: input})
			r.Add(&Event{Type: ToolCallCompleted, Tool: "bash", CallID: "c", Output: output})
			steps = append(steps, *r.Current().Step)
		}
		return steps
	}
	want := steps([]byte(input), []byte(output))
	if !want[2].Failing || want[2].Effect != ReadOnly || want[2].ArgsCount != 3 {
		t.Fatalf("the step is %+v, want a failing one that reads, for the third time", want[2])
	}
	if diff := cmp.Diff(want, steps(packed(input), packed(output))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, steps([]byte(`{"arguments":`+string(packed(input))+`}`), packed(output))); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsPackedInStringsIsUnpackedWithoutAllocation(t *testing.T) {
	allocations := func(input, output string) float64 {
		r := NewRun("run", Options{Needs: NeedArgs | NeedOutcomes, Shells: DefaultShells()})
		start := Event{Type: ToolCallStarted, Tool: "bash", CallID: "c", Input: []byte(input)}
		end := Event{Type: ToolCallCompleted, Tool: "bash", CallID: "c", Output: []byte(output)}
		return testing.AllocsPerRun(200, func() { r.Add(&start); r.Add(&end) })
	}
	plain := allocations(`{"command":"ls"}`, `{"output":"a","metadata":{"exit_code":0}}`)
	if n := allocations(`"{\"command\":\"ls\"}"`, `"{\"output\":\"a\",\"metadata\":{\"exit_code\":0}}"`); n > plain {
		t.Errorf("a call allocates %v times, and %v times without strings", n, plain)
	}
}
