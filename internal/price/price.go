// Package price computes the cost of a model call in US dollars from its tokens, for senders that report tokens but no cost. It
// does no I/O and keeps no state.
//
// The prices in prices.yaml are public list prices of the vendors' own APIs, each with its day and its source. A table of the
// user overrides them or adds to them. They are meant for budgets and warnings, not for invoices: they do not include discounts,
// batches, regions, priority, tools billed by the call, and higher prices of long prompts.
package price

import "github.com/unloop-ai/unloop"

// Price is the prices of a model's tokens, in US dollars per million.
type Price struct {
	Input, Output float64
	CachedInput   float64 // of input that was read from a cache
	CacheWrite    float64 // of input that was written to a cache
	AsOf          string  // the day of the source, such as 2026-11-21
	Source        string  // one word
}

// Table has prices by model. It is immutable and safe for concurrent use.
type Table struct {
	prices map[string]Price // by canonical name
}

// Cost returns the cost in US dollars of a call of the model. known is false if the price of the model is unknown or there are no
// tokens. It takes time bounded by the length of a name, and allocates nothing.
//
// As in the OpenTelemetry conventions for gen_ai.usage.input_tokens, usage.Input includes tokens that were read from or written
// to a cache. If these exceed it, the sender has not included them, and Input is the rest. Tokens of total that are not in usage
// have the price of input. Output usually costs more, so the result is a lower bound.
func (t *Table) Cost(model string, usage unloop.Usage, total int64) (dollars float64, known bool) {
	p, ok := t.Find(model)
	if !ok {
		return 0, false
	}
	cached, written, output := tokens(usage.CachedInput), tokens(usage.CacheWrite), tokens(usage.Output)
	fresh := tokens(usage.Input)
	if fresh >= cached+written {
		fresh -= cached + written
	}
	counted := fresh + cached + written + output
	fresh += max(tokens(total)-counted, 0)
	dollars = (fresh*p.Input + cached*p.CachedInput + written*p.CacheWrite + output*p.Output) / 1e6
	return dollars, counted > 0 || total > 0
}

// tokens returns a count that is not negative.
func tokens(n int64) float64 { return float64(max(n, 0)) }

// maxParts is the maximum number of parts that are removed from either end of a name. It limits the cost of hostile names.
const maxParts = 8

// maxName is the maximum length in bytes of a model's name that is looked up.
const maxName = 256

// Find returns the price of a model. Names are compared without case, and a dot equals a dash. If the name is not in the table,
// Find removes prefixes of gateways and clouds from the left (openrouter/anthropic/…, models/…, us.anthropic.…), and then
// versions from the right (-2024-08-06, -preview, @20250514, -v1:0). Any other ending is another model with an unknown price:
// gpt-4o-audio does not cost the same as gpt-4o.
func (t *Table) Find(model string) (Price, bool) {
	if len(model) > maxName {
		return Price{}, false
	}
	var buffer [maxName]byte
	name := canonical(buffer[:0], model)
	for range maxParts {
		if p, ok := t.versionOf(name); ok {
			return p, true
		}
		next := afterPrefix(name)
		if next == 0 {
			break
		}
		name = name[next:]
	}
	return Price{}, false
}

// versionOf returns the price of the longest name in the table that the given name is a version of.
func (t *Table) versionOf(name []byte) (Price, bool) {
	if p, ok := t.prices[string(name)]; ok {
		return p, true
	}
	for i, parts := len(name)-1, 0; i > 0 && parts < maxParts; i-- {
		if !isMark(name[i]) {
			continue
		}
		if parts++; !isVersion(name[i:]) {
			continue
		}
		if p, ok := t.prices[string(name[:i])]; ok {
			return p, true
		}
	}
	return Price{}, false
}

// canonical appends the form of a name for comparisons.
func canonical(to []byte, name string) []byte {
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		case c == '.':
			c = '-'
		}
		to = append(to, c)
	}
	return to
}

// afterPrefix returns the length of the prefix of a gateway or a cloud, or 0 for none.
func afterPrefix(name []byte) int {
	for i, c := range name {
		if c == '/' {
			return i + 1
		}
	}
	for i, c := range name {
		if c != '-' {
			continue
		}
		switch string(name[:i]) {
		case "us", "eu", "apac", "au", "ca", "jp", "global", // regions and vendors of Amazon Bedrock
			"anthropic", "openai", "mistral", "deepseek", "meta":
			return i + 1
		}
		return 0
	}
	return 0
}
