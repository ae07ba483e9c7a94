package proxy

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unloop-ai/unloop"
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
			s, _ := start(t, u, func(o *Options) { o.Budgets.Session = budget })
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
	s, _ := start(t, u, func(o *Options) { o.Budgets.Session = Budget{Calls: 4} })
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
		b, err := newBudgets(Budgets{Session: Budget{Time: time.Hour}})
		if err != nil {
			t.Fatal(err)
		}
		if _, exhausted := b.check(spenders{"s"}, place{"r", 1}); exhausted {
			t.Error("the budget is spent at the beginning")
		}
		time.Sleep(59 * time.Minute)
		if text, exhausted := b.check(spenders{"s"}, place{"r", 2}); exhausted || !strings.Contains(text, "59 of 60 minutes") {
			t.Errorf("after 59 minutes: %q, %v", text, exhausted)
		}
		time.Sleep(time.Minute)
		if _, exhausted := b.check(spenders{"s"}, place{"r", 3}); !exhausted {
			t.Error("after an hour the budget is not spent")
		}
	})
}

func TestEachSpenderHasABudgetOfItsOwn(t *testing.T) {
	for k, o := range []Budgets{{Session: Budget{Calls: 1}}, {Key: Budget{Calls: 1}}, {Project: Budget{Calls: 1}}} {
		b, err := newBudgets(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b"} {
			who := spenders{"x", "y", "z"}
			who[k] = name
			if _, exhausted := b.check(who, place{}); exhausted {
				t.Errorf("the first call of %v is over the budget", who)
			}
			text, exhausted := b.check(who, place{})
			if want := []string{"session", "API key", "project"}[k]; !exhausted || !strings.Contains(text, "this "+want+"'s budget") {
				t.Errorf("the second call of %v is not: %q", who, text)
			}
		}
		if _, exhausted := b.check(spenders{}, place{}); exhausted {
			t.Error("a call of nobody is over the budget")
		}
	}
}

func TestTheSmallestBudgetEndsTheCallsAndACallThatEndedThereIsNotCounted(t *testing.T) {
	b, err := newBudgets(Budgets{Session: Budget{Calls: 1}, Key: Budget{Calls: 3}})
	if err != nil {
		t.Fatal(err)
	}
	var ended []bool
	for _, session := range []string{"a", "a", "a", "b", "c", "d"} {
		_, exhausted := b.check(spenders{session, "key"}, place{})
		ended = append(ended, exhausted)
	}
	if want := []bool{false, true, true, false, false, true}; !slices.Equal(ended, want) {
		t.Errorf("got %v, want %v", ended, want)
	}
}

func TestAKeyIsKnownAgainByItsHashOnly(t *testing.T) {
	b, err := newBudgets(Budgets{})
	if err != nil {
		t.Fatal(err)
	}
	request := func(path, name, value string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, path, nil)
		r.Header.Set(name, value)
		return r
	}
	first := b.spendersOf(request("/", "Authorization", "Bearer secret-1"), "")
	for name, tc := range map[string]struct {
		request *http.Request
		same    bool
	}{
		"the same key":        {request("/", "Authorization", "Bearer secret-1"), true},
		"another key":         {request("/", "Authorization", "Bearer secret-2"), false},
		"a key of Anthropic":  {request("/", "X-Api-Key", "secret-1"), false},
		"a key in the query":  {request("/?key=secret-1", "A", "b"), false},
		"no key":              {request("/", "A", "b"), false},
		"a key of Gemini":     {request("/", "X-Goog-Api-Key", "secret-1"), false},
		"a key and a project": {request("/", "Authorization", "Bearer secret-1"), true},
	} {
		if got := b.spendersOf(tc.request, ""); (got[1] == first[1]) != tc.same || strings.Contains(got[1], "secret") {
			t.Errorf("%s: %q", name, got)
		}
	}
	other, err := newBudgets(Budgets{})
	if err != nil {
		t.Fatal(err)
	}
	if other.spendersOf(request("/", "Authorization", "Bearer secret-1"), "") == first {
		t.Error("two proxies have one hash of a key")
	}
	if got := b.spendersOf(request("/", "OpenAI-Project", "p"), "s"); got != (spenders{"s", "", "p"}) {
		t.Errorf("got %q", got)
	}
}

func TestTheLimitsOfABudgetAreRead(t *testing.T) {
	for text, want := range map[string]Budget{
		"cost=20":                            {Cost: 20},
		"tokens=5000000,calls=1000":          {Tokens: 5_000_000, Calls: 1000},
		"time=12h,cost=0.5,tokens=1,calls=2": {Time: 12 * time.Hour, Cost: 0.5, Tokens: 1, Calls: 2},
		"":                                   {},
		"cost":                               {},
		"cost=-1":                            {},
		"cost=NaN":                           {},
		"cost=1,speed=2":                     {},
		"tokens=1.5":                         {},
		"time=5":                             {},
	} {
		got, err := ParseBudget(text)
		if got != want || (err == nil) == (want == Budget{}) {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
}

func TestANegativeBudgetIsRefused(t *testing.T) {
	for _, limit := range []Budget{{Tokens: -1}, {Cost: -1}, {Cost: math.NaN()}, {Calls: -1}, {Time: -1}} {
		for name, o := range map[string]Budgets{"session": {Session: limit}, "API key": {Key: limit}, "project": {Project: limit}} {
			if _, err := newBudgets(o); err == nil || !strings.Contains(err.Error(), "the budget of a "+name) {
				t.Errorf("the budget %+v of a %s gives %v", limit, name, err)
			}
		}
	}
}

func TestARequestOfAHaltedRunIsNoCallOfABudget(t *testing.T) {
	o := newOrdered(t, "chat", Guard)
	o.proxy.budgets.units[0].limit = Budget{Calls: 3}
	o.order(&unloop.Event{Type: unloop.Control, Name: unloop.ControlHalt})
	for range 10 {
		if o.passes() {
			t.Fatal("a request of a halted run passes")
		}
	}
	if !o.passes(o.says("go on")) || !o.passes(o.calls("c1", "ls", "a")...) || !o.passes(o.calls("c2", "cat b", "c")...) {
		t.Error("the requests that the proxy answered have spent the budget")
	}
	if o.passes(o.calls("c3", "cat d", "e")...) {
		t.Error("a fourth call passes")
	}
}
