package fingerprint

import (
	"slices"
	"strings"
)

// Ending is the end of an attempt, according to the words of a text.
type Ending uint8

// The endings.
const (
	NoEnding Ending = iota // the text does not say
	Done                   // something was done
	Nothing                // nothing was found
	Refused                // the attempt failed or was refused
)

var (
	zero          = hashWord([]byte("0"), 1)
	lettersOfCan  = hashWord([]byte("can"), 3) // of can't, which are two words
	lettersOfNot  = hashWord([]byte("t"), 1)
	no            = hashWord([]byte("no"), 2)
	longer        = hashWord([]byte("longer"), 6)
	could         = hashWord([]byte("could"), 5)
	not           = hashWord([]byte("not"), 3)
	ok            = hashWord([]byte("ok"), 2)
	success       = hashWord([]byte("success"), 7)
	lettersOfTrue = hashWord([]byte("true"), 4)
	statusWord    = hashWord([]byte("status"), 6)
	exitWord      = hashWord([]byte("exit"), 4)
	purpose       = hashWord([]byte("to"), 2) // the failure after it is what a command is about: "to display errors"
	countedBy     = [...]uint32{hashWord([]byte("total"), 5), hashWord([]byte("count"), 5), hashWord([]byte("hits"), 4), hashWord([]byte("matches"), 7)}
	nones         = [...]uint32{hashWord([]byte("none"), 4), hashWord([]byte("null"), 4), zero}
)

// zeroSays is what the number 0 says: nothing was found of what the next word names. No word of the vocabulary says the same.
const zeroSays = absence | asks

// shortAnswer is the number of words from which on a text is more than an acknowledgement in an envelope.
const shortAnswer = 15

// early is the number of words at the beginning of a text that can say how an attempt ended.
const early = 24

// classify sets Ending, Shape and Tail from the words in List from index from on. The first word that says an ending decides.
func (w *Words) classify(from int) {
	w.readEnding(from)
	shape := w.Shape
	line, numbers, status := Hash(0), 0, false
	for _, word := range w.List[from:] {
		if word.First {
			w.tail(line, numbers, status)
			line, numbers, status = 0, 0, false
		}
		shown := Hash(word.Hash)
		switch {
		case word.Kind == Number:
			shown = 1
			numbers++
		case word.Kind != Letters:
			shown = 1
		case word.Hash == exitWord:
			status = true
		}
		shape = (shape ^ shown) * golden
		shape ^= shape >> 29
		line = (line ^ shown) * golden
		line ^= line >> 29
	}
	w.tail(line, numbers, status)
	w.Shape = shape
	if w.worked && w.Ending == NoEnding && len(w.List) < shortAnswer {
		w.Ending = Done
	}
	if w.Tail.Count+w.after > len(w.latest) {
		w.Tail = Tail{}
	}
	for k := range w.Tail.Count {
		w.Tail.Numbers[k] = w.latest[(w.seen-w.after-w.Tail.Count+k)%len(w.latest)]
	}
}

// readEnding sets Ending, Zero and Passing from those of the first words that are in List from index from on.
func (w *Words) readEnding(from int) {
	if from >= early {
		return
	}
	for k, word := range w.List[from:min(early, len(w.List))] {
		at := from + k
		if word.First {
			w.before = 0
		}
		switch {
		case word.Hash == zero && word.Kind == Number:
			if w.isCount(at) {
				w.say(absence, false)
				w.Zero = w.Zero || w.Ending == Nothing
			}
			w.before = zeroSays
		case word.Kind != Letters:
			w.before = 0
		default:
			if says := saysOf(word.Hash); says != 0 && !w.denied(at, says) {
				w.readWord(at, says)
			} else {
				w.before = 0
			}
		}
	}
}

// readWord is readEnding for the word of letters at an index, which is in the vocabulary.
func (w *Words) readWord(at int, says uint16) {
	switch h := w.List[at].Hash; {
	case says&does != 0 && w.isEnvelope(at):
		says, w.worked = 0, true
	case at > 0 && (h == not && w.List[at-1].Hash == could || h == lettersOfNot && w.List[at-1].Hash == lettersOfCan):
		says = fails
	case h == no && w.isWithout(at):
		says = absence
	}
	w.say(says, at == 0)
}

// isWithout reports whether the word no means that something is missing: "no slots on Monday", but not "no errors" and "no longer".
func (w *Words) isWithout(at int) bool {
	if at+1 == len(w.List) {
		return false
	}
	next := w.List[at+1]
	return !next.First && next.Kind == Letters && next.Hash != longer && saysOf(next.Hash) == 0
}

// isEnvelope reports whether the word at an index says only that the call worked: "ok": true, "status": "success". A member such as
// "deleted": true tells what was done.
func (w *Words) isEnvelope(at int) bool {
	if h := w.List[at].Hash; h != ok && h != success {
		return false
	}
	if at+1 < len(w.List) && w.List[at+1].Hash == lettersOfTrue && !w.List[at+1].First {
		return true
	}
	return at > 0 && !w.List[at].First && w.List[at-1].First && w.List[at-1].Hash == statusWord
}

// isCount reports whether the number at an index is a count of what was found, as in "total": 0.
func (w *Words) isCount(at int) bool {
	if at == 0 || w.List[at].First || !slices.Contains(countedBy[:], w.List[at-1].Hash) {
		return false
	}
	return at < 2 || w.List[at-1].First || saysOf(w.List[at-2].Hash) == 0
}

// Requested returns fingerprints of the words that tell of a failure unless a tool with this name reports them, at most two: lock_account
// reports "locked", and list_errors reports "errors". words yields the words of the name in lower case.
func Requested(words func(yield func(string) bool)) (requested [2]uint32) {
	n := 0
	for word := range words {
		stem := strings.TrimSuffix(strings.TrimSuffix(word, "s"), "e")
		for _, end := range [...]string{"", "s", "e", "es", "ed", "ing"} {
			form := stem + end
			if end == "ed" && strings.HasSuffix(stem, "y") {
				form = stem[:len(stem)-1] + "ied"
			}
			if h := hashWord([]byte(form), len(form)); saysOf(h)&fails != 0 && n < len(requested) {
				requested[n] = h
				n++
			}
		}
	}
	return requested
}

// denied reports whether the text says that a failure did not happen: "no errors", "0 failed", "Error: (none)", "to display errors".
func (w *Words) denied(at int, says uint16) bool {
	if says&fails == 0 {
		return false
	}
	if h := w.List[at].Hash; h == w.Requested[0] || h == w.Requested[1] {
		return true
	}
	if w.before == zeroSays || w.before&negates != 0 {
		return true
	}
	if at+1 < len(w.List) && !w.List[at+1].First && w.List[at+1].Hash != 0 && slices.Contains(nones[:], w.List[at+1].Hash) {
		return true
	}
	return at >= 2 && !w.List[at].First && !w.List[at-1].First && w.List[at-2].Hash == purpose
}

// tail keeps a line as the Tail if it has numbers and is not about the exit status.
func (w *Words) tail(shape Hash, numbers int, status bool) {
	if numbers == 0 || status {
		w.after += numbers
		return
	}
	w.Tail.Shape, w.Tail.Count, w.after = shape, min(numbers, tailNumbers), 0
}

// say sets Ending, Zero and Passing by what a word says. first means that it is the first word of the text. Behind an envelope that says that
// the call worked, a word of failure is content, such as "errors": [].
func (w *Words) say(says uint16, first bool) {
	negated, counted := w.before&negates != 0, w.before == zeroSays
	w.before = says
	w.Passing = w.Passing || says&passes != 0
	switch {
	case w.Ending != NoEnding:
	case says&state != 0 && first:
		w.Ending = Done
	case w.worked && (says&fails != 0 || says&asks != 0 && first):
	case w.worked && says&lacks != 0 && negated:
		w.Ending = Nothing
	case says&fails != 0, says&lacks != 0 && negated, says&asks != 0 && first:
		w.Ending = Refused
	case says&absence != 0, says&does != 0 && negated, says&finds != 0 && (negated || counted):
		w.Ending = Nothing
		w.Zero = counted && says&finds != 0
	case says&does != 0 && !negated:
		w.Ending = Done
	}
}
