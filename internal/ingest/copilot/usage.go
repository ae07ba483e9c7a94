package copilot

import (
	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// usage is the tokens of a model call. Input includes cached tokens, and output includes reasoning.
type usage struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	CacheRead  int64 `json:"cacheReadTokens"`
	CacheWrite int64 `json:"cacheWriteTokens"`
	Reasoning  int64 `json:"reasoningTokens"`
}

func (u usage) plus(v usage) usage {
	return usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Reasoning + v.Reasoning}
}

// beyond returns what u has more than v.
func (u usage) beyond(v usage) usage {
	return usage{
		max(0, u.Input-v.Input), max(0, u.Output-v.Output), max(0, u.CacheRead-v.CacheRead),
		max(0, u.CacheWrite-v.CacheWrite), max(0, u.Reasoning-v.Reasoning),
	}
}

// kinds returns the tokens by kind and their total.
func (u usage) kinds() (*unloop.Usage, int64) {
	kinds := ingest.TokenKinds(unloop.Usage{
		Input: u.Input, Output: u.Output, CachedInput: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning,
	})
	if kinds == nil {
		return nil, 0
	}
	return kinds, kinds.Input + kinds.Output
}

// answer is the last model call of an agent: its answer or its usage, of which the other may follow.
type answer struct {
	answered, used bool
	spent          usage
}

// answered sends the model call of an answer, unless its usage was before it.
func (d *decoder) answered(at ingest.Location, e *event) error {
	last := d.calls[at.Agent]
	if last != nil && last.used && !last.answered {
		last.answered = true
		return nil
	}
	d.calls[at.Agent] = &answer{answered: true, spent: e.Data.usage}
	return d.model(at, e, e.Data.usage)
}

// used sends the model call of a usage, or what the usage has more than the answer before it.
func (d *decoder) used(at ingest.Location, e *event) error {
	last := d.calls[at.Agent]
	if last == nil || !last.answered || last.used {
		d.calls[at.Agent] = &answer{used: true, spent: e.Data.usage}
		return d.model(at, e, e.Data.usage)
	}
	last.used = true
	more := e.Data.usage.beyond(last.spent)
	d.spent = d.spent.plus(more)
	completed := &unloop.Event{Type: unloop.LLMCallCompleted, Model: e.Data.Model}
	completed.Usage, completed.Tokens = more.kinds()
	return d.events.Add(at, completed)
}

func (d *decoder) model(at ingest.Location, e *event, spent usage) error {
	d.spent = d.spent.plus(spent)
	u := ingest.Usage{Model: e.Data.Model}
	u.Kinds, u.Tokens = spent.kinds()
	return d.events.Model(at, u)
}
