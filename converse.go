package unloop

import (
	"slices"
	"strings"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// converse adds a message to the evidence. A message of the assistant counts if it answers a person: the fewer new pairs of words it has,
// the more it adds to Talk. A message of a person lowers the evidence of wasted steps.
func (r *Run) converse(s *scratch, e *Event) {
	m := &r.s.Meter
	s.words.Reset()
	s.words.AddText(e.Text)
	news := m.newsOf(&s.words, e.Role)
	if e.Role != RoleAssistant {
		m.listen(&s.words, &news, strings.HasSuffix(e.Text, "?"))
		return
	}
	m.Said, m.Message = len(s.words.List), outlineOf(&s.words)
	r.newID = r.givesNewID(&s.words) && m.Looked
	again := m.restates(&s.words)
	asked, looked := m.Asked, m.Looked
	m.Asked, m.Looked, m.Answer = false, false, 0
	if again < restatedShare || looked { // an agent that sends the same text again has not taken up the answer
		m.Talk = max(0, m.Talk-m.Settled)
	}
	m.Settled = 0
	if !asked || len(s.words.List) < 2 || m.AskedAgain && looked {
		return
	}
	m.Answer = m.weighAnswer(&s.words, &news)
	if again >= restatedShare && !looked && m.Answer > 0 {
		m.Answer = max(m.Answer, sentAgain*again)
	}
	if m.Talk < begunAgain {
		m.Talked = r.current.Ref
	}
	m.Talk = m.Talk*talkKept + m.Answer
	if news.newPairs > 0 && strings.HasSuffix(e.Text, "?") {
		m.Question = m.Answer
	}
}

// listen adds a message of a person to the evidence. asks means that it is a question.
func (m *meter) listen(w *fingerprint.Words, news *messageNews, asks bool) {
	m.Spoken = true
	m.Wasted *= keptByPerson
	m.Certain, m.Excused, m.Stuck = 0, excusedSteps, 0
	reply := len(w.List) <= shortReply && !news.knownIDs && !asks // to a question of the assistant
	refused := w.Ending == fingerprint.Refused
	m.Asked, m.AskedAgain = true, (news.newPairs < askedNew && !reply || news.knownIDs) && !(refused && news.newItem)
	m.Given = news.knownIDs
	m.NewRequest = news.newPairs >= answeredNew && !news.knownIDs && !m.AskedAgain && !refused
	m.NewQuestion = m.NewRequest && asks
	m.Refused = m.AskedAgain && refused
	if refused && news.newItem {
		m.Talk *= talkSteps // another failure: the answer before had an effect
	}
	m.Answer, m.Settled = 0, 0
	if news.newPairs >= answeredNew && !news.knownIDs || reply {
		m.Settled = m.Question // it is a new answer, so that question may not count
	}
	m.Question, m.Demand = 0, m.demand(w)
	if news.newPairs >= answeredNew {
		m.Demand = 0
	}
}

// act takes the latest message off Talk, because a call follows it: the message only announced the call, and the answer is still to come.
func (m *meter) act() {
	if m.Answer > 0 {
		m.Talk, m.Answer, m.Asked, m.Question = max(0, m.Talk-m.Answer), 0, true, 0
	}
}

// weighAnswer returns what an answer to a person adds to Meter.Talk, in messages. An answer whose numbers and ids are all known adds at least half
// of a message. An answer adds nothing if it contains the first new word of the person's message, such as the field that a validator misses. The
// next item of a numbered list adds nothing either.
func (m *meter) weighAnswer(w *fingerprint.Words, news *messageNews) (weight float64) {
	weight = max(0, 1-news.newPairs/talkNew)
	if m.AskedAgain {
		weight *= askedForKnown
	}
	if m.Refused {
		weight = max(weight, refusedAgain)
	}
	if m.Given && !news.newID {
		weight = max(weight, askedForGiven)
	}
	if news.knownIDs {
		weight = max(weight, repeatedIDs)
	}
	if m.Demand != 0 && m.heeds(w) {
		weight = 0
	}
	if ordinal := ordinalOf(w); ordinal > 0 {
		if ordinal == m.Ordinal+1 {
			weight = 0
		}
		m.Ordinal = ordinal
	}
	return weight
}

// restates adds the lines, sentences and members of a message of an assistant to the set of what was seen, and returns the share of its words
// that stand in long ones that an earlier message had. It returns 0 for a short message, and if only one came again beside as many other words: that
// is a standing phrase.
func (m *meter) restates(w *fingerprint.Words) float64 {
	again, items := 0, 0
	for rest := w.List; len(rest) > 0; {
		var item []fingerprint.Word
		item, rest = cutItem(rest)
		if len(item) >= longItem && !m.Seen.add(itemHash(item)^saltSentence) {
			again += len(item)
			items++
		}
	}
	if items < 2 && 2*again <= len(w.List) || len(w.List) < minTextWords {
		return 0
	}
	return float64(again) / float64(max(1, len(w.List)))
}

// givesNewID reports whether a message of an assistant has an id that none of its earlier ones had, or such a number of the latest outcome.
func (r *Run) givesNewID(w *fingerprint.Words) (found bool) {
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
		fresh := r.s.Meter.Seen.add(word.Hash ^ saltMessageID)
		found = found || fresh && (!number || k < w.Count && slices.Contains(numbers, w.Numbers[k]))
		if number {
			k++
		}
	}
	return found
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

// messageNews is what a message has that no earlier message of its role had.
type messageNews struct {
	newPairs float64 // the share of its pairs of words that are new
	knownIDs bool    // it has numbers or ids, and none of them is new
	newID    bool    // it has a new number or id
	newItem  bool    // a line or a sentence begins with a word with which no earlier one began
}

// newsOf adds the words and the pairs of words of a message to the set of what was seen, and returns which of them are new.
func (m *meter) newsOf(w *fingerprint.Words, role string) (news messageNews) {
	mark := uint32(fingerprint.String(role))
	newPairs, ids, knownIDs := 0, 0, 0
	for _, word := range w.List {
		if word.First && word.Kind == fingerprint.Letters && m.Seen.add(word.Hash^mark) {
			news.newItem = true
		}
		if word.Kind == fingerprint.Letters || word.Kind == fingerprint.Volatile {
			continue
		}
		if ids++; !m.Seen.add(word.Hash ^ mark) {
			knownIDs++
		}
	}
	for k := 1; k < len(w.List); k++ {
		if m.Seen.add(fingerprint.Run2(w.List[k-1], w.List[k]) ^ mark) {
			newPairs++
		}
	}
	news.newPairs = float64(newPairs) / float64(max(1, len(w.List)-1))
	news.knownIDs, news.newID = ids > 0 && knownIDs == ids, knownIDs < ids
	return news
}

// demand adds the words of a message of a person to the set of what was seen, and keeps those that are new if it is short. It returns the fingerprint of the
// first of them, or 0.
func (m *meter) demand(w *fingerprint.Words) (first uint32) {
	m.Requested = wordSet{}
	for _, word := range w.List {
		if word.Hash == 0 || !m.Seen.add(word.Hash^saltDemand) {
			continue
		}
		if first == 0 {
			first = word.Hash
		}
		if len(w.List) < shortAnswer {
			m.Requested.add(word.Hash)
		}
	}
	return first
}

// requests reports whether the new item of a call, be it an identifier, a number or an id, is what only the latest message of a person told of.
func (m *meter) requests(effort *Effort) bool {
	has := func(h uint32) bool { return h != 0 && m.Requested.has(h) }
	return m.Requested != wordSet{} && (has(effort.Item) || has(uint32(effort.Names)) || has(uint32(effort.Names>>32)))
}

// heeds reports whether a message has the word that a person's latest message had first.
func (m *meter) heeds(w *fingerprint.Words) bool {
	return slices.ContainsFunc(w.List, func(word fingerprint.Word) bool { return word.Hash == m.Demand })
}
