package detect

import (
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
)

// excerpts is of how many steps a run shows the input.
const excerpts = 10

// options are names of arguments that are beside the point of a question.
var options = [...]string{
	"timeout", "timeout_ms", "timeout_seconds", "verbose", "max_results", "max_tokens", "page_size", "include_metadata", "retries",
	"retry", "description", "explanation", "reason", "thought", "format", "language", "debug",
}

// reworded reports whether two inputs, as excerpts of JSON, ask one question in other words: they differ in nothing but
// options, or they have at least two words in common, and half of those of the shorter one. If they are the same but for one
// word in its place, they are about two items, and so they are if the words with digits differ.
func reworded(a, b string) bool {
	x, y := words(a), words(b)
	if slices.Equal(x, y) {
		return len(x) > 0 && !strings.HasSuffix(a, "…") && !strings.HasSuffix(b, "…")
	}
	if otherItem(x, y) {
		return false
	}
	common := 0
	for k, word := range x {
		if slices.Contains(y, word) && !slices.Contains(x[:k], word) {
			common++
		}
	}
	return common >= 2 && 2*common >= min(len(x), len(y))
}

// otherItem reports whether two lists of words ask the same of two items.
func otherItem(x, y []string) bool { return template(x, y) || numbered(x, y) || numbered(y, x) }

// items reports whether the step asks of another item what the three steps of its tool before it asked, of those whose inputs
// are kept and whose outcome was of the same sort.
func items(r *unloop.Run, step *unloop.Step) bool {
	input, _ := r.Excerpt(step)
	now := words(input)
	seen := 0
	for k := 1; k < excerpts && seen < 3; k++ {
		s := r.StepAt(k)
		if s == nil {
			break
		}
		if s.Tool != step.Tool || s.Failing != step.Failing {
			continue
		}
		other, _ := r.Excerpt(s)
		if before := words(other); slices.Equal(now, before) || !otherItem(now, before) {
			return false
		}
		seen++
	}
	return seen > 0
}

// numbered reports whether x has a word with a digit that y does not have.
func numbered(x, y []string) bool {
	return slices.ContainsFunc(x, func(word string) bool {
		return strings.ContainsAny(word, "0123456789") && !slices.Contains(y, word)
	})
}

// template reports whether two lists of words differ in one place at most.
func template(x, y []string) bool {
	if len(x) != len(y) {
		return false
	}
	differ := 0
	for k := range x {
		if x[k] != y[k] {
			differ++
		}
	}
	return differ <= 1
}

// words returns the words of the values in an excerpt of JSON, in small letters, but for those of options. A path or an
// address is one word.
func words(input string) []string {
	var all []string
	name := ""
	parts := strings.Split(strings.ToLower(input), `"`) // every second one stands within quotes
	for k, part := range parts {
		if k%2 == 1 && k+1 < len(parts) && strings.HasPrefix(strings.TrimLeft(parts[k+1], " "), ":") {
			name = part
			continue
		}
		if slices.Contains(options[:], name) {
			continue
		}
		for _, word := range strings.Fields(part) {
			if word = strings.Trim(word, ".,:;!?(){}[]'…"); word != "" {
				all = append(all, word)
			}
		}
	}
	return all
}
