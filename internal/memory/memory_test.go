package memory

import (
	"context"
	"errors"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSharesAddUpToLessThanTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.Int64Range(1<<20, 1<<50).Draw(t, "budget")
		s := Split(budget)
		if all := s.Bodies + s.Answers + s.Updates + s.Calls + s.Queue + s.Traces + s.Runs + s.Guards; all > budget/16*14 || all < budget/16*14-16 {
			t.Errorf("the shares of %d add up to %d", budget, all)
		}
	})
}

func TestTheDefaultBudgetIsAPartOfTheMemory(t *testing.T) {
	if got := Default(1); got < 1<<20 || got > 1<<45 {
		t.Errorf("%d bytes", got)
	}
	if got := Default(1 << 60); got != 1<<60 {
		t.Errorf("%d bytes are less than the least", got)
	}
}

func TestTheBudgetIsTheMemoryLimitUnlessTheUserSetOne(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "3GiB")
	Limit(1 << 40)
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("GOMEMLIMIT is set, and the limit became %d", got)
	}
	t.Setenv("GOMEMLIMIT", "")
	Limit(1 << 40)
	if got := debug.SetMemoryLimit(-1); got != 1<<40 {
		t.Errorf("the limit is %d", got)
	}
}

func TestGarbageMayTakeAPartOfTheBudgetUnlessTheUserLimitsIt(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	defer reserved.Store(nil)
	for _, c := range []struct {
		name, gogc, limit string
		budget, garbage   int64
	}{
		{"a small budget", "", "", 1 << 30, 32 << 20},
		{"a large budget", "", "", 1 << 40, 128 << 20},
		{"the user sets GOGC", "100", "", 1 << 30, 0},
		{"the user sets GOMEMLIMIT", "", "3GiB", 1 << 30, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GOGC", c.gogc)
			t.Setenv("GOMEMLIMIT", c.limit)
			reserved.Store(new([]byte))
			debug.SetMemoryLimit(before)
			LimitLater(c.budget)
			want := c.budget/16*15 + c.garbage
			if c.limit != "" {
				want = before
			}
			if got := debug.SetMemoryLimit(-1); got != want {
				t.Errorf("the limit is %d: want %d", got, want)
			}
			if got := int64(len(*reserved.Load())); got != c.garbage {
				t.Errorf("the heap is %d bytes larger: want %d", got, c.garbage)
			}
		})
	}
}

func TestAFullPoolBlocksForABoundedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(100)
		taken, err := p.Take(t.Context(), 1000)
		if taken != 100 || err != nil {
			t.Fatalf("a request larger than the pool takes %d, %v", taken, err)
		}
		began := time.Now()
		if _, err := p.Take(t.Context(), 1); !errors.Is(err, ErrBusy) || time.Since(began) != Wait {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Take(canceled, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("the error of a cancelled request is %v", err)
		}
		time.AfterFunc(time.Second, func() { p.Give(taken) })
		if taken, err := p.Take(t.Context(), 60); taken != 60 || err != nil {
			t.Errorf("after a second Take returns %d, %v", taken, err)
		}
	})
}

func TestARequestThatArrivesSlowlyEndsIfAnotherWaitsForItsMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(100)
		var ended []string
		begin := func(name string, bytes int64) *Arrival {
			var a *Arrival
			a = p.Arrive(func() {
				ended = append(ended, name)
				go a.Release()
			})
			if err := a.Grow(t.Context(), bytes); err != nil {
				t.Fatal(err)
			}
			return a
		}
		begin("arrived", 10).Arrived(10)
		begin("oldest", 10)
		begin("second", 60)
		begin("third", 10)
		time.Sleep(Patience)
		young := begin("young", 10)
		taken, err := p.Take(t.Context(), 50)
		if err != nil {
			t.Fatal(err)
		}
		p.Give(taken)
		if diff := cmp.Diff([]string{"oldest", "second"}, ended); diff != "" {
			t.Errorf("ended (-want +got):\n%s", diff)
		}
		if young.Expired() {
			t.Error("the youngest request was ended")
		}
		began := time.Now()
		if _, err := p.Take(t.Context(), 90); err != nil || time.Since(began) != Patience {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		if !young.Expired() {
			t.Error("a request that became slow while another waited was not ended")
		}
	})
}
