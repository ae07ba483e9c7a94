package costtest

import (
	"testing"
	"time"
)

func TestWaitingIsNotMeasured(t *testing.T) {
	waited := ThreadTime(func() {
		timer := time.NewTimer(200 * time.Millisecond)
		defer timer.Stop()
		<-timer.C
	})
	if waited > 100*time.Millisecond {
		t.Errorf("waiting for 200 ms took %v", waited)
	}
}

func TestWorkIsMeasured(t *testing.T) {
	begun := time.Now()
	worked := ThreadTime(func() {
		for k := 0; time.Since(begun) < 20*time.Millisecond || k < 1000; k++ {
		}
	})
	if worked <= 0 {
		t.Errorf("work took %v", worked)
	}
}
