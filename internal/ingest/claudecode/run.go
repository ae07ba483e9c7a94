package claudecode

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// run is the events of a session, and its tokens and cost so far.
type run struct {
	trail *ingest.EventBuilder
	spent map[string]spending // by message id
	open  map[string]bool     // ids of calls without a result

	total   usage   // in all events
	tokens  int64   // in all events
	settled usage   // total at the last result
	before  int64   // tokens at the last result
	cost    float64 // of the last result
}

type spending struct {
	usage  usage // maximum of each kind
	tokens int64 // maximum of all kinds together
	cost   float64
}

// usage is the tokens of a message. The three kinds of input are separate.
type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

func (u usage) tokens() int64 { return max(0, u.Input+u.CacheWrite+u.CacheRead+u.Output) }

// kinds returns the tokens by kind in the form of events: the input includes its cached parts. It returns nil if the kinds do not
// add up to the event's tokens.
func (u usage) kinds(tokens int64) *unloop.Usage {
	if u.tokens() != tokens {
		return nil
	}
	return ingest.TokenKinds(unloop.Usage{
		Input: u.Input + u.CacheWrite + u.CacheRead, Output: u.Output, CachedInput: u.CacheRead, CacheWrite: u.CacheWrite,
	})
}

// plus returns u + v.
func (u usage) plus(v usage) usage {
	return usage{u.Input + v.Input, u.CacheWrite + v.CacheWrite, u.CacheRead + v.CacheRead, u.Output + v.Output}
}

// beyond returns the excess of u over v by kind.
func (u usage) beyond(v usage) usage {
	return usage{max(0, u.Input-v.Input), max(0, u.CacheWrite-v.CacheWrite), max(0, u.CacheRead-v.CacheRead), max(0, u.Output-v.Output)}
}

// model sends the model call of the line. Later lines of the same message send only the additional tokens.
func (r *run) model(at ingest.Location, e *entry) error {
	m := &e.Message
	now := spending{m.Usage.beyond(usage{}), m.Usage.tokens(), max(0, e.Cost)}
	before, known := r.spent[m.ID]
	more := spending{now.usage.beyond(before.usage), max(0, now.tokens-before.tokens), max(0, now.cost-before.cost)}
	if m.ID != "" {
		r.spent[m.ID] = spending{before.usage.plus(more.usage), before.tokens + more.tokens, before.cost + more.cost}
	}
	if known && more.tokens == 0 && more.cost == 0 || !known && m.Model == "" && now == (spending{}) {
		return nil
	}
	r.total = r.total.plus(more.usage)
	r.tokens += more.tokens
	kinds := more.usage.kinds(more.tokens)
	if !known {
		return r.trail.Model(at, ingest.Usage{Model: m.Model, Tokens: more.tokens, Kinds: kinds, Cost: more.cost})
	}
	return r.trail.Add(at, &unloop.Event{
		Type: unloop.LLMCallCompleted, Model: m.Model, Tokens: more.tokens, Usage: kinds, Cost: more.cost,
	})
}

// result is the last line of a stream, or of a turn if one process serves several turns.
type result struct {
	Session string                `json:"session_id"`
	Subtype string                `json:"subtype"`
	IsError bool                  `json:"is_error"`
	Text    jsontext.Value        `json:"result"`
	Cost    float64               `json:"total_cost_usd"` // total of the process
	Usage   usage                 `json:"usage"`          // of the turn, without sub-agents
	Models  map[string]modelUsage `json:"modelUsage"`     // total of the process, by model
}

type modelUsage struct {
	Input      int64 `json:"inputTokens"`
	CacheWrite int64 `json:"cacheCreationInputTokens"`
	CacheRead  int64 `json:"cacheReadInputTokens"`
	Output     int64 `json:"outputTokens"`
}

// end sends the end of the run, with the cost and the tokens that no event had.
func (r *run) end(at ingest.Location, res *result) error {
	e := &unloop.Event{Type: unloop.RunCompleted, Status: res.Subtype}
	if res.IsError || strings.HasPrefix(res.Subtype, "error") {
		e.Type, e.Error = unloop.RunFailed, ingest.Text(res.reason())
	}
	usage, tokens := res.usage(r.settled, r.before)
	rest := usage.beyond(r.total)
	e.Tokens = max(0, tokens-r.tokens)
	e.Usage = rest.kinds(e.Tokens)
	r.total, r.tokens = r.total.plus(rest), r.tokens+e.Tokens
	r.settled, r.before = r.total, r.tokens
	total := max(0, res.Cost)
	e.Cost = total - r.cost
	if e.Cost < 0 { // another process counts from zero
		e.Cost = total
	}
	r.cost = total
	return r.trail.Add(at, e)
}

// usage returns the total usage of the process, by kind and together. The arguments are the totals at the beginning of this turn.
func (res *result) usage(before usage, tokens int64) (usage, int64) {
	if len(res.Models) == 0 {
		return before.plus(res.Usage), tokens + res.Usage.tokens()
	}
	var sum usage
	for _, m := range res.Models {
		sum = sum.plus(usage(m))
	}
	return sum, sum.tokens()
}

// reason returns why the run failed: the program's text, or its name for the failure.
func (res *result) reason() string {
	if text := ingest.UnquoteText(res.Text); text != "" {
		return text
	}
	return res.Subtype
}
