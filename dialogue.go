package unloop

import "github.com/unloop-ai/unloop/internal/fingerprint"

// account is what the latest message of an agent states, for a comparison with its next one.
type account struct {
	Event int     // number of its event
	Items int     // lines, sentences and members
	Place float64 // the number of a line, row or record in it; 0 for none
	Done  float64 // N in "N of M"; 0 for none
	Of    float64 // M
}

// freshWords is the number of words of a message with a place or a total that no earlier such message of the run has, by their kind.
type freshWords struct{ Letters, Numbers int }

const (
	grownItems = 4 // the most items by which a text grows that is sent again with additions
	leastItems = 2 // the least number of items of such a text
)

// readDialogue compares a message of several words with the messages before it. It sets advanced, which means that the message tells of
// progress: it counts on by one towards the same total, the failure that it tells of is further down, or it has the earlier text of its
// agent with additions. A new word, or a new number besides the one that counts, has to come with the first two: one that no
// earlier message with such a number has.
func (r *Run) readDialogue(w *fingerprint.Words, e *Event) {
	r.advanced = false
	m, now := &r.s.Meter, r.current.Ref.Number
	if e.Role != RoleAssistant || len(w.List) < minTextWords {
		return
	}
	sp := r.speakerOf(e.Agent)
	before := sp.Latest
	items, grows := m.grows(w, &before, now)
	latest := account{Event: now, Items: items, Place: w.Place, Done: before.Done, Of: before.Of}
	done, of := fingerprint.Completion(e.Text)
	if of > 0 {
		latest.Done, latest.Of = done, of
	}
	var fresh freshWords
	if of > 0 || latest.Place > 0 {
		fresh = m.freshWords(w)
	}
	counts := before.Of > 0 && latest.Of == before.Of && latest.Done == before.Done+1 && fresh.Letters > 0
	further := before.Place > 0 && latest.Place > before.Place && w.Ending == fingerprint.Refused && (fresh.Letters > 0 || fresh.Numbers > 1)
	r.advanced = grows || counts || further
	sp.Latest = latest
}

// freshWords adds the words of a message with a place or a total to the set of what was seen, and counts those that are new.
func (m *meter) freshWords(w *fingerprint.Words) (fresh freshWords) {
	for _, word := range w.List {
		if word.Hash == 0 || !m.Seen.add(word.Hash^saltPlaced) {
			continue
		}
		switch word.Kind {
		case fingerprint.Letters:
			fresh.Letters++
		case fingerprint.Number:
			fresh.Numbers++
		}
	}
	return fresh
}

// grows adds the items of a message to the set of what was seen, and returns their number. It also reports whether the message is the one
// before it with up to grownItems more items. Half of the neighbouring items of the message before must be neighbours again, and a new
// item must come behind half of them.
func (m *meter) grows(w *fingerprint.Words, before *account, now int) (items int, grows bool) {
	kept, additions, last := 0, 0, uint32(0)
	old, young := saltOfEvent(before.Event), saltOfEvent(now)
	for rest := w.List; len(rest) > 0; items++ {
		var words []fingerprint.Word
		words, rest = cutItem(rest)
		item := itemHash(words)
		if items > 0 {
			neighbours := item ^ last*0x85EBCA6B
			if before.Items > 0 && m.Seen.has(neighbours^old) {
				kept++
			}
			m.Seen.add(neighbours ^ young)
		}
		if m.Seen.add(item^saltItem) && 2*kept >= before.Items-1 {
			additions++
		}
		last = item
	}
	more := items - before.Items
	return items, before.Items >= leastItems && more > 0 && more <= grownItems && additions > 0
}

// saltOfEvent returns the salt of the neighbouring items of the message of an event.
func saltOfEvent(number int) uint32 {
	salt := uint32(number) * 0x9E3779B1
	return salt ^ salt>>15 ^ saltNeighbours
}
