package langsmith

import (
	"encoding/json"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

// counts are the tokens and the cost of a run, beside it or in an object of their own.
type counts struct {
	Prompt     int64            `json:"prompt_tokens"`
	Completion int64            `json:"completion_tokens"`
	Total      int64            `json:"total_tokens"`
	PromptOf   map[string]int64 `json:"prompt_token_details"`
	OutputOf   map[string]int64 `json:"completion_token_details"`
	Cost       jsontext.Value   `json:"total_cost"` // a number, or one as text
}

// usageMetadata is LangChain's usage of a model call, which the outputs have if LangSmith did not count.
type usageMetadata struct {
	Input    int64            `json:"input_tokens"`
	Output   int64            `json:"output_tokens"`
	Total    int64            `json:"total_tokens"`
	InputOf  map[string]int64 `json:"input_token_details"`
	OutputOf map[string]int64 `json:"output_token_details"`
}

// spent returns the tokens and the cost of a model call. Input includes cached tokens, and output includes reasoning.
func (r *run) spent() (trace.Usage, int64, float64) {
	cost := max(number(r.Cost), number(r.Costs.Cost))
	for _, c := range []counts{r.counts, r.Usage, r.reported()} {
		if c.Prompt == 0 && c.Completion == 0 && c.Total == 0 {
			continue
		}
		if c.Total == 0 {
			c.Total = c.Prompt + c.Completion
		}
		return trace.Usage{
			Input: c.Prompt, Output: c.Completion,
			CachedInput: c.PromptOf["cache_read"], CacheWrite: c.PromptOf["cache_creation"], Reasoning: c.OutputOf["reasoning"],
		}.Whole(), c.Total, cost
	}
	return trace.Usage{}, 0, cost
}

// reported returns the usage in the outputs: that of a wrapped client, or of LangChain's first generation.
func (r *run) reported() counts {
	type message struct {
		Usage usageMetadata `json:"usage_metadata"`
		Args  struct {
			Usage usageMetadata `json:"usage_metadata"`
		} `json:"kwargs"`
	}
	var outputs struct {
		Usage       usageMetadata `json:"usage_metadata"`
		Generations [][]struct {
			Message message `json:"message"`
		} `json:"generations"`
	}
	if json.Unmarshal(r.Outputs, &outputs) != nil {
		return counts{}
	}
	if len(outputs.Generations) == 0 || len(outputs.Generations[0]) == 0 {
		return outputs.Usage.counts()
	}
	m := outputs.Generations[0][0].Message
	if m.Args.Usage.Total != 0 {
		return m.Args.Usage.counts()
	}
	return m.Usage.counts()
}

func (u *usageMetadata) counts() counts {
	return counts{Prompt: u.Input, Completion: u.Output, Total: u.Total, PromptOf: u.InputOf, OutputOf: u.OutputOf}
}

func number(v jsontext.Value) float64 {
	text := ingest.UnquoteText(v)
	if v.Kind() == '0' {
		text = string(v)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0) || n > 1e9 {
		return 0
	}
	return n
}
