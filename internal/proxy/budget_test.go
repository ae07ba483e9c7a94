package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestABudgetWarnsAtHalfAndFourFifthsAndEndsTheSession(t *testing.T) {
	usage := `{"model":"gpt-4o","usage":{"prompt_tokens":90000,"completion_tokens":10000}}` // $0.325
	for name, budget := range map[string]Budget{"tokens": {Tokens: 1_000_000}, "cost": {Cost: 3.25}, "model calls": {Calls: 10}} {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			u.answer = func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, usage)
			}
			s, _ := start(t, u, func(o *Options) { o.Budget = budget })
			d := dialects["chat"]
			a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("go")}}
			var warned []int
			for i := range 10 {
				a.call("cat "+strings.Repeat(string(rune('a'+i)), 5), strings.Repeat(string(rune('k'+i)), 40))
				a.ask()
				if body := string(u.last()); strings.Contains(body, "budget is spent") {
					warned = append(warned, i)
				}
			}
			if len(warned) != 2 || warned[0] != 5 || warned[1] != 8 {
				t.Errorf("the agent was warned with calls %v, want 5 and 8", warned)
			}
			a.call("cat more", "something else")
			if _, answer := a.ask(); u.last() != nil || !strings.Contains(answer, "100 % of this session's budget is spent") {
				t.Errorf("a call over the budget was answered with %s", answer)
			}
			a.items = append(a.items, d.says("one more question"))
			if a.ask(); u.last() == nil {
				t.Error("a person's message did not reach the model")
			}
		})
	}
}

func TestARetryGetsTheSameWarning(t *testing.T) {
	u := newUpstream(t)
	s, _ := start(t, u, func(o *Options) { o.Budget = Budget{Calls: 4} })
	d := dialects["chat"]
	a := &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("go")}}
	a.ask()
	a.call("ls", "a")
	a.ask()
	a.call("cat b", "c")
	a.ask()
	first := string(u.last())
	a.ask()
	if again := string(u.last()); !strings.Contains(first, "budget is spent") || again != first {
		t.Errorf("the retry has %s, want %s", again, first)
	}
}

func TestABudgetOfTimeCountsFromTheFirstCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := newBudgets(Budget{Time: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if _, exhausted := b.check("s", place{"r", 1}); exhausted {
			t.Error("the budget is spent at the beginning")
		}
		time.Sleep(59 * time.Minute)
		if text, exhausted := b.check("s", place{"r", 2}); exhausted || !strings.Contains(text, "59 of 60 minutes") {
			t.Errorf("after 59 minutes: %q, %v", text, exhausted)
		}
		time.Sleep(time.Minute)
		if _, exhausted := b.check("s", place{"r", 3}); !exhausted {
			t.Error("after an hour the budget is not spent")
		}
	})
}

func TestSessionsHaveBudgetsOfTheirOwn(t *testing.T) {
	b, err := newBudgets(Budget{Calls: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, session := range []string{"a", "b"} {
		if _, exhausted := b.check(session, place{}); exhausted {
			t.Errorf("the first call of %s is over the budget", session)
		}
		if _, exhausted := b.check(session, place{}); !exhausted {
			t.Errorf("the second call of %s is not", session)
		}
	}
}
