package pipeline

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/trace"
)

func TestARowThatWasDueOfADeletedRunDoesNotKeepTheOthersFromBeingFlushed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		p, stop := start(t, Options{Store: m})
		submit(t, p, call("r", 0)...)
		submit(t, p, call("r", 1)...) // its row waits
		if _, err := p.Submit(context.Background(), &Submission{Deleted: []string{"r"}}); err != nil {
			t.Fatal(err)
		}
		submit(t, p, call("other", 0)...)
		time.Sleep(2 * rowEvery)
		synctest.Wait()
		if last, _, err := m.Last(context.Background()); err != nil || m.flushed != last {
			t.Errorf("rows are flushed up to %d, the last event is %d (%v)", m.flushed, last, err)
		}
		stop()
	})
}

// TestTheRowOfARunWhoseEventsChangedIsWrittenWithThem keeps totals and arrivals over a crash: an event that changes keeps its row in the store, so the
// store cannot tell by its arrival that the row of the run is due.
func TestTheRowOfARunWhoseEventsChangedIsWrittenWithThem(t *testing.T) {
	h := newHandFed(t)
	tool, root, _ := conversation()
	agent := trace.Span{
		TraceID: conversed, ID: "4444444444444444", ParentID: root.ID, Start: root.Start + 1, End: root.End - 1,
		Facts: trace.Facts{Kind: trace.Agent, Agent: "refunds"},
	}
	tool.ParentID = agent.ID
	h.spans(root, tool)
	h.flush(context.Background())
	h.spans(agent) // the call becomes that of another agent
	crashed := h.m.crashed()
	arrival, _, err := h.m.Last(context.Background())
	if err != nil || arrival != h.arrival {
		t.Errorf("the store knows arrival %d, the latest is %d; error %v", arrival, h.arrival, err)
	}
	want := h.verdicts()["talk"].Run
	h.m = crashed
	h.restart()
	if diff := cmp.Diff(want, h.verdicts()["talk"].Run); diff != "" {
		t.Errorf("after a crash (-want +got):\n%s", diff)
	}
}
