package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// novelty is the content of a text, compared with everything that the run has seen.
type novelty struct {
	Runs     int     // sequences of four words, and shorter items
	Fresh    float64 // of these, those that are new to the run
	Numbers  float64 // the part of Fresh that is new in its numbers only
	Template uint32  // fingerprint of the items in any order, without ids and without the words of the call
	Symptoms int     // items that tell of a failure
	Known    int     // of these, those that the run has seen, with any numbers
	Returned int     // of these, those that it has seen twice
	Lines    int     // items that are new in their words, without numbers, ids and the words of the call
	Shows    bool    // one of these tells of the word that the latest change introduced
}

// share adds the sequences of four words of a call, and returns the share of them that is new.
func (m *meter) share(w *fingerprint.Words) float64 {
	n := m.novelty(w, nil)
	return n.Fresh / float64(n.Runs+1)
}

// The fingerprints of classes of words. A word has one of them only by chance.
const (
	anyID     = 2 // an id, or a number of a failure
	anyEcho   = 3 // a word of the call
	anyNumber = 4 // a number
)

// How sequences with new numbers count.
const (
	numberNovelty = 0.5 // the novelty of a sequence that is new in its numbers only
	numberedItem  = 5   // the least number of words of an item in which a number is one word among others
)

// novelty adds the sequences of four words in each item to the set of what was seen, and counts the new ones. An item is a line, a
// sentence or a JSON member. An item of fewer than four words is one sequence. If from is nil, the text is a call.
//
// A sequence in an outcome is not new if it differs from a known one only in words of the call. A sequence of nothing but words of the
// call is compared as it is, because a long call has many words. A sequence that differs from a known one only in numbers counts half.
// All ids are equal, unless the outcome is about a new item. In a failure, all numbers are equal, too.
func (m *meter) novelty(w *fingerprint.Words, from *origin) (n novelty) {
	var buffer sequences
	for rest := w.List; len(rest) > 0; {
		var item []fingerprint.Word
		item, rest = cutItem(rest)
		letters, before := uint32(0), n.Fresh
		if from != nil {
			letters = m.readItem(&n, item, from)
		}
		if len(item) < 4 {
			m.addShort(&n, item, from)
		} else {
			m.addSequences(&n, item, from, &buffer)
		}
		if letters != 0 && n.Fresh > before && m.Seen.add(letters^saltLine) {
			n.Lines++
			n.Shows = n.Shows || m.Causes.shows(item, &from.words)
			if from.tells {
				m.keepTold(item)
			}
		}
	}
	return n
}

// readItem adds the template of an item of an outcome to n, and its symptom if it tells of a failure. It keeps the names and ids that later
// calls may take from the item, and then masks the ids. It returns the fingerprint of the words of the item without numbers and ids, 0 if
// there are none.
func (m *meter) readItem(n *novelty, item []fingerprint.Word, from *origin) (letters uint32) {
	template, letters, fails := from.template(item)
	n.Template += template
	if fails {
		n.addSymptom(m, letters)
	}
	switch {
	case from.tells:
		m.keepToldNames(item)
	case from.writes:
		m.keepOwnIDs(item)
	}
	from.maskIDs(item)
	return letters
}

// addShort adds an item of fewer than four words to n. Its last word fills up the sequence.
func (m *meter) addShort(n *novelty, item []fingerprint.Word, from *origin) {
	var run [4]fingerprint.Word
	for k := range run {
		run[k] = item[min(k, len(item)-1)]
	}
	n.Runs++
	if m.Seen.add(fingerprint.Run4(fingerprint.Run2(run[0], run[1]), fingerprint.Run2(run[2], run[3]))) {
		n.addFresh(m.runNovelty(&run, from, len(item)), 1)
	}
}

// addSequences adds the sequences of an item of four words or more to n. Of a long item, each sequence that is looked up counts for two.
func (m *meter) addSequences(n *novelty, item []fingerprint.Word, from *origin, buffer *sequences) {
	weight := 1
	if len(item) >= sampledFrom {
		weight = 2
	}
	for k := 3; k < len(item); {
		var found int
		found, k = buffer.read(item, k)
		n.Runs += weight * found
		for _, s := range buffer[:found] {
			if m.Seen.add(s.fingerprint) {
				n.addFresh(m.runNovelty((*[4]fingerprint.Word)(item[s.end-3:]), from, len(item)), weight)
			}
		}
	}
}

// addFresh counts sequences that the set did not have. fresh is the novelty of each.
func (n *novelty) addFresh(fresh float64, runs int) {
	n.Fresh += float64(runs) * fresh
	if fresh == numberNovelty {
		n.Numbers += float64(runs) * fresh
	}
}

// addSymptom counts an item that tells of a failure.
func (n *novelty) addSymptom(m *meter, symptom uint32) {
	n.Symptoms++
	switch m.Seen.times(symptom, saltSymptom, saltReturnedSymptom) {
	case 1:
		n.Known++
	case 2:
		n.Known++
		n.Returned++
	}
}

// runNovelty returns the novelty of a sequence that the set did not have, from 0 to 1. length is the number of words of its item.
func (m *meter) runNovelty(run *[4]fingerprint.Word, from *origin, length int) float64 {
	if from == nil {
		return 1
	}
	var masked [4]uint32
	echoes, numbers := 0, false
	for k := range run {
		word := &run[k]
		switch masked[k] = word.Hash; {
		case from.words.has(word.Hash):
			masked[k] = anyEcho
			echoes++
		case word.Kind == fingerprint.Number && length >= numberedItem && !from.about:
			masked[k], numbers = anyNumber, true
		}
	}
	switch {
	case echoes == 0 && !numbers, echoes == len(masked), m.Seen.add(fingerprint.RunOf(masked)):
		return 1
	case numbers:
		return numberNovelty
	}
	return 0
}
