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

func TestAQueueIsBounded(t *testing.T) {
	q := newQueue()
	for n := range 10 * MaxWaiting {
		q.put(pendingOf(raised(fmt.Sprint(n), 3))[0])
		q.forget(7)
	}
	if len(q.order) != 0 || len(q.waiting) != 0 {
		t.Errorf("%d are ordered, %d wait", len(q.order), len(q.waiting))
	}
	for n := range 2 * maxSent {
		q.remember(fmt.Sprint(n), stage{raised: true})
	}
	if len(q.sent) > maxSent {
		t.Errorf("%d are remembered", len(q.sent))
	}
	q.remember("w", stage{raised: true})
	if !q.put(pendingOf(grown("w", 4))[0]) || q.len() != 0 {
		t.Error("a claimed level takes a place")
	}
}

func TestNoticesHaveDifferentIDs(t *testing.T) {
	w := &worker{Target: Target{Key: "a"}}
	seen := map[string]string{}
	for what, m := range map[string]Notice{
		"raised":           w.notice(&pending{warning: warned("w", 3), raisedAt: 3}, Raised),
		"block":            w.notice(&pending{warning: warned("w", 3), raisedAt: -1}, Block),
		"grown to 8":       w.notice(&pending{warning: warned("w", 9), raisedAt: -1}, Grown),
		"grown to 16":      w.notice(&pending{warning: warned("w", 16), raisedAt: -1}, Grown),
		"another warning":  w.notice(&pending{warning: warned("v", 3), raisedAt: 3}, Raised),
		"another endpoint": (&worker{Target: Target{Key: "b"}}).notice(&pending{warning: warned("w", 3), raisedAt: 3}, Raised),
	} {
		if other, ok := seen[m.ID]; ok {
			t.Errorf("%s has the id of %s", what, other)
		}
		seen[m.ID] = what
	}
	again := w.notice(&pending{warning: warned("w", 12), raisedAt: -1}, Grown)
	if seen[again.ID] != "grown to 8" {
		t.Errorf("the same level has another id")
	}
}
