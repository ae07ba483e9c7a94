package detect

import (
	"slices"
	"strings"
	"unicode"

	"github.com/unloop-ai/unloop"
)

// A series is a row of calls of one tool that ask the same of one item after another: of the files of a folder, of the hosts of a rack.

// leastSeries is the number of calls from which on they are a series.
const leastSeries = 4

// goesThroughItems reports whether the latest n calls of the step's tool, up to the step, go through a series of items, all with one result,
// which is no failure. Each call names something new or gets its answer for the first time, and seriesCall.sameSeries compares it with the
// step. No other tool changes something in between, because then it makes the items, such as the next version of a patch. It reads the
// excerpts of at most 10 steps.
func goesThroughItems(r *unloop.Run, step *unloop.Step, n int) bool {
	latest := seriesCallOf(r, step)
	seen := 0
	for k := 0; k < excerpts && seen < n; k++ {
		s := r.StepAt(k)
		switch {
		case s == nil, s.Tool != step.Tool && s.Effort.Writes:
			return false
		case s.Tool != step.Tool:
			continue
		case s.Effort.Yield == unloop.Failure, !s.Effort.NamesItem() && s.Repeats.N > 1:
			return false
		case s.Number != step.Number && !latest.sameSeries(seriesCallOf(r, s)):
			return false
		}
		seen++
	}
	return seen == n
}

// seriesCall is a step that may be one of a series, with the excerpts of its call and its result.
type seriesCall struct {
	step          *unloop.Step
	input, output string
	words         []term // of the call
	cut           bool   // the excerpt of the call is cut off
}

func seriesCallOf(r *unloop.Run, step *unloop.Step) seriesCall {
	c := seriesCall{step: step}
	c.input, c.output = r.Excerpt(step)
	c.words, c.cut = termsOf(c.input)
	return c
}

// sameSeries reports whether the call and an earlier one are about two items of a series. They differ in one item, as differInItem says. Their
// results are equal without ids and the words of the calls, or differ like the calls, or differ in numbers and dates. Or the earlier result is
// new, as that of the first of several files that are verified. Words that are searched for without a match are no items, because other words
// for one thing look alike. A long result must mention the item. Otherwise the page has not changed.
func (c *seriesCall) sameSeries(earlier seriesCall) bool {
	now, before := c.words, earlier.words
	if c.cut && earlier.cut { // the ends are not known
		n := min(len(now), len(before))
		now, before = now[:n], before[:n]
	}
	at, ok := differInItem(now, before)
	if !ok || earlier.step.Effort.Yield == unloop.NothingFound && searchesFor(c.step.Tool, c.input, at) {
		return false
	}
	long := strings.HasSuffix(c.output, "…") && !c.step.Effort.Mentions
	if long && !tells(c.output, earlier.output, now[at].word) {
		return false
	}
	return earlier.step.Effort.Template == c.step.Effort.Template || earlier.step.Effort.Novelty >= newAnswer ||
		differAlike(now, before, c.output, earlier.output)
}

// term is a word of a call, with the name of its argument.
type term struct{ name, word string }

// tells reports whether a result tells of an item: it contains the name of the item, or the item has letters and the result differs from the
// one before. A bare number, such as how far a page is scrolled, is no name.
func tells(result, before, item string) bool {
	return strings.Contains(strings.ToLower(result), item) || result != before && strings.ContainsFunc(item, unicode.IsLetter)
}

// termsOf returns the words of a call's excerpt, without the last one of an excerpt that is cut off, because that may be a part of a word.
func termsOf(input string) (all []term, cut bool) {
	for name, word := range namedWords(input) {
		all = append(all, term{name, word})
	}
	cut = strings.HasSuffix(input, "…")
	if cut && len(all) > 0 {
		all = all[:len(all)-1]
	}
	return all, cut
}

// itemWords is the most words of an item that is an argument beside others, such as the name of a company.
const itemWords = 3

// differInItem reports whether two calls are about two items, and the index of the first word in which the first call differs. They are if they
// differ in one word, or in one name that several words contain, such as a host and its address, and neither name is a variant of the other.
// They also are if they have several arguments and differ in one of up to three words, and at most in another one of one word, such
// as the country of a company. None of the words is then a variant of the other in its place.
func differInItem(x, y []term) (at int, ok bool) {
	if at, ok = differInName(x, y); ok {
		return at, true
	}
	equal, others, item, n := 0, 0, -1, 0
	for len(x) > 0 && len(y) > 0 {
		a, b := argument(x), argument(y)
		switch {
		case a[0].name != b[0].name:
			return 0, false
		case slices.Equal(a, b):
			equal++
		case item < 0 && otherItem(a, b):
			item = n
		case len(a) == 1 && len(b) == 1:
			others++
		default:
			return 0, false
		}
		n += len(a)
		x, y = x[len(a):], y[len(b):]
	}
	return item, len(x) == len(y) && item >= 0 && equal > 0 && others < 2
}

// differInName reports whether two lists of words of the same length differ in one name, and where it is first: at all positions where they
// differ, the words without their common beginning and end are the same two, and these are no variants.
func differInName(x, y []term) (at int, ok bool) {
	if len(x) != len(y) {
		return 0, false
	}
	at = -1
	var one, other string
	for k := range x {
		if x[k] == y[k] {
			continue
		}
		a, b := cores(x[k].word, y[k].word)
		if at >= 0 && (a != one || b != other) {
			return 0, false
		}
		if at < 0 {
			at, one, other = k, a, b
		}
	}
	return at, at >= 0 && !variants(x[at].word, y[at].word)
}

// argument returns the words at the beginning of a list that belong to one argument.
func argument(words []term) []term {
	n := slices.IndexFunc(words, func(word term) bool { return word.name != words[0].name })
	if n < 0 {
		return words
	}
	return words[:n]
}

// otherItem reports whether two values of an argument name two items: none of their words is a variant of the word in its place.
func otherItem(a, b []term) bool {
	if len(a) > itemWords || len(b) > itemWords || a[0].word == b[0].word {
		return false
	}
	for k := range min(len(a), len(b)) {
		if a[k] != b[k] && variants(a[k].word, b[k].word) {
			return false
		}
	}
	return true
}

// terms are the names of arguments, and searchers the programs and options of shell commands, that are followed by what is searched for.
var (
	terms     = strings.Fields("pattern query q search keyword keywords term terms text regex regexp expression question")
	searchers = strings.Fields("grep egrep fgrep zgrep rg ag ack findstr select-string -name -iname -s -g")
)

// searchesFor reports whether the word with index k of a call is what the call searches for, and not the place where it searches. It is if
// the input is a text instead of arguments, and the name of the tool says that the tool searches.
func searchesFor(tool, input string, k int) bool {
	next := false // the next word that is no option is what a shell command searches for
	for name, word := range namedWords(input) {
		option := strings.HasPrefix(word, "-") || strings.Trim(word, `\0123456789`) == ""
		if k == 0 {
			return slices.Contains(terms, name) || name == "" && searchesByName(tool) || next && !option
		}
		next = slices.Contains(searchers, word) || next && option
		k--
	}
	return false
}

// searchesByName reports whether a tool searches, according to the words of its name.
func searchesByName(tool string) bool {
	for word := range unloop.Words(tool) {
		switch word {
		case "search", "find", "lookup", "query", "grep":
			return true
		}
	}
	return false
}

// months are the names of months in dates.
var months = strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")

// differAlike reports whether two results differ only in numbers, in months, and by the same characters as their calls,
// such as by the number of the file that is named in both.
func differAlike(call, otherCall []term, shown, otherShown string) bool {
	result, other := strings.Fields(shown), strings.Fields(otherShown)
	if strings.HasSuffix(shown, "…") && strings.HasSuffix(otherShown, "…") { // the ends are not known
		n := min(len(result), len(other)) - 1
		result, other = result[:n], other[:n]
	}
	if len(result) != len(other) {
		return false
	}
	var one, another string // what the calls differ in
	for n := range min(len(call), len(otherCall)) {
		if one, another = cores(call[n].word, otherCall[n].word); one != another {
			break
		}
	}
	for k := range result {
		a, b := strings.ToLower(result[k]), strings.ToLower(other[k])
		if a == b || isValue(a) && isValue(b) {
			continue
		}
		if x, y := cores(a, b); x != one || y != another || one == another {
			return false
		}
	}
	return true
}

// isValue reports whether a word has a digit or ends with the short name of a month.
func isValue(word string) bool {
	word = strings.TrimRight(word, ".,;:")
	return strings.ContainsAny(word, "0123456789") ||
		slices.ContainsFunc(months, func(month string) bool { return strings.HasSuffix(word, month) })
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
