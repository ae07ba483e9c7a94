package fingerprint

import "strings"

// maxTail is how much of the end of a text TailPeriod looks at, in bytes.
const maxTail = 8 << 10

// TailPeriod finds the repetition at the end of a text: the period in bytes that covers the most of it, and how often it
// occurs there. Times is 1 if nothing repeats. It reads the last 8 KiB in linear time, with the failure function of Knuth,
// Morris and Pratt over the reversed text.
func TailPeriod(text string) (period, times int) {
	if len(text) < shortTail {
		var fail [shortTail]uint16
		return tailPeriod(text, fail[:])
	}
	var fail [maxTail + 1]uint16
	return tailPeriod(text[max(0, len(text)-maxTail):], fail[:])
}

// shortTail is a length in bytes that most messages do not reach. For those, less memory is cleared.
const shortTail = 1 << 10

// tailPeriod is TailPeriod. fail has room for one number more than text has bytes, and is 0.
func tailPeriod(text string, fail []uint16) (period, times int) {
	n := len(text)
	if n == 0 {
		return 0, 1
	}
	at := func(i int) byte { return text[n-1-i] }
	period, times = n, 1
	covered := 0
	for i, k := 1, 0; i < n; i++ {
		if k == 0 && at(i) != at(0) { // nothing repeats up to the next character that is equal to the last
			i = n - 1 - strings.LastIndexByte(text[:n-1-i], text[n-1])
			if i == n {
				break
			}
		}
		for k > 0 && at(i) != at(k) {
			k = int(fail[k])
		}
		if at(i) == at(k) {
			k++
		}
		fail[i+1] = uint16(k)
		p := i + 1 - k
		if i+1 < 2*p {
			continue // it occurs once, and a division takes long
		}
		if t := (i + 1) / p; t*p > covered {
			period, times, covered = p, t, t*p
		}
	}
	return period, times
}
