package fingerprint

import "strings"

// What a word says, as bits.
const (
	fails   = 1 << iota // a failure
	asks                // a failure, if it is the first word: please give …
	does                // something was done
	negates             // the opposite of the next word: no, not, n't
	lacks               // a failure, after a negation: not found
	finds               // nothing was found, after a negation: no rows
	passes              // the failure is transient
	absence             // nothing was found
	state               // with fails: success, if it is the first word: closed
)

// wordsThat is the vocabulary: the words with which compilers, shells, databases, browsers and services say how a call ended.
var wordsThat = map[uint16]string{
	fails: "error errors exception traceback failed fails fail failing failure failures fatal cannot unable denied refused rejected invalid missing " +
		"unexpected incorrect wrong undefined unrecognized unsupported forbidden unauthorized aborted couldn conflict violates violation exceeded blocked " +
		"unresolved mismatch nonexistent disallowed sorry segmentation panic stuck",
	fails | passes: "timeout unavailable",
	fails | state:  "closed locked expired",
	asks:           "please",
	does: "successfully success succeeded created updated modified saved added removed deleted written done passed ok sent installed killed " +
		"applied edited replaced inserted copied renamed uploaded posted submitted scheduled booked assigned archived merged published " +
		"registered committed deployed patched scaled labeled annotated configured drained evicted moved enabled disabled granted revoked " +
		"resolved reopened refunded credited cancelled canceled tagged restored reverted",
	negates: "no not doesn isn can t don didn never zero without",
	lacks:   "found exist exists such allowed permitted recognized running supported available enough valid permission possible defined provided known",
	finds:   "contain contains mention mentions include includes appear appears row match matches matched results result files file records rows data output changes change documents entries items tests replacement replacements modification modifications",
	absence: "nothing unfortunately unchanged identical already unmodified noop",
	passes:  "timed temporarily busy connection overloaded throttled later retry",
}

type saying struct {
	hash uint32
	says uint16
}

// vocabulary is a hash table with open addressing.
var vocabulary = func() (t [512]saying) {
	for says, words := range wordsThat {
		for word := range strings.FieldsSeq(words) {
			h := hashWord([]byte(word), len(word))
			at := h % uint32(len(t))
			for t[at].hash != 0 {
				at = (at + 1) % uint32(len(t))
			}
			t[at] = saying{h, says}
		}
	}
	return t
}()

// vocabularyBits is a Bloom filter of the vocabulary, with one bit for each word. Most words are not in it and need no look-up.
var vocabularyBits = func() (t [64]uint64) {
	for _, entry := range vocabulary {
		if entry.hash != 0 {
			t[entry.hash>>26] |= 1 << (entry.hash >> 20 & 63)
		}
	}
	return t
}()

// TellsFailure reports whether a word by itself tells of a failure.
func TellsFailure(word Word) bool { return saysOf(word.Hash)&fails != 0 }

// TellsFailureOrNegates reports whether a word by itself tells of a failure, or denies what follows it, such as no and not.
func TellsFailureOrNegates(word Word) bool { return saysOf(word.Hash)&(fails|negates) != 0 }

// saysOf returns what a word says, and 0 for a word that is not in the vocabulary.
func saysOf(word uint32) uint16 {
	if vocabularyBits[word>>26]>>(word>>20&63)&1 == 0 {
		return 0
	}
	at := word % uint32(len(vocabulary))
	for vocabulary[at].hash != 0 {
		if vocabulary[at].hash == word {
			return vocabulary[at].says
		}
		at = (at + 1) % uint32(len(vocabulary))
	}
	return 0
}
