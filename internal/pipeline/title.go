package pipeline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle is the maximum number of characters of a title.
const maxTitle = 80

// TitleOf returns the name of a run without a name of its own, from a message of its user: the first line with a letter or a digit,
// cut between words, without punctuation before the ellipsis. It returns "" for a message that is a block of tags, which a program
// wrote, and for content that is not stored.
func TitleOf(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<") || strings.HasPrefix(text, notStored) {
		return ""
	}
	for line := range strings.Lines(text) {
		if strings.ContainsFunc(line, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }) {
			return cutTitle(strings.Join(strings.FieldsFunc(line, notShown), " "))
		}
	}
	return ""
}

// notShown reports whether a character separates words or is not visible.
func notShown(c rune) bool { return unicode.IsSpace(c) || !unicode.IsGraphic(c) }

func cutTitle(title string) string {
	if utf8.RuneCountInString(title) <= maxTitle {
		return title
	}
	title = string([]rune(title)[:maxTitle-1])
	if k := strings.LastIndexByte(title, ' '); k > len(title)/2 {
		title = title[:k]
	}
	return strings.TrimRight(title, " .,:;–-") + "…"
}
