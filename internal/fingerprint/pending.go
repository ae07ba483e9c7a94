package fingerprint

import "strings"

// maxPending is the greatest length in bytes of an outcome that Pending reads. A longer one is content.
const maxPending = 2 << 10

// progress is what the word of a state says.
type progress uint8

const (
	inProgress progress = 1 + iota // something may still take its time
	settled                        // it does not change by itself; the words of the vocabulary that tell of a failure say so, too
)

// states are the words of states with which services answer.
var states = func() map[uint32]progress {
	of := make(map[uint32]progress)
	for says, words := range map[progress]string{
		inProgress: "pending queued enqueued waiting creating starting running initializing initialising provisioning " +
			"deploying processing progress progressing inprogress unfinished",
		settled: "backoff crash crashloop err killed cancelled canceled evicted lost dead exited suspended paused rejected " +
			"successfully succeeded completed finished",
	} {
		for word := range strings.FieldsSeq(words) {
			of[hashWord([]byte(word), len(word))] = says
		}
	}
	return of
}()

// Pending reports whether an outcome, as raw JSON or text, says that something is still in progress, such as PENDING, "state": "QUEUED" or
// ContainerCreating, and nothing in it says that something has failed or has come to rest, such as ImagePullBackOff or 403. It reports
// false for an outcome over 2 KiB. It takes time proportional to the length and allocates nothing.
func Pending(outcome []byte) bool {
	if len(outcome) > maxPending {
		return false
	}
	pending := false
	for i := 0; i < len(outcome); {
		start := i
		for i < len(outcome) && class[outcome[i]]&alpha != 0 && (i == start || !startsPart(outcome, i)) {
			i++
		}
		if i == start {
			i++
			continue
		}
		if start > 0 && outcome[start-1] == '\\' {
			start++ // the letter of an escape such as \n
		}
		h := hashWord(outcome[start:], i-start)
		switch says := states[h]; {
		case says == settled, saysOf(h)&fails != 0:
			return false
		case says == inProgress:
			pending = true
		}
	}
	return pending
}

// startsPart reports whether the capital at an index begins another part of a name, such as the one of Creating in ContainerCreating.
func startsPart(b []byte, at int) bool {
	return b[at] >= 'A' && b[at] <= 'Z' && b[at-1] >= 'a' && b[at-1] <= 'z'
}
