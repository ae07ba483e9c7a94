package unloop

import (
	"slices"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// causes relates failures to the changes after them. A change may name what the latest failure told of. If the same question then fails
// without that word, and with a line in new words, the change removed one cause, and the failure is another one. A change may also
// introduce a word, such as a value to print. If the next outcome tells of it in a line of its own, the change showed something.
type causes struct {
	Told       wordSet   `json:",omitzero"` // words of the latest failure that no earlier one had in a new line
	Of         Hash      `json:",omitzero"` // Step.TargetHash of that failure
	Named      [4]uint32 `json:",omitzero"` // the first of these words that later calls that may change something named; 0 for none
	Introduced uint32    `json:",omitzero"` // fingerprint of the first new word of the latest change; 0 for none
	Change     wordSet   `json:",omitzero"` // words of the latest change
}

// keepTold adds the words of a line that no earlier failure had.
func (m *meter) keepTold(line []fingerprint.Word) {
	for _, word := range line {
		if word.Kind == fingerprint.Letters && m.Seen.add(word.Hash^saltCause) {
			m.Causes.Told.add(word.Hash)
		}
	}
}

// keepToldNames adds the numbers and ids of an item that no earlier failure had.
func (m *meter) keepToldNames(item []fingerprint.Word) {
	for _, word := range item {
		if (word.Kind == fingerprint.Number || word.Kind == fingerprint.Mixed) && m.Seen.add(word.Hash^saltCause) {
			m.Causes.Told.add(word.Hash)
		}
	}
}

// keepOwnIDs adds the ids that a call which may change something gave. A failure that tells of them tells nothing that the agent did not know.
func (m *meter) keepOwnIDs(item []fingerprint.Word) {
	for _, word := range item {
		if word.Kind == fingerprint.Mixed {
			m.Seen.add(word.Hash ^ saltCause)
		}
	}
}

// keepNamed keeps the words of a call that the latest failure told of. It reports whether there are any that no call before has named.
func (c *causes) keepNamed(call []fingerprint.Word) (heeds bool) {
	if c.Of == 0 {
		return false
	}
	for _, word := range call {
		if !c.Told.has(word.Hash) || slices.Contains(c.Named[:], word.Hash) {
			continue
		}
		free := slices.Index(c.Named[:], 0)
		if free < 0 {
			return heeds
		}
		c.Named[free], heeds = word.Hash, true
	}
	return heeds
}

// begin prepares for the outcome of a step. If it is a failure, it becomes the latest one. begin returns the words of the failure before that
// calls have named since, if that was a failure of the same question.
func (c *causes) begin(step *Step, excused int, failing bool) (named [4]uint32) {
	if excused == 0 {
		c.Introduced = 0
	}
	if !failing {
		if c.Of == step.TargetHash {
			c.Of = 0
		}
		return named
	}
	if c.Of == step.TargetHash {
		named = c.Named
	}
	c.Told, c.Of, c.Named = wordSet{}, step.TargetHash, [4]uint32{}
	return named
}

// removed reports whether a failure lacks one of the words that were named.
func removed(named [4]uint32, w *fingerprint.Words) bool {
	return slices.ContainsFunc(named[:], func(h uint32) bool {
		return h != 0 && !slices.ContainsFunc(w.List, func(word fingerprint.Word) bool { return word.Hash == h })
	})
}

// introduce keeps the first new word of a change.
func (c *causes) introduce(effort *Effort, words *wordSet) {
	c.Introduced, c.Change = 0, wordSet{}
	if effort.Word != 0 && effort.Words <= echoedWords {
		c.Introduced, c.Change = effort.Word, *words
	}
}

// shows reports whether a line tells of the word that the latest change introduced, and not as a failure. A line with no other words than
// those of the change only quotes it.
func (c *causes) shows(line []fingerprint.Word, own *wordSet) bool {
	if c.Introduced == 0 || own.has(c.Introduced) || !slices.ContainsFunc(line, func(word fingerprint.Word) bool { return word.Hash == c.Introduced }) {
		return false
	}
	return !slices.ContainsFunc(line, fingerprint.TellsFailureOrNegates) &&
		slices.ContainsFunc(line, func(word fingerprint.Word) bool { return word.Kind == fingerprint.Letters && !c.Change.has(word.Hash) })
}
