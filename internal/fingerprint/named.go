package fingerprint

import "slices"

// NamesID reports whether a number after the word is an id, or counts attempts, whatever they achieve.
func NamesID(word Word) bool {
	return word.Hash == idWord || word.Hash == pidWord || slices.Contains(attemptWords[:], word.Hash)
}

// isDuration reports whether a number after the words is a duration: the last one means a duration, or it is the unit after such a word.
func isDuration(words []Word) bool {
	last := words[len(words)-1]
	if slices.Contains(durations[:], last.Hash) {
		return true
	}
	return len(words) > 1 && !last.First && slices.Contains(secondsWords[:], last.Hash) && slices.Contains(durations[:], words[len(words)-2].Hash)
}

var (
	idWord       = hashWord([]byte("id"), 2)
	pidWord      = hashWord([]byte("pid"), 3)
	attemptWords = [...]uint32{hashWord([]byte("attempt"), 7), hashWord([]byte("attempts"), 8), hashWord([]byte("retry"), 5), hashWord([]byte("retries"), 7), hashWord([]byte("revision"), 8)}
	durations    = [...]uint32{hashWord([]byte("duration"), 8), hashWord([]byte("elapsed"), 7), hashWord([]byte("uptime"), 6), hashWord([]byte("took"), 4)}
	secondsWords = [...]uint32{hashWord([]byte("ms"), 2), hashWord([]byte("s"), 1), hashWord([]byte("sec"), 3), hashWord([]byte("seconds"), 7)}
)
