package unloop

import (
	"slices"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// mentioned reports whether a text is about a new item: it has the identifier, or one of the numbers and ids, of the call that no earlier
// call of its tool has.
func (effort *Effort) mentioned(w *fingerprint.Words) bool {
	if effort.Names == 0 && effort.Item == 0 {
		return false
	}
	return slices.ContainsFunc(w.List, effort.isItem)
}

// about reports whether a text mentions a new item in a line that tells of no failure and denies nothing. Such a line tells of work on the
// item. Another line may only quote the call.
func (effort *Effort) about(w *fingerprint.Words) bool {
	for rest := w.List; ; {
		at := slices.IndexFunc(rest, effort.isItem)
		if at < 0 {
			return false
		}
		from, to := at, at+1
		for from > 0 && !rest[from].First {
			from--
		}
		for to < len(rest) && !rest[to].First {
			to++
		}
		if !slices.ContainsFunc(rest[from:to], fingerprint.TellsFailureOrNegates) {
			return true
		}
		rest = rest[to:]
	}
}

// isItem reports whether a word is an identifier, a number or an id of the call that no earlier call of its tool has.
func (effort *Effort) isItem(word fingerprint.Word) bool {
	switch h := word.Hash; {
	case h == 0:
		return false
	case h == effort.Item:
		return true
	default:
		return effort.Words <= namingWords && word.Kind != fingerprint.Letters && (h == uint32(effort.Names) || h == uint32(effort.Names>>32))
	}
}

// names reports whether the outcome has a word.
func (o *reading) names(word uint32) bool {
	return word != 0 && slices.ContainsFunc(o.words.List, func(w fingerprint.Word) bool { return w.Hash == word })
}
