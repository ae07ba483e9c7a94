package settings

import (
	"fmt"
	"strings"
)

// DidYouMean returns the end of a message about an unknown word: a question with the most similar name, or "" if none is similar.
func DidYouMean(word string, names []string) string {
	if asked := question(word, names); asked != "" {
		return "; " + asked
	}
	return ""
}

// DidYouMeanWithin returns the question of DidYouMean in parentheses, for a message that continues after it.
func DidYouMeanWithin(word string, names []string) string {
	if asked := question(word, names); asked != "" {
		return " (" + asked + ")"
	}
	return ""
}

func question(word string, names []string) string {
	near := Nearest(word, names)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", near)
}

// Nearest returns the name that is most similar to word, or that alone begins with it, or "" if there is none. It takes time
// proportional to the length of word and of all names together.
func Nearest(word string, names []string) string {
	best, least := "", len(word)/4+2 // maximum distance of a similar name, plus 1
	var begun []string
	for _, name := range names {
		if len(word) >= 3 && strings.HasPrefix(name, word) {
			begun = append(begun, name)
		}
		if d := changes(strings.ToLower(word), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	if best == "" && len(begun) == 1 {
		return begun[0]
	}
	return best
}

// changes returns the Levenshtein distance of a and b, in O(len a · len b).
func changes(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := corner
			if a[i] != b[j] {
				replaced++
			}
			corner = row[j+1]
			row[j+1] = min(replaced, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
