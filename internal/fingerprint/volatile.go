package fingerprint

import "bytes"

// volatile returns the length of the volatile part that begins with the word at b[i], or 0 if the word is content: see Masker. The
// byte before i must not be part of a word. The functions below return the length of one kind of volatile part at the beginning of a
// text, or 0 if there is none.
func volatile(b []byte, i int) int {
	c := class[b[i]]
	rest := b[i:]
	if c&hex != 0 {
		if n := uuid(rest); n > 0 {
			return n
		}
	}
	if c&digit != 0 {
		return volatileNumber(b, i)
	}
	switch b[i] {
	case 't', 'T':
		if n := tempName(rest); n > 0 {
			return n
		}
		if n := callID(rest); n > 0 {
			return n
		}
	case 'g':
		return prefixed(rest, "go-build", digit, 6)
	case 'p', 'P':
		return processID(rest)
	}
	if b[i] >= 'A' && b[i] <= 'W' {
		return namedDate(rest)
	}
	return 0
}

func volatileNumber(b []byte, i int) int {
	rest := b[i:]
	n := count(rest, digit)
	if n < len(rest) && n != 10 && n != 13 && (class[rest[n]]&goesOn == 0 || rest[n] == ' ' && (n+1 == len(rest) || !afterNumber[rest[n+1]])) {
		return 0 // a bare number
	}
	switch {
	case n == 1 && rest[0] == '0' && len(rest) > 1 && rest[1]|0x20 == 'x':
		if h := count(rest[2:], hex); h >= 6 && boundary(rest, 2+h) {
			return 2 + h
		}
		return 0
	case n == 4:
		if d := isoTime(rest); d > 0 {
			return d
		}
	case n == 10 || n == 13:
		if e := unixTime(rest, n); e > 0 {
			return e
		}
	case n <= 2:
		if d := dayFirst(rest); d > 0 {
			return d
		}
		if d := clock(b, i); d > 0 {
			return d
		}
	}
	if d := hours(b, i, n); d > 0 {
		return d
	}
	return duration(rest)
}

// hours matches a duration in hours, minutes and seconds, such as 43:05:36. n is the number of digits of the hours.
func hours(b []byte, i, n int) int {
	rest := b[i:]
	if n > 3 || len(rest) < n+6 || rest[n] != ':' || rest[n+3] != ':' || i > 0 && b[i-1] == ':' {
		return 0
	}
	minutes, seconds := rest[n+1:n+3], rest[n+4:n+6]
	if count(minutes, digit) != 2 || count(seconds, digit) != 2 || minutes[0] > '5' || seconds[0] > '5' {
		return 0
	}
	if end := n + 6; boundary(rest, end) && (end == len(rest) || rest[end] != ':') {
		return end
	}
	return 0
}

// afterNumber has the bytes that a unit of time or the name of a month can begin with.
var afterNumber = func() (t [256]bool) {
	for _, b := range []byte("numshµμJFMASOND") {
		t[b] = true
	}
	return t
}()

// count returns the number of bytes at the beginning of b that are of the class.
func count(b []byte, of uint8) int {
	n := 0
	for n < len(b) && class[b[n]]&of != 0 {
		n++
	}
	return n
}

// boundary reports whether a word before b[n] ends there.
func boundary(b []byte, n int) bool { return n >= len(b) || class[b[n]]&wordByte == 0 }

func uuid(b []byte) int {
	if len(b) < 36 || b[8] != '-' {
		return 0
	}
	at := 0
	for k, n := range [...]int{8, 4, 4, 4, 12} {
		if count(b[at:at+n], hex) != n || k < 4 && b[at+n] != '-' {
			return 0
		}
		at += n + 1
	}
	if !boundary(b, 36) {
		return 0
	}
	return 36
}

// unixTime matches 10 digits (seconds) or 13 (milliseconds) from 2001 to 2033, and a fraction of seconds.
func unixTime(b []byte, n int) int {
	if b[0] != '1' || !boundary(b, n) {
		return 0
	}
	if n == 10 && len(b) > n+1 && b[n] == '.' {
		if f := count(b[n+1:], digit); f > 0 && boundary(b, n+1+f) {
			return n + 1 + f
		}
	}
	return n
}

// maxDurationParts is the maximum number of parts of a duration, each a number with a unit. If the last part is not valid, the search
// continues after the first number. The maximum keeps a long sequence of parts from being read again from each of its numbers.
const maxDurationParts = 6

// duration matches a number with a unit of time: 12ms, 12 ms, 0.31s, 3 seconds, 1m30s.
func duration(b []byte) int {
	n := count(b, digit)
	if n+1 < len(b) && b[n] == '.' && class[b[n+1]]&digit != 0 {
		n += 1 + count(b[n+1:], digit)
	}
	total := 0
	for parts := 0; n < len(b) && parts < maxDurationParts; parts++ {
		at := n
		if b[at] == ' ' && total == 0 {
			at++
		}
		u := unit(b[at:], at > n)
		if u == 0 {
			break
		}
		total = at + u
		more := count(b[total:], digit)
		if more == 0 || at > n {
			break
		}
		n = total + more
		if n+1 < len(b) && b[n] == '.' {
			n += 1 + count(b[n+1:], digit)
		}
	}
	if total == 0 || !boundary(b, total) {
		return 0
	}
	return total
}

// unit matches a unit of time. After a space, m and h do not match, because m may be metres.
func unit(b []byte, spaced bool) int {
	if bytes.HasPrefix(b, []byte("µs")) || bytes.HasPrefix(b, []byte("μs")) {
		return len("µs")
	}
	n := count(b, alpha)
	switch string(b[:n]) {
	case "ns", "us", "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes",
		"hr", "hrs", "hour", "hours", "msec", "msecs", "usec", "millisecond", "milliseconds", "microseconds", "nanoseconds":
		return n
	case "m", "h":
		if !spaced {
			return n
		}
	}
	return 0
}

// tempName matches the names that standard libraries give to temporary files: tmp with eight random characters, or tmp. with ten.
func tempName(b []byte) int {
	if len(b) < 9 || b[0]|0x20 != 't' || b[1] != 'm' || b[2] != 'p' {
		return 0
	}
	if b[3] == '.' {
		return prefixed(b, "tmp.", digit|alpha, 6)
	}
	n := count(b, wordByte)
	random := b[3:n]
	if len(random) == 8 && boundary(b, n) || len(random) >= 6 && bytes.ContainsAny(random, "0123456789") {
		return n
	}
	return 0
}

// prefixed matches prefix and at least least bytes of the class, which end the word.
func prefixed(b []byte, prefix string, of uint8, least int) int {
	if !bytes.HasPrefix(b, []byte(prefix)) {
		return 0
	}
	n := len(prefix) + count(b[len(prefix):], of)
	if n < len(prefix)+least || !boundary(b, n) {
		return 0
	}
	return n
}

// callID matches the ids of calls that frameworks write into results: tool_call_id='call_3', "tool_call_id": "toolu_01A", and the same
// with escaped quotes.
func callID(b []byte) int {
	const key = "tool_call_id"
	if !bytes.HasPrefix(b, []byte(key)) || !boundary(b, len(key)) {
		return 0
	}
	n := len(key)
	for n < len(b) && n < len(key)+8 && bytes.IndexByte([]byte(" =:'\"\\"), b[n]) >= 0 {
		n++
	}
	begin := n
	for n < len(b) && (class[b[n]]&wordByte != 0 || b[n] == '-') {
		n++
	}
	if n == begin {
		return 0
	}
	return n
}

// processID matches "pid 123", "pid=123", "PID: 123" and "process 123".
func processID(b []byte) int {
	n := 0
	switch {
	case len(b) > 3 && b[1]|0x20 == 'i' && b[2]|0x20 == 'd' && boundary(b, 3):
		n = 3
	case bytes.HasPrefix(b, []byte("process ")):
		n = len("process")
	default:
		return 0
	}
	for n < len(b) && (b[n] == ' ' || b[n] == '=' || b[n] == ':' || b[n] == '"') {
		n++
	}
	d := count(b[n:], digit)
	if d == 0 || !boundary(b, n+d) {
		return 0
	}
	return n + d
}
