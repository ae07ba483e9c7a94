package pipeline

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
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
