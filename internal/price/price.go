// Package price turns the tokens of a model call into US dollars. It stands beside an Event on its way into a run, for
// senders that tell tokens and no cost; it does no I/O and keeps no state.
//
// The prices are public list prices of the vendors' own APIs, each with its day and its source, in prices.yaml; a table
// of the user's overrides or adds to them. They are for budgets and warnings, not for invoices: discounts, batches,
// regions, priority, tools billed by the call and higher prices of long prompts are not in them.
package price

import "github.com/unloop-ai/unloop"

// Price is what a model's tokens cost, in US dollars per million.
type Price struct {
	Input, Output float64
	CachedInput   float64 // of input that was read from a cache
	CacheWrite    float64 // of input that was written to a cache
	AsOf          string  // the day for which the source says so, as 2026-11-21
	Source        string  // a word
}

// Table holds prices by model. It does not change, so it is safe for concurrent use.
type Table struct {
	prices map[string]Price // by canonical name
}

// Cost returns the US dollars of a call of the model, by the prices of its tokens; known is false if the model's price is
// not known or no tokens are told. It takes time bounded by the length of a name, and no memory.
//
// As in the OpenTelemetry conventions for gen_ai.usage.input_tokens, usage.Input includes what was read from a cache and
// written to it. Where these two exceed it, the sender cannot have included them, and Input is taken for what remains
// besides them. Tokens of total that usage does not tell apart cost what input does: output costs more as a rule, so that
// the result is a lower bound.
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
	told := fresh + cached + written + output
	fresh += max(tokens(total)-told, 0)
	dollars = (fresh*p.Input + cached*p.CachedInput + written*p.CacheWrite + output*p.Output) / 1e6
	return dollars, told > 0 || total > 0
}

// tokens is a count that cannot be negative, nor overflow when it is added to others.
func tokens(n int64) float64 { return float64(max(n, 0)) }

// maxParts is how much goes from either end of a name until it is given up, so that a hostile name costs little.
const maxParts = 8

// maxName is the longest name of a model that is looked up, in bytes.
const maxName = 256

// Find returns the price of a model. A name is compared without regard to capitals, and a dot counts as a dash. If it is
// not in the table as it is, what a gateway or a cloud puts before it goes first, from the left (openrouter/anthropic/…,
// models/…, us.anthropic.…), and then what tells its version, from the right (-2024-08-06, -preview, @20250514, -v1:0).
// Any other ending is another model, whose price is not known: gpt-4o-audio does not cost what gpt-4o does.
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

// versionOf returns the price of the longest name of the table of which this is a version.
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

// canonical appends the form of a name in which it is compared.
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

// afterPrefix returns the length of what a gateway or a cloud put before a name, and 0 for nothing.
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
		case "us", "eu", "apac", "au", "ca", "jp", "global", // Amazon Bedrock's regions and vendors
			"anthropic", "openai", "mistral", "deepseek", "meta":
			return i + 1
		}
		return 0
	}
	return 0
}
