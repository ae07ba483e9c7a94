package detect

import (
	"iter"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
)

// excerpts is the number of steps for which a run keeps excerpts.
const excerpts = 10

// options are names of arguments that do not change what a call asks for.
var options = [...]string{
	"timeout", "timeout_ms", "timeout_seconds", "verbose", "max_results", "max_tokens", "page_size", "include_metadata", "retries",
	"retry", "description", "explanation", "reason", "thought", "format", "language", "debug",
}

// reworded reports whether two inputs, as excerpts of JSON, ask the same question in different words. They do if only options
// differ, or if they share at least two words and half the words of the shorter one. They do not if they differ in one
// position only, or in a word with a digit: then they are about two items.
func reworded(a, b string) bool {
	x, y := words(a), words(b)
	if slices.Equal(x, y) {
		return len(x) > 0 && !strings.HasSuffix(a, "…") && !strings.HasSuffix(b, "…")
	}
	if differentItems(x, y) {
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

// differentItems reports whether two lists of words ask the same question about two items.
func differentItems(x, y []string) bool {
	return differInOne(x, y) || hasOtherNumber(x, y) || hasOtherNumber(y, x)
}

// asksAboutItems reports whether the step and up to three earlier steps of its tool ask the same question, each about another item. Only
// steps with excerpts count, and only those that failed if this one did, or succeeded if it did.
func asksAboutItems(r *unloop.Run, step *unloop.Step) bool {
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
		if before := words(other); slices.Equal(now, before) || !differentItems(now, before) {
			return false
		}
		seen++
	}
	return seen > 0
}

// hasOtherNumber reports whether x has a word with a digit that y does not have.
func hasOtherNumber(x, y []string) bool {
	return slices.ContainsFunc(x, func(word string) bool {
		return strings.ContainsAny(word, "0123456789") && !slices.Contains(y, word)
	})
}

// differInOne reports whether two lists of words differ in at most one position.
func differInOne(x, y []string) bool {
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

// words returns the words of the values in an excerpt of JSON, in lower case. It leaves out the values of options. A path or a
// URL is one word.
func words(input string) []string {
	var all []string
	for _, word := range namedWords(input) {
		all = append(all, word)
	}
	return all
}

// namedWords yields what words returns, each word with the name of its value.
func namedWords(input string) iter.Seq2[string, string] {
	return func(yield func(name, word string) bool) {
		name := ""
		parts := strings.Split(strings.ToLower(input), `"`) // every second part is within quotes
		for k, part := range parts {
			if k%2 == 1 && k+1 < len(parts) && strings.HasPrefix(strings.TrimLeft(parts[k+1], " "), ":") {
				name = part
				continue
			}
			if slices.Contains(options[:], name) {
				continue
			}
			for _, word := range strings.Fields(part) {
				if word = strings.Trim(word, ".,:;!?(){}[]'…"); word != "" && !yield(name, word) {
					return
				}
			}
		}
	}
}
