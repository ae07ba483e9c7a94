package api

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/unloop-ai/unloop/internal/store"
)

// hintsOf returns what looks like a mistake of the sender of a run; never nil.
func hintsOf(r *store.Run) []string {
	hints := append([]string{}, r.Hints...)
	for k, name := range r.Tools {
		for _, other := range r.Tools[k+1:] {
			if oneLetterApart(name, other) {
				hints = append(hints, fmt.Sprintf("The tools %q and %q differ by one letter. A loop of both is not seen as one.", name, other))
			}
		}
	}
	return hints
}

// leastName is the length from which a difference of one letter looks like a mistake.
const leastName = 5

// oneLetterApart reports whether two names differ by one letter that is missing, added, replaced or swapped with the next, or by case.
// Names that differ in a digit, such as step1 and step2, are two names.
func oneLetterApart(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(x) < leastName || len(y)-len(x) > 1 {
		return false
	}
	if strings.EqualFold(a, b) {
		return true
	}
	from := 0
	for from < len(x) && x[from] == y[from] {
		from++
	}
	i, j := len(x), len(y)
	for i > from && j > from && x[i-1] == y[j-1] {
		i, j = i-1, j-1
	}
	left, right := x[from:i], y[from:j]
	if strings.ContainsFunc(string(left)+string(right), func(r rune) bool { return !unicode.IsLetter(r) }) {
		return false
	}
	swapped := len(left) == 2 && len(right) == 2 && left[0] == right[1] && left[1] == right[0]
	return len(left) <= 1 && len(right) <= 1 && string(right) != "s" || swapped // a plural is another name
}
