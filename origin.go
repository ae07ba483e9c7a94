package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// origin is the call that an outcome belongs to.
type origin struct {
	words  wordSet // of the call
	about  bool    // the outcome mentions an item that no earlier call of its tool names
	failed bool    // the call failed
	tells  bool    // the outcome tells of a failure
	writes bool    // the call may change something
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
		line = chain(line, h)
		if word.Kind == fingerprint.Letters && h != anyEcho && h != latest { // a word once more is no other word
			latest = h
			letters = chain(letters, h)
			fails = fails || fingerprint.TellsFailure(word)
		}
	}
	return line * 0x85EBCA6B, letters, fails
}
