package settings

import "strings"

// Nearest returns the one of names that somebody who wrote word has most likely meant, or "" if none is near. It takes time
// proportional to the length of word and of all names together.
func Nearest(word string, names []string) string {
	best, least := "", len(word)/4+2 // changes from which on it is another word
	for _, name := range names {
		if d := changes(strings.ToLower(word), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// changes returns how many letters must be put in, taken out or replaced to make b of a (Levenshtein's distance; O(len a · len b)).
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
