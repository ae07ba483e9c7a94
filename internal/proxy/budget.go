package proxy

import (
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/price"
)

// Budget is what one session may spend. 0 means no limit. A session is what its client names in a header, and a conversation
// otherwise. What was spent is forgotten when the proxy ends.
type Budget struct {
	Tokens int64
	Cost   float64 // US dollars, by the list prices of the models; a model without one costs nothing
	Calls  int64
	Time   time.Duration // since the first call
}

// levels are the shares of a budget at which the agent is told, in percent. The last one ends the session.
var levels = []float64{50, 80, 100}

// spending is what a session spent.
type spending struct {
	tokens, calls int64
	cost          float64
	begun         time.Time

	level float64 // the highest one that the agent was told of
	told  place   // the request that told it
	text  string
}

// place is a state of a history. A retry of a request has the same one.
type place struct {
	run      string
	sequence int64
}

// budgets holds what the latest sessions spent. It is safe for concurrent use.
type budgets struct {
	limit  Budget
	prices *price.Table

	mu    sync.Mutex
	spent *lru.LRU[string, *spending]
}

func newBudgets(limit Budget) (*budgets, error) {
	prices, err := price.Load("", nil)
	if err != nil {
		return nil, fmt.Errorf("load the prices of models: %w", err)
	}
	return &budgets{limit: limit, prices: prices, spent: newLRU[*spending](nil)}, nil
}

// check begins a call of a session. The text is for the agent: "" below half of the budget, and when the agent has read it. Exhausted
// reports that the budget is spent; the call is not counted then.
func (b *budgets) check(session string, at place) (text string, exhausted bool) {
	if b.limit == (Budget{}) {
		return "", false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.spent.Get(session)
	if !ok {
		s = &spending{begun: time.Now()}
		b.spent.Add(session, s)
	}
	percent, what := b.share(s)
	for _, level := range levels {
		if percent >= level && level > s.level {
			s.level, s.told = level, at
			s.text = fmt.Sprintf("%.0f %% of this session's budget is spent: %s.", min(percent, 100), what)
			if level < 100 {
				s.text += " Finish what matters most."
			}
		}
	}
	if percent >= 100 {
		return s.text, true
	}
	s.calls++
	if s.told == at {
		return s.text, false
	}
	return "", false
}

// share returns the part of the budget that is spent, in percent, and what is spent most.
func (b *budgets) share(s *spending) (percent float64, what string) {
	elapsed := time.Since(s.begun)
	for _, part := range []struct {
		spent, limit float64
		what         string
	}{
		{float64(s.tokens), float64(b.limit.Tokens), fmt.Sprintf("%d of %d tokens", s.tokens, b.limit.Tokens)},
		{s.cost, b.limit.Cost, fmt.Sprintf("$%.2f of $%.2f", s.cost, b.limit.Cost)},
		{float64(s.calls), float64(b.limit.Calls), fmt.Sprintf("%d of %d model calls", s.calls, b.limit.Calls)},
		{elapsed.Minutes(), b.limit.Time.Minutes(), fmt.Sprintf("%.0f of %.0f minutes", elapsed.Minutes(), b.limit.Time.Minutes())},
	} {
		if part.limit > 0 && part.spent/part.limit*100 > percent {
			percent, what = part.spent/part.limit*100, part.what
		}
	}
	return percent, what
}

// add counts what a call took.
func (b *budgets) add(session, model string, u unloop.Usage) {
	if b.limit == (Budget{}) {
		return
	}
	total := u.Input + u.Output
	cost, _ := b.prices.Cost(model, u, total) // 0 if the price is not known
	b.mu.Lock()
	defer b.mu.Unlock()
	if s, ok := b.spent.Get(session); ok {
		s.tokens += total
		s.cost += cost
	}
}
