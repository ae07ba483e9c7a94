package unloop

import (
	"bytes"
	"slices"

	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// attempt compares a call that has just started with those before it, and sets the part of its Effort that is known by then.
func (r *Run) attempt(s *scratch, t *Tool, canonical []byte) {
	m, effort, w := &r.s.Meter, &r.step.Effort, &s.words
	next := act{Tool: t.Hash}
	r.callWords = wordSet{}
	shares := noMinima
	selects := r.readArguments(s, t, canonical, &shares)
	handle := r.nameNewWords(t, w)
	shares.words(w.List)
	next.Outline = shares.outline()
	effort.Words = len(w.List)
	if m.Said > 0 {
		effort.Said, effort.Announced = m.Said, m.Message.alike(&next.Outline)
		m.Said = 0
		m.act()
	}
	effort.Fresh = m.share(w)
	effort.Writes = t.Effect == Mutating && !t.Looks && !selects
	if t.Shell && s.command.given {
		effort.Idle, effort.Writes = s.command.idle, s.command.writes
	}
	if effort.Writes {
		effort.Heeds = m.Causes.keepNamed(w.List)
	}
	effort.Requested = m.requests(effort)
	m.compareActs(&next, effort)
	r.follow(t, canonical)
	if handle && effort.Names == 0 && effort.Item == 0 && effort.Word == 0 {
		effort.Alike, effort.Fresh = 1, 0
	}
	if len(m.Acts) < recentActs {
		m.Acts = append(m.Acts, next)
	} else {
		m.Acts[m.N%recentActs] = next
	}
	m.N++
	if t.Thinks {
		m.Said, m.Message = len(w.List), next.Outline // a thought announces the next call, as a message does
	}
}

// readArguments reads the words of the step's call, and sets what its arguments name, and whether the longest of them was sent before. It
// reports whether an argument is a statement that reads rows.
func (r *Run) readArguments(s *scratch, t *Tool, canonical []byte, shares *minima) (selects bool) {
	m, effort, w := &r.s.Meter, &r.step.Effort, &s.words
	members, longest, bounded := 0, 0, false
	w.Reset()
	for name, value := range s.canon.Members {
		if t.bounds(name) {
			bounded = true
			continue // how much is returned, and how long it may take, names nothing
		}
		members++
		if t.Shell {
			value = fingerprint.AfterFolder(value)
		}
		from := len(w.List)
		w.Append(value)
		h := uint32(fingerprint.Bytes(value))
		if sum, n := bag(w.List[from:]); n >= bagWords {
			known := !m.Seen.add(sum ^ uint32(t.Hash) ^ uint32(fingerprint.Bytes(name)) ^ saltCall)
			same := !m.Seen.add(h ^ uint32(t.Hash) ^ saltValue) // a path, or what else the calls have in common
			effort.Reordered = effort.Reordered || known && !same
			if n > longest {
				effort.Resent, longest = same, n
			}
			effort.Rearranged = effort.Rearranged || !same && m.rearranges(w.List[from:], t)
		}
		shares.put(h)
		selects = selects || readsRows(value)
		n := len(w.List) - from
		identifier := n > 0 && n <= maxIdentifier && bytes.IndexByte(value, ' ') < 0
		if identifier && m.Seen.add(h^uint32(t.Hash)^saltCall) && !slices.ContainsFunc(w.List[from:], m.isHandle) {
			effort.Item = m.newWord(t, w.List[from:], h)
		}
	}
	if members < 2 {
		effort.Item = 0 // it is the whole question
	}
	if members == 0 && !bounded {
		w.Append(canonical)
	}
	effort.Resent = effort.Resent && 2*longest > len(w.List)
	return selects
}

// rearranges records the lines of an argument, and reports whether it has known lines of earlier calls of the tool in a new order: at least
// rearrangedLines, with at most a fifth of new ones, and at least half of them behind another line than before. A line has three words or more.
func (m *meter) rearranges(argument []fingerprint.Word, t *Tool) bool {
	lines, known, moved, before := 0, 0, 0, uint32(0)
	for len(argument) > 0 {
		var line []fingerprint.Word
		line, argument = cutItem(argument)
		if len(line) < lineWords {
			continue
		}
		h := chainAll(uint32(t.Hash), line)
		lines++
		if !m.Seen.add(h ^ saltItem) {
			known++
		}
		if m.Seen.add(before*0x85EBCA6B ^ h ^ saltNeighbours) {
			moved++
		}
		before = h
	}
	return lines >= rearrangedLines && 5*known >= 4*lines && 2*moved >= lines
}

// newWord returns the fingerprint of the first word of an identifier that no earlier call of the tool has. If all are known, only their
// combination is new, and it returns that of the whole, which is that of no word.
func (m *meter) newWord(t *Tool, identifier []fingerprint.Word, whole uint32) uint32 {
	for _, word := range identifier {
		if word.Hash != 0 && !m.Seen.has(word.Hash^uint32(t.Hash)^saltCall) {
			return word.Hash
		}
	}
	return max(whole, 1)
}

// compareActs sets how alike the call is to the recent ones.
func (m *meter) compareActs(next *act, effort *Effort) {
	for k := range m.Acts {
		before := &m.Acts[k]
		alike := next.Outline.alike(&before.Outline)
		if before.Tool != next.Tool {
			alike *= otherTool
		} else if alike >= similar {
			effort.Similar++
		}
		effort.Alike = max(effort.Alike, alike)
	}
}

// nameNewWords sets the words of the step's call that name a new item, and records the words of the call. It reports whether one of them is a
// handle that is new in calls of the tool.
func (r *Run) nameNewWords(t *Tool, w *fingerprint.Words) (handle bool) {
	m, effort := &r.s.Meter, &r.step.Effort
	for k, word := range w.List {
		letters := word.Kind == fingerprint.Letters
		if k < echoedWords {
			r.callWords.add(word.Hash)
		}
		if letters && k >= namedWords || !m.Seen.add(word.Hash^uint32(t.Hash)^saltCall) {
			continue
		}
		switch {
		case letters && effort.Word == 0:
			effort.Word = word.Hash
		case letters:
		case m.isHandle(word):
			handle = true
		default:
			effort.Names = effort.Names<<32 | uint64(word.Hash)
		}
	}
	return handle
}

// The set of what was seen has fingerprints of several kinds. Each kind has its own salt, so that they do not collide.
const (
	saltCall            = 0x5F356495 // identifiers, numbers, ids and bags of words of calls
	saltValue           = 0x1B873593 // long arguments, whole
	saltOutcome         = 0x2C1B3C6D // templates of outcomes
	saltReturn          = 0x7F4A7C15 // templates of outcomes that occurred twice
	saltSymptom         = 0x165667B1 // items that tell of a failure
	saltLine            = 0x3C6EF372 // items of outcomes, without numbers and ids
	saltMessageID       = 0x2545F491 // numbers and ids in messages of an assistant
	saltDemand          = 0x61C88647 // words of a person
	saltAcknowledgement = 0x5BD1E995 // outcomes of changes
	saltHandle          = 0x4CF5AD43 // ids of calls that were made before
	saltPlaced          = 0x68E31DA4 // words of messages with a place or a total
	saltItem            = 0x510E527F // items of messages
	saltSentence        = 0x9B05688C // long items of messages of an assistant
	saltNeighbours      = 0x1F83D9AB // pairs of neighbouring items of a message
	saltReturnedSymptom = 0x27D4EB2F // items that tell of a failure and occurred twice
	saltCause           = 0x4F1BBCDD // words of new lines of failures
	saltKey             = 0x6A09E667 // keys of outcomes that calls sent
)

// handles returns the first ids of the outcome of a call without new words. If the outcome has no new words either, they are those of an
// earlier step, and an id, such as that of a job that was submitted again, names no new item.
func (r *Run) handles(t *Tool, w *fingerprint.Words) (ids [mostHandles]uint32, n int) {
	if r.step.Effort.NamesItem() || t.Calls == 1 {
		return ids, 0
	}
	for _, word := range w.List {
		if word.Kind == fingerprint.Mixed && n < mostHandles {
			ids[n] = word.Hash
			n++
		}
	}
	return ids, n
}

// isHandle reports whether a word is a handle.
func (m *meter) isHandle(word fingerprint.Word) bool {
	return word.Kind == fingerprint.Mixed && m.Seen.has(word.Hash^saltHandle)
}

// mostHandles is the number of ids of an outcome that can be handles.
const mostHandles = 8

// namedWords is the number of words at the beginning of a call that can name a new item.
const namedWords = 16

// similar is the least share of common words of two similar calls.
const similar = 0.4

// maxIdentifier is the maximum number of words of an identifier, such as an address or a path. An identifier has no white space.
const maxIdentifier = 4

// lineWords is the least number of words of a line that is compared, and rearrangedLines that of the lines of an argument that are.
const lineWords, rearrangedLines = 3, 4

// bagWords is the least number of words of an argument that is compared without regard to their order.
const bagWords = 6

// bag returns a fingerprint of words that does not depend on their order, and their number.
func bag(words []fingerprint.Word) (sum uint32, n int) {
	for _, word := range words {
		sum += word.Hash * 0x85EBCA6B
	}
	return sum, len(words)
}

// idles reports whether a command does nothing: a shell's : and true, and a command without letters and digits.
func idles(words [][]byte) bool {
	if string(words[0]) == ":" || string(words[0]) == "true" {
		return true
	}
	for _, word := range words {
		for _, b := range word {
			if b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80 {
				return false
			}
		}
	}
	return true
}

// readsRows reports whether an argument, as raw JSON, is a query of a database that only reads.
func readsRows(value []byte) bool {
	const verb = `"select `
	return len(value) > len(verb) && value[1]|0x20 == verb[1] && bytes.EqualFold(value[:len(verb)], []byte(verb))
}

// reads reports whether a command only reads.
func reads(words [][]byte) bool {
	rest := words[1:]
	if previews(words) {
		return true
	}
	has := func(prefix string) int {
		return slices.IndexFunc(rest, func(word []byte) bool { return bytes.HasPrefix(word, []byte(prefix)) })
	}
	switch string(words[0]) {
	case "find":
		if k := has("-exec"); k >= 0 && k+1 < len(rest) {
			return reads(rest[k+1:])
		}
		return has("-delete") < 0
	case "sed":
		return has("-i") < 0
	case "git":
		return len(rest) > 0 && readsGit(string(rest[0]))
	}
	return reader(string(words[0]))
}
