package detect

import (
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
)

// A series is a row of calls of one tool that ask the same of one item after another: of the files of a folder, of the hosts of a rack.

// leastSeries is the number of calls from which on they are a series.
const leastSeries = 4

// goesThroughItems reports whether the latest n calls of the step's tool, up to the step, go through a series of items, all with one
// result, which is no failure. Their calls differ in one word, which is not a variant of the word in its place, and each names something
// new or gets its answer for the first time. Their results are equal without ids and the words of the calls, or differ like the calls. No
// other tool changes something in between, because then it makes the items, such as the next version of a patch. Each is expected to have
// the result of the one before, as for files that are verified one by one. Words that are searched for without a match are no items: other
// words for one thing look alike. Nor has an item a long result of which nothing tells of it: then the page has not changed. It reads the excerpts of at most 10 steps.
func goesThroughItems(r *unloop.Run, step *unloop.Step, n int) bool {
	input, output := r.Excerpt(step)
	now := words(input)
	if long := strings.HasSuffix(output, "…"); long && !step.Effort.Mentions {
		return false
	}
	seen := 0
	for k := 0; k < excerpts && seen < n; k++ {
		s := r.StepAt(k)
		switch {
		case s == nil, s.Tool != step.Tool && s.Effort.Writes:
			return false
		case s.Tool != step.Tool:
			continue
		}
		if s.Effort.Yield == unloop.Failure || !namesItem(s) && s.Repeats.N > 1 {
			return false
		}
		call, result := r.Excerpt(s)
		before := words(call)
		if s.Number != step.Number && (!differInItem(now, before) || s.Effort.Yield == unloop.NothingFound && searchesFor(input, differ(now, before))) {
			return false
		}
		if s.Effort.Template != step.Effort.Template && !differAlike(now, before, strings.Fields(output), strings.Fields(result)) {
			return false
		}
		seen++
	}
	return seen == n
}

// namesItem reports whether a call names what no earlier call of its tool has.
func namesItem(step *unloop.Step) bool {
	return step.Effort.Names != 0 || step.Effort.Item != 0 || step.Effort.Word != 0
}

// tellOfItems reports whether the latest leastSeries-1 failures of the step's tool, this one included, each have a word of their call that no
// earlier call of the tool has, such as the name of the host that refuses.
func tellOfItems(r *unloop.Run, step *unloop.Step) bool {
	seen := 0
	for s := range failuresLike(r, step) {
		if !s.Effort.Mentions {
			return false
		}
		if seen++; seen == leastSeries-1 {
			return true
		}
	}
	return false
}

// differInItem reports whether two lists of words have the same length and differ in one position, where none is a variant of the other.
func differInItem(x, y []string) bool {
	if slices.Equal(x, y) || !differInOne(x, y) {
		return false
	}
	k := differ(x, y)
	return !variants(x[k], y[k])
}

// differ returns the first position in which two lists of the same length differ, or their length.
func differ(x, y []string) int {
	for k := range x {
		if x[k] != y[k] {
			return k
		}
	}
	return len(x)
}

// terms are the names of arguments, and searchers the programs and options of shell commands, that are followed by what is searched for.
var (
	terms     = strings.Fields("pattern query q search keyword keywords term terms text regex regexp expression question")
	searchers = strings.Fields("grep egrep fgrep zgrep rg ag ack findstr select-string -name -iname -s -g")
)

// searchesFor reports whether the word with index k of a call is what the call searches for, and not the place where it searches.
func searchesFor(input string, k int) bool {
	next := false // the next word that is no option is what a shell command searches for
	for name, word := range namedWords(input) {
		option := strings.HasPrefix(word, "-") || strings.Trim(word, `\0123456789`) == ""
		if k == 0 {
			return slices.Contains(terms, name) || next && !option
		}
		next = slices.Contains(searchers, word) || next && option
		k--
	}
	return false
}

// differAlike reports whether two results, as lists of words, differ in one word and by the same characters as their calls, such as by the number
// of the file that is named in both.
func differAlike(call, otherCall, result, other []string) bool {
	if !differInOne(result, other) {
		return false
	}
	for k := range result {
		if result[k] != other[k] {
			x, y := cores(strings.ToLower(result[k]), strings.ToLower(other[k]))
			for n := range call {
				if a, b := cores(call[n], otherCall[n]); a != b {
					return a == x && b == y
				}
			}
		}
	}
	return false
}

// sharedLetters is the least number of consecutive characters that two variants of a name share beside their common beginning and end.
const sharedLetters = 3

// variants reports whether two words are variants of one name, as order and orders or parseHeader and header_parser are. They are if one is
// the other with additions other than digits, or if they share characters in other places than at their beginning and end.
func variants(a, b string) bool {
	a, b = cores(a, b)
	if a == "" || b == "" {
		return !strings.ContainsAny(a+b, "0123456789")
	}
	for k := 0; k+sharedLetters <= len(a); k++ {
		if strings.Contains(b, a[k:k+sharedLetters]) {
			return true
		}
	}
	return false
}

// cores returns two words without their common beginning and end.
func cores(a, b string) (string, string) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}
