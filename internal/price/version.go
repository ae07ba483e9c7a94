package price

// isMark reports whether a version can begin with c.
func isMark(c byte) bool { return c == '-' || c == '@' || c == ':' || c == '[' }

// isVersion reports whether rest consists only of versions of one model with one price: days, builds, stages and context sizes. A
// single number of one or two digits is not a version: claude-opus-4-9 is not claude-opus-4.
func isVersion(rest []byte) bool {
	before := 0 // digits of the previous part, which is part of a day if there are two or four
	for len(rest) > 0 {
		mark, part := rest[0], rest[1:]
		if !isMark(mark) {
			return false
		}
		n := 0
		for n < len(part) && !isMark(part[n]) {
			n++
		}
		part, rest = part[:n], rest[1+n:]
		digits := digitsOf(part)
		switch {
		case digits == 0:
			if !isStage(part) {
				return false
			}
		case digits == 1 && mark != ':':
			return false
		case digits == 2 && !isDayPart(before) && !isDayPart(nextDigits(rest)):
			return false
		}
		before = digits
	}
	return true
}

func isDayPart(digits int) bool { return digits == 2 || digits == 4 }

// nextDigits returns the number of digits of the next part of rest.
func nextDigits(rest []byte) int {
	if len(rest) == 0 || rest[0] != '-' {
		return 0
	}
	n := 1
	for n < len(rest) && !isMark(rest[n]) {
		n++
	}
	return digitsOf(rest[1:n])
}

// digitsOf returns the number of digits of a part, or 0 if it has other characters.
func digitsOf(part []byte) int {
	for _, c := range part {
		if c < '0' || c > '9' {
			return 0
		}
	}
	return len(part)
}

// isStage reports whether a part is the name of a stage, or v and a number.
func isStage(part []byte) bool {
	switch string(part) {
	case "latest", "preview", "exp", "default", "1m]":
		return true
	}
	return len(part) > 1 && part[0] == 'v' && digitsOf(part[1:]) > 0
}
