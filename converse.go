package unloop

import (
	"slices"
	"strings"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// converse adds a message to the evidence. A message of the assistant counts if it answers a person: the fewer new pairs of words it has,
// the more it adds to Talk. An answer with numbers or ids adds at least half of a message if earlier ones had all of them. It adds nothing if
// it has the first new word of the person's message, such as the field that a validator misses, in a message that is known otherwise, or if it
// is the next item of a numbered list. A message of a person lowers the evidence of wasted steps.
func (r *Run) converse(s *scratch, e *Event) {
	m := &r.s.Meter
	s.words.Reset()
	s.words.AddText(e.Text)
	fresh, known, names, item := m.newWords(&s.words, e.Role)
	if e.Role != RoleAssistant {
		m.Spoken = true
		m.Wasted *= keptByPerson
		m.Certain, m.Excused = 0, excusedSteps
		reply := len(s.words.List) <= shortReply && !known && !strings.HasSuffix(e.Text, "?") // to a question of the assistant
		refused := s.words.Ending == fingerprint.Refused
		m.Asked, m.AskedAgain = true, (fresh < askedNew && !reply || known) && !(refused && item)
		m.Given = known
		m.NewRequest = fresh >= answeredNew && !known && !m.AskedAgain && !refused
		m.NewQuestion = m.NewRequest && strings.HasSuffix(e.Text, "?")
		m.Refused = m.AskedAgain && refused
		if refused && item {
			m.Talk *= talkSteps // another failure: the answer before had an effect
		}
		if fresh >= answeredNew && !known || reply {
			m.Talk = max(0, m.Talk-m.Question) // it is a new answer, so that question does not count
		}
		m.Question, m.Demand = 0, m.firstNewWord(&s.words)
		if fresh >= answeredNew {
			m.Demand = 0
		}
		return
	}
	m.Said, m.Message = len(s.words.List), outlineOf(&s.words)
	r.tellsNew = r.tellsNews(&s.words) && m.Looked
	asked := m.Asked
	if m.Asked = false; !asked || len(s.words.List) < 2 || m.AskedAgain && m.Looked {
		m.Looked = false
		return
	}
	m.Looked = false
	said := max(0, 1-fresh/talkNew)
	if m.AskedAgain {
		said *= askedForKnown
	}
	if m.Refused {
		said = max(said, refusedAgain)
	}
	if m.Given && !names {
		said = max(said, askedForGiven)
	}
	if known {
		said = max(said, toldAgain)
	}
	if m.Demand != 0 && m.heeds(&s.words) {
		said = 0
	}
	if ordinal := ordinalOf(&s.words); ordinal > 0 {
		if ordinal == m.Ordinal+1 {
			said = 0
		}
		m.Ordinal = ordinal
	}
	if m.Talk < begunAgain {
		m.Talked = r.current.Ref
	}
	m.Talk = m.Talk*talkKept + said
	if fresh > 0 && strings.HasSuffix(e.Text, "?") {
		m.Question = said
	}
}

// tellsNews reports whether a message of an assistant has an id that none of its earlier ones had, or such a number of the latest outcome.
func (r *Run) tellsNews(w *fingerprint.Words) (news bool) {
	var numbers []float64 // of the latest outcome
	if latest := r.StepAt(0); latest != nil {
		if a := r.s.Meter.answer(latest.TargetHash); a != nil {
			numbers = a.Numbers[:a.Count]
		}
	}
	k := 0
	for _, word := range w.List {
		number := word.Kind == fingerprint.Number
		if !number && word.Kind != fingerprint.Mixed {
			continue
		}
		fresh := r.s.Meter.Seen.add(word.Hash ^ saltTold)
		news = news || fresh && (!number || k < w.Count && slices.Contains(numbers, w.Numbers[k]))
		if number {
			k++
		}
	}
	return news
}

// ordinalOf returns the number in front of an item of a numbered list, such as a question of a questionnaire: the first number of a message,
// if a line or a sentence begins with it. It returns 0 for none.
func ordinalOf(w *fingerprint.Words) float64 {
	for _, word := range w.List {
		if word.Kind == fingerprint.Number {
			if !word.First || w.Count == 0 {
				return 0
			}
			return w.Numbers[0]
		}
	}
	return 0
}

// newWords adds the pairs of words of a message to the set of what was seen, and returns the share of them that is new in messages of
// the role. known means that the message has numbers or ids, and earlier messages of the role had all of them. names means that it has one
// that they did not have. item means that a line or a sentence begins with a word with which none of theirs began.
func (m *meter) newWords(w *fingerprint.Words, role string) (share float64, known, names, item bool) {
	mark := uint32(fingerprint.String(role))
	fresh, named, again := 0, 0, 0
	for _, word := range w.List {
		if word.First && word.Kind == fingerprint.Letters && m.Seen.add(word.Hash^mark) {
			item = true
		}
		if word.Kind == fingerprint.Letters || word.Kind == fingerprint.Volatile {
			continue
		}
		if named++; !m.Seen.add(word.Hash ^ mark) {
			again++
		}
	}
	for k := 1; k < len(w.List); k++ {
		if m.Seen.add(fingerprint.Run2(w.List[k-1], w.List[k]) ^ mark) {
			fresh++
		}
	}
	return float64(fresh) / float64(max(1, len(w.List)-1)), named > 0 && again == named, again < named, item
}

// firstNewWord adds the words of a message of a person to the set of what was seen, and returns the fingerprint of the first new one, or 0.
func (m *meter) firstNewWord(w *fingerprint.Words) (first uint32) {
	for _, word := range w.List {
		if word.Hash != 0 && m.Seen.add(word.Hash^saltDemand) && first == 0 {
			first = word.Hash
		}
	}
	return first
}

// heeds reports whether a message has the word that a person's latest message had first.
func (m *meter) heeds(w *fingerprint.Words) bool {
	return slices.ContainsFunc(w.List, func(word fingerprint.Word) bool { return word.Hash == m.Demand })
}
