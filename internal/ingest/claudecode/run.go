package claudecode

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// run is a session's events, and what they told of tokens and cost so far.
type run struct {
	trail *ingest.Trail
	spent map[string]spending // by message id

	told    int64   // tokens in all events
	settled int64   // told, when the last result came
	cost    float64 // of the last result
}

type spending struct {
	tokens int64
	cost   float64
}

// usage is what a message took. The three kinds of input are counted apart.
type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

func (u usage) tokens() int64 { return max(0, u.Input+u.CacheWrite+u.CacheRead+u.Output) }

// model sends the model call that the line is of, and on the message's later lines only what they tell beyond the
// earlier ones.
func (r *run) model(at ingest.Spot, e *entry) error {
	m := &e.Message
	now := spending{tokens: m.Usage.tokens(), cost: max(0, e.Cost)}
	before, known := r.spent[m.ID]
	if m.ID != "" {
		r.spent[m.ID] = spending{max(before.tokens, now.tokens), max(before.cost, now.cost)}
	}
	more := spending{max(0, now.tokens-before.tokens), max(0, now.cost-before.cost)}
	if known && more == (spending{}) || !known && m.Model == "" && now == (spending{}) {
		return nil
	}
	r.told += more.tokens
	if !known {
		return r.trail.Model(at, ingest.Usage{Model: m.Model, Tokens: now.tokens, Cost: now.cost})
	}
	return r.trail.Add(at, &unloop.Event{
		Type: unloop.LLMCallCompleted, Model: m.Model, Tokens: more.tokens, Cost: more.cost,
	})
}

// result is the last line of a stream, or of a turn where one process serves many.
type result struct {
	Session string                `json:"session_id"`
	Subtype string                `json:"subtype"`
	IsError bool                  `json:"is_error"`
	Text    jsontext.Value        `json:"result"`
	Cost    float64               `json:"total_cost_usd"` // of the process so far
	Usage   usage                 `json:"usage"`          // of the turn, without sub-agents
	Models  map[string]modelUsage `json:"modelUsage"`     // of the process so far, by model
}

type modelUsage struct {
	Input      int64 `json:"inputTokens"`
	CacheWrite int64 `json:"cacheCreationInputTokens"`
	CacheRead  int64 `json:"cacheReadInputTokens"`
	Output     int64 `json:"outputTokens"`
}

// end sends the end of the run, with the cost and the tokens that no event told yet.
func (r *run) end(at ingest.Spot, res *result) error {
	e := &unloop.Event{Type: unloop.RunCompleted, Status: res.Subtype}
	if res.IsError || strings.HasPrefix(res.Subtype, "error") {
		e.Type, e.Error = unloop.RunFailed, ingest.Text(res.reason())
	}
	e.Tokens = max(0, res.tokens(r.settled)-r.told)
	r.told += e.Tokens
	r.settled = r.told
	total := max(0, res.Cost)
	e.Cost = total - r.cost
	if e.Cost < 0 { // another process counts from zero
		e.Cost = total
	}
	r.cost = total
	return r.trail.Add(at, e)
}

// tokens returns what the process took so far; before is what it took when this turn began.
func (res *result) tokens(before int64) int64 {
	if len(res.Models) == 0 {
		return before + res.Usage.tokens()
	}
	var sum int64
	for _, m := range res.Models {
		sum += m.Input + m.CacheWrite + m.CacheRead + m.Output
	}
	return sum
}

// reason says why the run failed: what the program says, or the name it has for it.
func (res *result) reason() string {
	if text := ingest.UnquoteText(res.Text); text != "" {
		return text
	}
	return res.Subtype
}
