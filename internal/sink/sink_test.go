package sink

import (
	"fmt"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

func warned(id string, count int) store.Warning {
	return store.Warning{ID: id, Run: 7, Rule: "same_call", Count: count, Updated: time.Unix(1_700_000_002, 0)}
}

func raised(id string, count int) *store.Update {
	return &store.Update{Run: store.Run{Number: 7, ID: "run-7"}, Warnings: []store.Warning{warned(id, count)}, Raised: []int{0}}
}

func grown(id string, count int) *store.Update {
	u := raised(id, count)
	u.Raised, u.Grown = nil, u.Raised
	return u
}

func decided(u *store.Update, action policy.Action, code string) *store.Update {
	u.Decisions = append(u.Decisions, store.Decision{Run: 7, Action: action, Code: code})
	return u
}

func TestANoticeContainsTheDecision(t *testing.T) {
	later := warned("later", 3)
	later.Updated = later.Updated.Add(time.Second)
	cause := warned("cause", 3)
	for _, c := range []struct {
		warnings []store.Warning
		want     string
	}{
		{[]store.Warning{later, cause, warned("another", 3)}, "cause"},
		{[]store.Warning{warned("earlier", 3), later, warned("earlier", 3)}, "later"},
	} {
		u := decided(&store.Update{Warnings: c.warnings}, policy.Block, "blocked")
		u.Decisions[0].Warning = "cause"
		news := pendingOf(u)
		if len(news) != 1 || news[0].warning.ID != c.want {
			t.Errorf("%d notices, want one of %s", len(news), c.want)
		}
	}
}

func TestADecisionToWarnSendsNoNotice(t *testing.T) {
	if news := pendingOf(decided(&store.Update{Warnings: []store.Warning{warned("w", 3)}}, policy.Warn, "same_call")); news != nil {
		t.Errorf("%d notices", len(news))
	}
}

func TestTheMemoryOfATargetIsBounded(t *testing.T) {
	m := newMemory()
	for n := range 10 * MaxWaiting {
		if id := fmt.Sprint(n); m.admits(id) {
			m.put(pendingOf(raised(id, 3))[0])
		}
	}
	if n := m.waiting(); n != MaxWaiting {
		t.Errorf("%d wait", n)
	}
	m.forgetRun(7)
	for n := range 2 * maxStages {
		m.put(pendingOf(raised(fmt.Sprint(n), 3))[0])
		m.done(fmt.Sprint(n))
	}
	if len(m.stages) > maxStages || m.waiting() != 0 {
		t.Errorf("%d stages are remembered, %d wait", len(m.stages), m.waiting())
	}
}

func TestNoticesHaveDifferentIDs(t *testing.T) {
	id := func(key, warning, level string) string { return (&worker{key: key}).noticeID(warning, level) }
	seen := make(map[string]bool)
	for _, x := range []string{id("a", "w", Raised), id("a", "w", Block), id("a", "w", "8"), id("a", "w", "16"), id("a", "v", Raised), id("b", "w", Raised)} {
		if seen[x] {
			t.Errorf("two notices have the id %s", x)
		}
		seen[x] = true
	}
}
