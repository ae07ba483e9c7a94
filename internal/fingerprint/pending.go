package fingerprint

import "strings"

// maxPending is the greatest length in bytes of an outcome that Pending reads. A longer one is content.
const maxPending = 2 << 10

// pendingStates are the words with which services say that something may still take its time.
const pendingStates = " pending queued enqueued waiting creating starting running initializing initialising provisioning " +
	"deploying processing progress progressing inprogress unfinished "

// settledStates are words of states that do not change by themselves. Those of the vocabulary that tell of a failure are settled, too.
const settledStates = " backoff crash crashloop err killed cancelled canceled evicted lost dead exited suspended paused rejected " +
	"successfully succeeded completed finished "

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
		word := outcome[start:i]
		if start > 0 && outcome[start-1] == '\\' {
			word = word[1:] // the letter of an escape such as \n
		}
		switch {
		case isState(settledStates, word), saysOf(hashWord(word, len(word)))&fails != 0:
			return false
		case isState(pendingStates, word):
			pending = true
		}
	}
	return pending
}

// startsPart reports whether the capital at an index begins another part of a name, such as the one of Creating in ContainerCreating.
func startsPart(b []byte, at int) bool {
	return b[at] >= 'A' && b[at] <= 'Z' && b[at-1] >= 'a' && b[at-1] <= 'z'
}

// longestState is the length of the longest word of a state.
const longestState = len("initializing") + 4

// isState reports whether a list, whose words have spaces around them, has a word in any case.
func isState(list string, word []byte) bool {
	var lower [longestState + 2]byte
	if len(word) < len("err") || len(word) > longestState {
		return false
	}
	lower[0], lower[len(word)+1] = ' ', ' '
	for k, b := range word {
		lower[k+1] = b | 0x20
	}
	return strings.Contains(list, string(lower[:len(word)+2]))
}
