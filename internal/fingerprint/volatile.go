package fingerprint

import "bytes"

// volatile returns the length of the volatile part that begins with the word at b[i], or 0. The byte before i is not
// part of a word.
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
	return duration(rest)
}

// count returns how many bytes at the beginning of b are of the class.
func count(b []byte, of uint8) int {
	n := 0
	for n < len(b) && class[b[n]]&of != 0 {
		n++
	}
	return n
}

// boundary reports whether no word goes on at b[n].
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

// isoTime matches 2006-01-02T15:04, with a space or T, seconds, a fraction and a zone as they come. A date alone is
// meaning: flights leave on one.
func isoTime(b []byte) int {
	if len(b) < 16 || b[4] != '-' || count(b[5:7], digit) != 2 || b[7] != '-' || count(b[8:10], digit) != 2 {
		return 0
	}
	if b[10] != 'T' && b[10] != ' ' && b[10] != 't' {
		return 0
	}
	n := hourMinute(b[11:])
	if n == 0 {
		return 0
	}
	return 11 + n + zone(b[11+n:])
}

// hourMinute matches 15:04, 15:04:05 and 15:04:05.000 (or a comma, as Python logs).
func hourMinute(b []byte) int {
	if len(b) < 5 || count(b[:2], digit) != 2 || b[2] != ':' || count(b[3:5], digit) != 2 || b[0] > '2' || b[3] > '5' {
		return 0
	}
	n := 5
	if len(b) >= 8 && b[5] == ':' && count(b[6:8], digit) == 2 {
		n = 8
		if len(b) > 9 && (b[8] == '.' || b[8] == ',') {
			if f := count(b[9:], digit); f > 0 {
				n = 9 + f
			}
		}
	}
	if n < len(b) && class[b[n]]&digit != 0 {
		return 0
	}
	return n
}

// zone matches Z, +01:00, " +0100", " UTC", " GMT", " EST" after a time.
func zone(b []byte) int {
	if len(b) > 0 && (b[0] == 'Z' || b[0] == 'z') && boundary(b, 1) {
		return 1
	}
	skip := 0
	if len(b) > 0 && b[0] == ' ' {
		skip = 1
	}
	z := b[skip:]
	if len(z) >= 5 && (z[0] == '+' || z[0] == '-') {
		if len(z) >= 6 && z[3] == ':' && count(z[1:3], digit) == 2 && count(z[4:6], digit) == 2 {
			return skip + 6
		}
		if count(z[1:5], digit) == 4 && boundary(z, 5) {
			return skip + 5
		}
	}
	if n := count(z, alpha); skip == 1 && n >= 3 && n <= 4 && boundary(z, n) && bytes.Contains(zones, z[:n]) {
		return skip + n
	}
	return 0
}

var zones = []byte("UTC GMT CET CEST EST EDT CST CDT MST MDT PST PDT BST")

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

// clock matches a time of day at b[i]: 15:04, 15:04:05, 3:04 pm. What follows a colon is a line and a column.
func clock(b []byte, i int) int {
	if i > 0 && (b[i-1] == ':' || b[i-1] == '.') {
		return 0
	}
	rest := b[i:]
	n := hourMinute(rest)
	if n == 0 && len(rest) >= 4 && rest[1] == ':' && count(rest[2:4], digit) == 2 {
		if half := amPM(rest[4:]); half > 0 {
			return 4 + half
		}
	}
	if n == 0 || n < len(rest) && rest[n] == ':' {
		return 0
	}
	n += amPM(rest[n:])
	if !boundary(rest, n) && rest[n] != 'Z' {
		return 0
	}
	return n + zone(rest[n:])
}

func amPM(b []byte) int {
	n := 0
	if len(b) > 0 && b[0] == ' ' {
		n = 1
	}
	if len(b) >= n+2 && (b[n]|0x20 == 'a' || b[n]|0x20 == 'p') && b[n+1]|0x20 == 'm' && boundary(b, n+2) {
		return n + 2
	}
	return 0
}

// dayFirst matches "02 Jan 2006 15:04:05 -0700" and "02/Jan/2006:15:04:05 +0000".
func dayFirst(b []byte) int {
	day := count(b, digit)
	if len(b) < day+14 || b[day] != ' ' && b[day] != '/' && b[day] != '-' || month(b[day+1:]) == 0 {
		return 0
	}
	year := day + 5
	if b[year-1] != b[day] || count(b[year:], digit) != 4 || b[year+4] != ' ' && b[year+4] != ':' {
		return 0
	}
	n := hourMinute(b[year+5:])
	if n == 0 {
		return 0
	}
	end := year + 5 + n
	return end + zone(b[end:])
}

func month(b []byte) int {
	if len(b) >= 3 && bytes.Contains([]byte("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"), b[:3]) && b[0] != ' ' && b[1] != ' ' {
		return 3
	}
	return 0
}

// namedDate matches "Mon, 02 Jan 2006 15:04:05 GMT", "Mon Jan  2 15:04:05 UTC 2006", "Jan  2 15:04" and "Jan 2 15:04:05".
func namedDate(b []byte) int {
	if len(b) >= 5 && bytes.Contains([]byte("Mon Tue Wed Thu Fri Sat Sun"), b[:3]) && class[b[0]]&alpha != 0 {
		switch {
		case b[3] == ',' && b[4] == ' ':
			if n := dayFirst(b[5:]); n > 0 {
				return 5 + n
			}
		case b[3] == ' ':
			if n := monthFirst(b[4:]); n > 0 {
				return 4 + n
			}
		}
		return 0
	}
	return monthFirst(b)
}

func monthFirst(b []byte) int {
	if month(b) == 0 || len(b) < 10 || b[3] != ' ' {
		return 0
	}
	at := 4
	if b[at] == ' ' {
		at++
	}
	day := count(b[at:], digit)
	if day == 0 || day > 2 || at+day >= len(b) || b[at+day] != ' ' {
		return 0
	}
	at += day + 1
	n := hourMinute(b[at:])
	if n == 0 || !boundary(b, at+n) {
		return 0
	}
	at += n
	at += zone(b[at:])
	if len(b) >= at+5 && b[at] == ' ' && count(b[at+1:], digit) == 4 && (b[at+1] == '1' || b[at+1] == '2') {
		at += 5
	}
	return at
}

// duration matches a number with a unit of time: 12ms, 12 ms, 0.31s, 3 seconds, 1m30s.
func duration(b []byte) int {
	n := count(b, digit)
	if n+1 < len(b) && b[n] == '.' && class[b[n+1]]&digit != 0 {
		n += 1 + count(b[n+1:], digit)
	}
	total := 0
	for n < len(b) {
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

// unit matches a unit of time and returns its length. After a space a lone m or h is no unit: it may be metres.
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

// tempName matches what the standard libraries call a temporary file: tmp and eight random characters, or tmp. and ten.
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

// prefixed matches prefix and then at least least bytes of the class, up to the word's end.
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
