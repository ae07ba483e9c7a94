package guardtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/guard"
)

// processes is the number of processes that Processes starts.
const processes = 16

// Processes tests that processes with a common store judge as one guard. It starts sixteen processes of the test program, whose TestMain
// must call Process. They open the store at the address, which is the store s.
func Processes(t *testing.T, s guard.Store, address string) {
	t.Helper()
	var all []*process
	t.Cleanup(func() { endProcesses(t, all) })
	for range processes {
		all = append(all, startProcess(t, address))
	}
	for _, p := range all { // each has opened the store before the first one gets a task
		p.answer(t)
	}
	t.Run("processes share the limit of their project", func(t *testing.T) { processesShareALimit(t, s, all) })
	t.Run("processes that judge one run at once have the decisions of one guard", func(t *testing.T) { processesAreOneGuard(t, s, all) })
}

// processesShareALimit lets each process judge a run of its own. The runs together make as many calls as the limit allows.
func processesShareALimit(t *testing.T, s guard.Store, all []*process) {
	const limit = 4 * processes
	allowed, refused, used := 0, 0, int64(0)
	for hour := (time.Time{}); !hour.Equal(thisHour()); { // once more if the store has counted in two hours
		hour = thisHour()
		project := "limited " + hour.String()
		allowed, refused = 0, 0
		for _, e := range makeAll(t, all, func(k int) task {
			return task{Process: k, Project: project, Run: fmt.Sprint("run ", k), Steps: 10, Limit: limit}
		}) {
			if e.Refused {
				refused++
			} else if e.Call {
				allowed++
			}
		}
		saved := save(t, s, guard.RunKey{Project: project, ID: "counted"}, guard.Change{Data: []byte("x"), Use: guard.Usage{Tokens: 1}})
		used = saved.Used.Calls
	}
	if allowed != limit || used != limit || refused == 0 {
		t.Errorf("%d calls were allowed, %d are counted, and %d were refused: want %d, %d and some", allowed, used, refused, limit, limit)
	}
}

func thisHour() time.Time { return time.Now().Truncate(time.Hour) }

// processesAreOneGuard lets all processes judge the same run. One guard that judges the events in the order in which the store has saved
// them must make the same decisions and have the same state at the end.
func processesAreOneGuard(t *testing.T, s guard.Store, all []*process) {
	const steps = 8
	events := makeAll(t, all, func(k int) task { return task{Process: k, Project: "shop", Run: "run", Steps: steps} })
	slices.SortFunc(events, func(a, b judged) int { return cmp.Compare(a.Version, b.Version) })
	p := load(t, processProfile)
	alone := guard.New(p, guard.Options{Run: "run", Now: clock})
	begun, stopped := 0, 0
	for n, e := range events {
		if d := diff.Diff(e.judge(alone), e.Decision); d != "" {
			t.Fatalf("event %d, of process %d (-one guard +processes):\n%s", n, e.Process, d)
		}
		if !e.Ends {
			begun++
		}
		if e.Stopped {
			stopped++
		}
	}
	if begun != processes*steps || stopped == 0 {
		t.Errorf("%d steps were judged and %d calls were stopped: want %d and some", begun, stopped, processes*steps)
	}
	last := shared(t, p, s, "run")
	if err := last.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d := diff.Diff(snapshot(t, alone), snapshot(t, last)); d != "" {
		t.Errorf("state (-one guard +processes):\n%s", d)
	}
}

// processProfile is the profile of the guards in all processes.
const processProfile = "agentium"

// task is what a process does next: the steps of a run under a guard.
type task struct {
	Process      int
	Project, Run string
	Steps        int
	Limit        int64 // of calls; 0 for none
}

// judged is an event that a process has judged.
type judged struct {
	Process, Step int
	Ends          bool   // the event ends the call of the step
	Version       int64  // under which the store has saved it; 0 if it was refused
	Decision      string // the exported fields
	Call          bool   // a call that may run
	Stopped       bool
	Refused       bool // by the limit of the project
}

// judge gives the event to another guard, and returns the exported fields of its decision.
func (j judged) judge(g *guard.Guard) string {
	s := stepOf(j.Process, j.Step)
	if j.Ends {
		return fields(s.end(g))
	}
	d, _ := s.begin(g)
	return fields(d)
}

// noting is a store that notes the version of the last save.
type noting struct {
	guard.Store
	version int64 // 0 if the save was refused
}

// Save saves a change, however long it takes.
func (n *noting) Save(ctx context.Context, run guard.RunKey, c guard.Change) (guard.Saved, error) {
	saved, err := n.Store.Save(context.WithoutCancel(ctx), run, c)
	n.version = 0
	if err == nil && saved.Status == guard.Done {
		n.version = saved.Version
	}
	return saved, err
}
