package fingerprint

import "strings"

// named is what the word before a number says of it.
type named uint8

const (
	anID        named = 1 + iota // it is an id, or counts attempts, whatever they achieve
	aSerial                      // it is the serial number of an answer, if the word begins a member and no total follows
	aDuration                    // it is a duration
	aDelay                       // it is a delay, which grows by itself and ends when it has fallen; numberAfter wants a unit
	ofADuration                  // it is a duration, if the word before says so
	aPlace                       // it is a place in a text or in a series of records
	aQuota                       // it is the size of a quota
	ofAQuota                     // it is what is left or used of a quota, if the word before says so: each call changes it
)

// nameOfNumber is a word and what it says of the number after it.
type nameOfNumber struct {
	hash uint32
	says named
}

// naming is a hash table with open addressing.
var naming = func() (t [64]nameOfNumber) {
	for says, words := range map[named]string{
		anID:        "id pid attempt attempts retry retries revision",
		aSerial:     "seq seqno sequence nonce req request reqid trace call",
		aDuration:   "duration elapsed uptime took",
		aDelay:      "age lag",
		ofADuration: "ms s sec seconds",
		aPlace:      "line row record offset position",
		aQuota:      "quota credit credits ratelimit limit",
		ofAQuota:    "remaining left used",
	} {
		for word := range strings.FieldsSeq(words) {
			h := hashWord([]byte(word), len(word))
			at := h % uint32(len(t))
			for t[at].hash != 0 {
				at = (at + 1) % uint32(len(t))
			}
			t[at] = nameOfNumber{h, says}
		}
	}
	return t
}()

// namedBy returns what a word says of the number after it, or 0.
func namedBy(word Word) named {
	at := word.Hash % uint32(len(naming))
	for naming[at].hash != 0 {
		if naming[at].hash == word.Hash {
			return naming[at].says
		}
		at = (at + 1) % uint32(len(naming))
	}
	return 0
}

// NamesID reports whether a number after the word is an id, or counts attempts, whatever they achieve.
func NamesID(word Word) bool {
	says := namedBy(word)
	return says == anID || says == aSerial
}

// numberAfter returns what the words say of a number after them: anID, aDuration, aDelay, aPlace, ofAQuota or 0.
func numberAfter(words []Word) named {
	last, of := words[len(words)-1], named(0)
	if len(words) > 1 && !last.First {
		of = namedBy(words[len(words)-2])
	}
	switch says := namedBy(last); says {
	case aDelay, aQuota:
		return 0
	case ofADuration:
		if of == aDuration || of == aDelay {
			return of
		}
		return 0
	case ofAQuota:
		if of == aQuota {
			return says
		}
		return 0
	default:
		return says
	}
}
