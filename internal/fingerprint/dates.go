package fingerprint

import "bytes"

// The functions in this file return the length of the time or date at the beginning of a text, or 0 if there is none.

// isoTime matches 2006-01-02T15:04. A space may replace T; seconds, a fraction and a zone may follow. A date alone does not match,
// because it is content, such as the day of a flight.
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

// clock matches a time of day at b[i]: 15:04, 15:04:05, 3:04 pm. Numbers after a colon or a dot do not match, because they may be
// a line and a column.
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
	if len(b) < 3 {
		return 0
	}
	switch string(b[:3]) {
	case "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec":
		return 3
	}
	return 0
}

func weekday(b []byte) bool {
	switch string(b[:3]) {
	case "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	}
	return false
}

// namedDate matches "Mon, 02 Jan 2006 15:04:05 GMT", "Mon Jan  2 15:04:05 UTC 2006", "Jan  2 15:04" and "Jan 2 15:04:05".
func namedDate(b []byte) int {
	if len(b) < 5 || b[3] != ' ' && b[3] != ',' {
		return 0
	}
	if weekday(b) {
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
