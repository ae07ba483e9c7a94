package proxy

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/price"
)

// Budget is a limit. 0 means no limit. The proxy forgets spendings when it ends.
type Budget struct {
	Tokens int64
	Cost   float64 // US dollars, by the list prices of the models; a model without one costs nothing
	Calls  int64
	Time   time.Duration // since the first call
}

// check reports a limit below zero.
func (b Budget) check(of string) error {
	if b.Tokens < 0 || b.Calls < 0 || b.Time < 0 || !(b.Cost >= 0) {
		return fmt.Errorf("the budget of a %s must be at least 0; 0 is no limit", of)
	}
	return nil
}

// ParseBudget reads limits as NAME=VALUE,…: cost in US dollars, tokens, calls, and time as a duration such as 90m.
func ParseBudget(text string) (b Budget, err error) {
	for _, limit := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(limit, "=")
		ok := false
		switch name {
		case "tokens":
			b.Tokens, err = strconv.ParseInt(value, 10, 64)
			ok = b.Tokens > 0
		case "cost":
			b.Cost, err = strconv.ParseFloat(value, 64)
			ok = b.Cost > 0
		case "calls":
			b.Calls, err = strconv.ParseInt(value, 10, 64)
			ok = b.Calls > 0
		case "time":
			b.Time, err = time.ParseDuration(value)
			ok = b.Time > 0
		}
		if err != nil || !ok {
			return Budget{}, fmt.Errorf("invalid limit %q: want cost=DOLLARS, tokens=N, calls=N or time=DURATION, more than 0", limit)
		}
	}
	return b, nil
}

// Budgets are what one session, one API key and one project may spend. A session is what its client names in a header, and a
// conversation otherwise. A project is named by the header X-Unloop-Project or OpenAI-Project.
type Budgets struct{ Session, Key, Project Budget }

// spenders are the session, the key and the project of a call, in this order; "" for one that is not known.
type spenders [3]string

// spendersOf returns the spenders of a request. The key is a hash, whose salt lives as long as the proxy.
func (b *budgets) spendersOf(r *http.Request, session string) spenders {
	h := r.Header
	key := cmp.Or(h.Get("X-Api-Key"), h.Get("Api-Key"), h.Get("X-Goog-Api-Key"), h.Get("Authorization"), r.URL.Query().Get("key"))
	if key != "" {
		sum := hmac.New(sha256.New, b.salt[:])
		_, _ = io.WriteString(sum, key) // a hash cannot fail
		key = string(sum.Sum(nil))
	}
	project := cmp.Or(h.Get("X-Unloop-Project"), h.Get("OpenAI-Project"))
	return spenders{session, key, project[:min(len(project), longestName)]}
}

// levels are the shares of a budget at which the agent is warned, in percent. The last one ends the spender's calls.
var levels = []float64{50, 80, 100}

// spending is the sum of a spender's calls.
type spending struct {
	unit          *unit
	tokens, calls int64
	cost          float64
	begun         time.Time

	level    float64 // the highest one that the agent was warned of
	warnedAt place   // the request with the warning
	text     string
}

// place is a state of a history. A retry of a request has the same one.
type place struct {
	run      string
	sequence int64
}

// budgets holds the spendings of the latest sessions, keys and projects. It is safe for concurrent use.
type budgets struct {
	prices *price.Table
	salt   [32]byte // of the hashes of keys

	mu    sync.Mutex
	units [len(spenders{})]unit
}

// unit is a kind of spender.
type unit struct {
	name  string
	limit Budget
	spent *lru.LRU[string, *spending]
}

func newBudgets(o Budgets) (*budgets, error) {
	prices, err := price.Load("", nil)
	if err != nil {
		return nil, fmt.Errorf("load the prices of models: %w", err)
	}
	b := &budgets{prices: prices}
	_, _ = rand.Read(b.salt[:]) // it never returns an error
	for k, u := range []unit{{name: "session", limit: o.Session}, {name: "API key", limit: o.Key}, {name: "project", limit: o.Project}} {
		if err := u.limit.check(u.name); err != nil {
			return nil, err
		}
		u.spent = newLRU[*spending](nil)
		b.units[k] = u
	}
	return b, nil
}

// of returns the spendings of the spenders with a budget. The caller holds the lock.
func (b *budgets) of(who spenders, begin bool) (all []*spending) {
	for k, name := range who {
		u := &b.units[k]
		if name == "" || u.limit == (Budget{}) {
			continue
		}
		s, ok := u.spent.Get(name)
		if !ok && begin {
			s = &spending{unit: u, begun: time.Now()}
			u.spent.Add(name, s)
		}
		if s != nil {
			all = append(all, s)
		}
	}
	return all
}

// check begins a call. The text is for the agent; it is "" below half of each budget, and after the agent has read it. If exhausted, a
// budget is spent and the call is not counted.
func (b *budgets) check(who spenders, at place) (text string, exhausted bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.of(who, true)
	for _, s := range all {
		percent := s.look(at)
		if percent >= 100 {
			return s.text, true
		}
		if s.warnedAt == at {
			text = s.text
		}
	}
	for _, s := range all {
		s.calls++
	}
	return text, false
}

// look returns the part of the budget that is spent, in percent. The first request at a level warns the agent.
func (s *spending) look(at place) float64 {
	percent, what := s.share()
	for _, level := range levels {
		if percent >= level && level > s.level {
			s.level, s.warnedAt = level, at
			s.text = fmt.Sprintf("%.0f %% of this %s's budget is spent: %s.", min(percent, 100), s.unit.name, what)
			if level < 100 {
				s.text += " Finish what matters most."
			}
		}
	}
	return percent
}

// share returns the part of the budget that is spent, in percent, and what is spent most.
func (s *spending) share() (percent float64, what string) {
	elapsed, limit := time.Since(s.begun), &s.unit.limit
	for _, part := range []struct {
		spent, limit float64
		what         string
	}{
		{float64(s.tokens), float64(limit.Tokens), fmt.Sprintf("%d of %d tokens", s.tokens, limit.Tokens)},
		{s.cost, limit.Cost, fmt.Sprintf("$%.2f of $%.2f", s.cost, limit.Cost)},
		{float64(s.calls), float64(limit.Calls), fmt.Sprintf("%d of %d model calls", s.calls, limit.Calls)},
		{elapsed.Minutes(), limit.Time.Minutes(), fmt.Sprintf("%.0f of %.0f minutes", elapsed.Minutes(), limit.Time.Minutes())},
	} {
		if part.limit > 0 && part.spent/part.limit*100 > percent {
			percent, what = part.spent/part.limit*100, part.what
		}
	}
	return percent, what
}

// add counts the tokens and the cost of a call.
func (b *budgets) add(who spenders, model string, u unloop.Usage) {
	total := u.Input + u.Output
	cost, _ := b.prices.Cost(model, u, total) // 0 if the price is not known
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.of(who, false) {
		s.tokens += total
		s.cost += cost
	}
}
