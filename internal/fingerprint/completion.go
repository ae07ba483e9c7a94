package fingerprint

import "strings"

// Completion returns the progress that a text states: N and M of the first "N of M" or "N out of M", or N and 0 of the first "N %". It
// returns 0 and 0 if there is none. It reads the first 4 KiB.
func Completion(text string) (done, of float64) {
	text = text[:min(len(text), readHead+readTail)]
	for i := indexDigit(text, 0); i < len(text); i = indexDigit(text, i+1) {
		if i > 0 && (class[text[i-1]]&wordByte != 0 || text[i-1] == '.' || text[i-1] == '/') {
			continue
		}
		end := i
		for end < len(text) && (class[text[end]]&digit != 0 || text[end] == '.' && end+1 < len(text) && class[text[end+1]]&digit != 0) {
			end++
		}
		if of, ok := total(text[end:min(len(text), end+16+maxDigits)]); ok {
			return decimal([]byte(text[i:min(end, i+maxDigits)])), of
		}
		i = end
	}
	return 0, 0
}

// total reports whether the text after a number is a percent sign or a total, such as "of 10". It returns the total, 0 for a percent sign.
func total(text string) (of float64, ok bool) {
	text = strings.TrimLeft(text, " ")
	if strings.HasPrefix(text, "%") || strings.HasPrefix(text, "percent") {
		return 0, true
	}
	for _, word := range [...]string{"out of ", "of the ", "of "} {
		if rest, ok := strings.CutPrefix(text, word); ok {
			rest = strings.TrimLeft(rest, " ")
			if rest == "" || class[rest[0]]&digit == 0 {
				return 0, false
			}
			return decimal([]byte(rest)), true
		}
	}
	return 0, false
}
