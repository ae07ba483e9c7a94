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

// Of a long item, about half of the sequences are looked up: those whose fingerprint lacks a bit.
const (
	sampledFrom = 12      // the least number of words of a long item
	sampled     = 1 << 16 // the bit
)

// How sequences with new numbers count.
const (
	numberNovelty = 0.5 // the novelty of a sequence that is new in its numbers only
	numberedItem  = 5   // the least number of words of an item in which a number is one word among others
)

// origin is the call that an outcome belongs to.
type origin struct {
	words  wordSet // of the call
	about  bool    // the outcome mentions an item that no earlier call of its tool names
	failed bool    // the call failed
	tells  bool    // the outcome tells of a failure
	writes bool    // the call may change something
}

// novelty adds the sequences of four words in each item to the set of what was seen, and counts the new ones. An item is a line, a
// sentence or a JSON member. An item of fewer than four words is one sequence. If from is nil, the text is a call.
//
// A sequence in an outcome is not new if it differs from a known one only in words of the call. A sequence of nothing but words of the
// call is compared as it is, because a long call has many words. A sequence that differs from a known one only in numbers counts half.
// All ids are equal, unless the outcome is about a new item. In a failure, all numbers are equal, too.
func (m *meter) novelty(w *fingerprint.Words, from *origin) (n novelty) {
	var sequences sequences
	for words := w.List; len(words) > 0; {
		length := 1
		for length < len(words) && !words[length].First {
			length++
		}
		item := words[:length]
		words = words[length:]
		letters, before := uint32(0), n.Fresh
		if from != nil {
			template, said, fails := from.template(item)
			n.Template += template
			if letters = said; fails {
				n.addSymptom(m, letters)
			}
			switch {
			case from.tells:
				m.keepToldNames(item)
			case from.writes:
				m.keepOwnIDs(item)
			}
			from.maskIDs(item)
		}
		if length < 4 {
			var run [4]fingerprint.Word
			for k := range run {
				run[k] = item[min(k, length-1)]
			}
			n.Runs++
			if m.Seen.add(fingerprint.Run4(fingerprint.Run2(run[0], run[1]), fingerprint.Run2(run[2], run[3]))) {
				n.addFresh(m.runNovelty(&run, from, length), 1)
			}
		}
		for k := 3; k < length; {
			var found int
			found, k = sequences.read(item, k)
			weight := 1
			if length >= sampledFrom {
				weight = 2
			}
			n.Runs += weight * found
			for _, s := range sequences[:found] {
				if m.Seen.add(s.fingerprint) {
					n.addFresh(m.runNovelty((*[4]fingerprint.Word)(item[s.end-3:]), from, length), weight)
				}
			}
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

// sequences are sequences of four consecutive words of an item.
type sequences [32]struct {
	fingerprint uint32
	end         uint32 // the index of the last word
}

// read reads those that end with the word at index k or after it and are looked up, as many as there is room for. It returns their number
// and the index at which to continue. It has no branch for a sample, because no processor can predict one.
func (s *sequences) read(item []fingerprint.Word, k int) (n, next int) {
	skipped := uint32(0) // the bit of those that are not looked up
	if len(item) >= sampledFrom {
		skipped = sampled
	}
	first, second := fingerprint.Run2(item[k-3], item[k-2]), fingerprint.Run2(item[k-2], item[k-1])
	for ; k < len(item) && n < len(s); k++ {
		last := fingerprint.Run2(item[k-1], item[k])
		run := fingerprint.Run4(first, last)
		first, second = second, last
		s[n].fingerprint, s[n].end = run, uint32(k)
		n += int(1 - run&skipped/sampled)
	}
	return n, k
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

// maskIDs gives all ids that follow a word, and all numbers of a failure, one fingerprint. An item of fewer than four words keeps its
// ids, except behind the word id.
func (from *origin) maskIDs(item []fingerprint.Word) {
	for k := 1; k < len(item) && !from.about; k++ {
		if len(item) < 4 && !fingerprint.NamesID(item[k-1]) {
			continue
		}
		if item[k].Kind == fingerprint.Mixed && item[k-1].Kind == fingerprint.Letters || from.failed && item[k].Kind == fingerprint.Number {
			item[k].Hash = anyID
		}
	}
}

// template returns the fingerprint of an item of an outcome, without the words of the call, without ids and, in a failure, without
// numbers. letters is the fingerprint of its words without numbers and ids, 0 if there are none. fails means that it tells of a failure.
func (from *origin) template(item []fingerprint.Word) (template, letters uint32, fails bool) {
	line, latest := uint32(len(item)), uint32(0)
	for k, word := range item {
		h := word.Hash
		switch {
		case word.Kind == fingerprint.Number:
			if from.failed {
				h = anyID
			}
		case from.words.has(h):
			h = anyEcho
		case word.Kind == fingerprint.Mixed && k > 0 && item[k-1].Kind == fingerprint.Letters:
			h = anyID
		}
		line = (line ^ h) * 0x9E3779B1
		line ^= line >> 15
		if word.Kind == fingerprint.Letters && h != anyEcho && h != latest { // a word once more is no other word
			latest = h
			letters = (letters ^ h) * 0x9E3779B1
			letters ^= letters >> 15
			fails = fails || fingerprint.TellsFailure(word)
		}
	}
	return line * 0x85EBCA6B, letters, fails
}

// echoedWords is the number of words of a call that its wordSet contains.
const echoedWords = 48

// wordSet is a Bloom filter of the words of a call, with two bits for each. With 48 words, 3 % of other words appear to be members.
type wordSet [8]uint64

func (s *wordSet) add(h uint32) {
	s[h>>6&7] |= 1 << (h & 63)
	s[h>>22&7] |= 1 << (h >> 16 & 63)
}

func (s *wordSet) has(h uint32) bool {
	return s[h>>6&7]&(1<<(h&63)) != 0 && s[h>>22&7]&(1<<(h>>16&63)) != 0
}
