package guard

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// labelledRun is a run of the examples.
type labelledRun struct {
	Events []struct {
		Kind, Role, Agent, Text, Tool string
		Args, Result, Error           json.RawMessage
	}
}

func exampleRuns(t testing.TB) (runs []labelledRun) {
	t.Helper()
	paths, err := filepath.Glob("../examples/healthy/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var run labelledRun
			if err := json.Unmarshal(lines.Bytes(), &run); err != nil {
				t.Fatal(err)
			}
			runs = append(runs, run)
		}
	}
	return runs
}

// TestSizesOfTheSnapshotsThatAreShared measures what a Shared sends for each event at the end of the example runs, and keeps the
// published figures true.
func TestSizesOfTheSnapshotsThatAreShared(t *testing.T) {
	for _, c := range []struct {
		profile string
		median  int // bytes, at most
	}{{"default", 8 << 10}, {"loopguard", 8 << 10}, {"agentium", 8 << 10}} {
		t.Run(c.profile, func(t *testing.T) {
			var sizes, calls []int
			for _, run := range exampleRuns(t) {
				g := New(load(t, c.profile), Options{Run: "run", Now: ticking()})
				n := 0
				for _, e := range run.Events {
					if e.Kind != "tool_call" {
						g.Text(t.Context(), e.Role, e.Agent, e.Text)
						continue
					}
					n++
					call := Call{Tool: e.Tool, Agent: e.Agent, Args: e.Args}
					g.Before(t.Context(), call)
					g.After(t.Context(), call, Outcome{Result: e.Result})
				}
				data, err := g.AppendBinary(nil)
				if err != nil {
					t.Fatal(err)
				}
				if data, err = compress(data); err != nil {
					t.Fatal(err)
				}
				sizes, calls = append(sizes, len(data)), append(calls, n)
			}
			slices.Sort(sizes)
			slices.Sort(calls)
			middle := len(sizes) / 2
			t.Logf("%d runs of %d calls in the median, %d at most: %d bytes in the median, %d in the 90th percentile, %d at most",
				len(sizes), calls[middle], calls[len(calls)-1], sizes[middle], sizes[len(sizes)*9/10], sizes[len(sizes)-1])
			if sizes[middle] > c.median {
				t.Errorf("the median is %d bytes, over %d", sizes[middle], c.median)
			}
		})
	}
}

// TestSizesOfRunsThatReadMuch measures the same for runs that read 1,500 bytes of new text with each call.
func TestSizesOfRunsThatReadMuch(t *testing.T) {
	for calls, most := range map[int]int{50: 40 << 10, 500: 128 << 10} {
		words := rand.New(rand.NewPCG(1, 2))
		g := New(load(t, "default"), Options{Run: "run", Now: ticking()})
		for k := range calls {
			text := []byte{'"'}
			for len(text) < 1500 {
				text = fmt.Appendf(text, "word%d ", words.IntN(5000))
			}
			call := Call{Tool: "read_file", Args: json.RawMessage(fmt.Sprintf(`{"path":"src/file%d.go"}`, k))}
			g.Before(t.Context(), call)
			g.After(t.Context(), call, Outcome{Result: append(text, '"')})
		}
		data, err := g.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if data, err = compress(data); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d calls: %d bytes", calls, len(data))
		if len(data) > most {
			t.Errorf("a run of %d calls has %d bytes, over %d", calls, len(data), most)
		}
	}
}
