package pipeline

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/snapshot/snapshottest"
	"github.com/unloop-ai/unloop/internal/store"
)

// FuzzCheckpoint: a checkpoint that was changed in any way does not hold, or the fold that it holds goes on and has checkpoints that hold.
func FuzzCheckpoint(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		choices := make([]byte, 4*(1+random.IntN(3)))
		for k := range choices {
			choices[k] = byte(random.IntN(256))
		}
		f.Add(choices)
	}
	p := defaultProfile(f)
	whole := newFold(p, "r")
	for n, e := range calls("r", 60) {
		whole.add(e, placement{at: store.Position{Sequence: int64(n)}, arrival: int64(n), received: begin, size: 100})
	}
	state, err := whole.checkpoint()
	if err != nil || restore(&judge{profile: p}, state) == nil || len(whole.session.Warnings()) == 0 {
		f.Fatalf("a checkpoint that was not changed does not hold: %v", err)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		changed, err := snapshottest.Mutate(state, choices[:min(len(choices), 40)])
		if err != nil {
			t.Fatal(err)
		}
		r := run{fold: restore(&judge{profile: p}, changed)}
		if r.fold == nil {
			return
		}
		for n, e := range calls("r", 100) {
			r.fold.add(e, placement{at: store.Position{Sequence: int64(200 + n)}, arrival: int64(200 + n), received: begin, size: 100})
		}
		if r.describe("default"); r.fold.unjudged > 0 {
			t.Fatal(r.fold.cause)
		}
		warningsOf(&r)
		if again, err := r.fold.checkpoint(); err != nil || restore(&judge{profile: p}, again) == nil {
			t.Fatalf("it does not hold again (%v)", err)
		}
	})
}

func TestADamagedCheckpointIsReplacedByAFold(t *testing.T) {
	const every = 64
	often := func(p *Pipeline) { p.every = every }
	events := calls("r", every/2+50)
	want := inOrder(t, events)
	for _, damage := range []struct{ field, value string }{
		{`"Calls":`, `"Calls":1`},
		{`"Health":`, `"Health":[],"Old":`},
		{`"StretchSteps":`, `"StretchSteps":0,"Old":`},
		{`"WorstAction":`, `"WorstAction":20`},
		{`"Level":`, `"Level":9`},
		{`"N":`, `"N":9223372036854775`},
		{`"version":`, `"version":2,"session":`},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory()
			p, stop := startTuned(t, Options{Store: m}, often)
			submit(t, p, events[:len(events)-2]...)
			stop()
			damaged := 0
			for run, checkpoints := range m.checkpoints {
				for k := range checkpoints {
					before := string(checkpoints[k].State)
					m.checkpoints[run][k].State = []byte(strings.Replace(before, damage.field, damage.value, 1))
					if string(m.checkpoints[run][k].State) != before {
						damaged++
					}
				}
			}
			if damaged == 0 {
				t.Fatalf("%s: no checkpoint was damaged", damage.field)
			}
			p, stop = startTuned(t, Options{Store: m}, often)
			submit(t, p, events[len(events)-2:]...)
			settle(p)
			stop()
			if diff := cmp.Diff(want, verdictOf(t, m, "r"), regardlessOfArrival); diff != "" {
				t.Errorf("%s: (-whole +refolded)\n%s", damage.field, diff)
			}
		})
	}
}
