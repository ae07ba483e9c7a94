package fingerprint

import (
	"bytes"
	"math/bits"
	"slices"
)

// The names of an object's members that hold the exit status of a program, and those that hold the text about a failure. Of several
// texts in one object, the first in the list counts.
var (
	statusNames  = [...]string{"exit_code", "exitCode", "exit_status", "returncode", "return_code"}
	failureTexts = [...]string{"error", "stderr", "message", "output", "result", "stdout"}
)

// maxStatus is the number of bytes of the first and of the last line of an output in which an exit status is looked for.
const maxStatus = 64

// Failure reports whether the output of a completed call, as raw JSON, says that the call failed. A text does so with an exit status
// other than 0 in its first or last line, or if it begins with a traceback or "Error:". An object does so with such an exit status, with
// an error, or with false for success. text is the part of raw that describes the failure, or the whole of raw if no part does.
func Failure(raw []byte) (text []byte, failed bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return raw, false
	}
	switch raw[0] {
	case '"':
		return raw, failureInText(raw[1:max(1, len(raw)-1)])
	case '{':
		return failureInObject(raw)
	case '[':
		if at := skipSpace(raw, 1); at < len(raw) && raw[at] == '{' {
			if first := textOf(raw[at:skipValue(raw, at)]); first != nil && isRemark(first) {
				return raw, failureInText(first[1 : len(first)-1])
			}
		}
	}
	return raw, false
}

func failureInObject(object []byte) (text []byte, failed bool) {
	best := len(failureTexts)
	text = object
	called, refused := false, false
	for at := 1; ; {
		name, value, next, ok := memberAt(object, at)
		if !ok {
			return text, failed || called && refused
		}
		at = next
		called = called || roleOf(name, value) == aCall
		switch string(name) {
		case "status":
			refused = refused || string(value) == `"error"`
		case "type":
			failed = failed || string(value) == `"error-text"` || string(value) == `"error-json"`
		}
		failed = failed || tellsFailure(string(name), value)
		for k := range best {
			if string(name) != failureTexts[k] {
				continue
			}
			if inner := textWithin(value); inner != nil {
				best, text = k, inner
			}
			break
		}
	}
}

// tellsFailure reports whether a member of an object says that the call failed.
func tellsFailure(name string, value []byte) bool {
	switch name {
	case "success", "ok":
		return value[0] == 'f'
	case "isError", "is_error":
		return value[0] == 't'
	case "metadata":
		_, failed := failureInStatus(value)
		return failed
	case "error":
		return value[0] == 't' || value[0] == '{' || value[0] == '"' && len(value) > 2
	}
	return slices.Contains(statusNames[:], name) && nonZero(value)
}

// nonZero reports whether an exit status, as a number or a text, is other than 0.
func nonZero(value []byte) bool {
	if value[0] == '"' && len(value) > 2 {
		value = value[1:]
	}
	return value[0] == '-' || '1' <= value[0] && value[0] <= '9'
}

// failureInStatus reports whether an object has an exit status, and whether it is other than 0.
func failureInStatus(object []byte) (known, failed bool) {
	for at := 1; object[0] == '{'; {
		name, value, next, ok := memberAt(object, at)
		if !ok {
			break
		}
		at = next
		if slices.Contains(statusNames[:], string(name)) {
			return true, nonZero(value)
		}
	}
	return false, false
}

// textWithin returns the value if it is a text, or the message in it if it is an object. It returns nil for an empty text and for none.
func textWithin(value []byte) []byte {
	for at := 1; value[0] == '{'; {
		name, inner, next, ok := memberAt(value, at)
		if !ok {
			return nil
		}
		if string(name) == "message" {
			value = inner
			break
		}
		at = next
	}
	if value[0] == '"' && len(value) > 2 {
		return value
	}
	return nil
}

// failureInText reports whether the inside of a JSON string says that the call failed.
func failureInText(text []byte) bool {
	text = trimEscaped(text)
	text = text[control(text):]
	if bytes.HasPrefix(text, []byte("Traceback (most recent call last):")) || bytes.HasPrefix(text, []byte("Error:")) {
		return true
	}
	for head := text; ; { // the first line, or one of those that a shell tool writes before an output
		if known, failed := exitStatus(head[:min(len(head), maxStatus)], inFirstLine); known {
			return failed
		}
		if !linesBefore.begin(head) {
			break
		}
		line, rest := cutLine(head[:min(len(head), 4*maxStatus)])
		if rest == nil {
			break
		}
		if known, failed := exitStatus(line, inFirstLine); known {
			return failed
		}
		head = head[len(line)+1:]
		head = bytes.TrimPrefix(head, []byte("n")) // of an escaped line end
	}
	tail := text[max(0, len(text)-2*maxStatus):]
	if bytes.IndexByte(tail, 'x') >= 0 && bytes.Contains(tail, []byte(exitLine)) { // which is faster than to look for the last
		if n := bytes.LastIndex(tail, []byte(exitLine)) + len(exitLine); n < len(tail) {
			return tail[n] != '0'
		}
	}
	_, failed := exitStatus(tail[max(0, len(tail)-maxStatus):], inLastLine)
	return failed
}

// exitLine begins the line with the exit status of Gemini CLI and Qwen Code. Lines with the signal and the process group follow it.
const exitLine = `\nExit Code: `

func inFirstLine(part []byte, at int) bool { return oneLine(part[:at]) }

func inLastLine(part []byte, at int) bool { return oneLine(part[at:]) }

func oneLine(part []byte) bool {
	_, rest := cutLine(part)
	return rest == nil
}

// trimEscaped trims white space and line ends, escaped as in JSON or plain.
func trimEscaped(text []byte) []byte {
	for {
		text = bytes.TrimSpace(text)
		switch {
		case len(text) > 1 && text[0] == '\\' && (text[1] == 'n' || text[1] == 'r' || text[1] == 't'):
			text = text[2:]
		case len(text) > 1 && text[len(text)-2] == '\\' && (text[len(text)-1] == 'n' || text[len(text)-1] == 'r'):
			text = text[:len(text)-2]
		default:
			return text
		}
	}
}

// escapedTag is the end of a tag in JSON that is escaped for HTML.
const escapedTag = `\u003e`

// exitEnds and returnEnds are the texts behind the stems xit and eturn in the phrases before an exit status.
var (
	exitEnds   = []string{" code", "_code", "code", " status", "ed with code", "ed with status", "="}
	returnEnds = []string{"code", " code", "_code"}
)

// exitStatus reports whether part has an exit status at a position that counts, and whether that status is other than 0. A status behind
// exit takes precedence over one behind return.
func exitStatus(part []byte, counts func(part []byte, at int) bool) (known, failed bool) {
	for i := indexStem(part, 0); i < len(part); i = indexStem(part, i+1) {
		isExit := part[i] == 'x'
		ends, at := exitEnds, i+len("xit")
		switch {
		case isExit && bytes.HasPrefix(part[i:], []byte("xit")):
		case !isExit && !known && i > 0 && bytes.HasPrefix(part[i-1:], []byte("eturn")):
			ends, at = returnEnds, i+len("turn")
		default:
			continue
		}
		if b := statusBehind(part[at:], ends); b != 0 && counts(part, at) {
			known, failed = true, b != '0'
			if isExit {
				return known, failed
			}
		}
	}
	return known, failed
}

// indexStem returns the position of the first x or tu from i on that can begin a stem, or len(b). These letters are the rarest of the stems. A
// position before it may be returned, too, but none behind it. The search reads eight bytes at a time, and the last eight again instead of
// single ones.
func indexStem(b []byte, i int) int {
	last := len(b) - 9
	if last < 0 {
		for i+1 < len(b) && b[i] != 'x' && (b[i] != 't' || b[i+1] != 'u') {
			i++
		}
		if i+1 >= len(b) {
			return len(b)
		}
		return i
	}
	for ; i <= last; i += 8 {
		if found := stems(b, i); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	if found := stems(b, last) >> (8 * uint(i-last)); found != 0 {
		return i + bits.TrailingZeros64(found)/8
	}
	return len(b)
}

// stems has a bit for each of the eight bytes from i on that is the x or the t of a stem. Bits above the lowest one may be wrong. The x of a
// stem has an ASCII character behind it.
func stems(b []byte, i int) uint64 {
	const each, high = 0x0101010101010101, 0x8080808080808080
	first := load(b, i)
	noX, noTU := first^'x'*each, (first^'t'*each)|(load(b, i+1)^'u'*each)
	return ((noX - each) | (noTU - each)) &^ noTU & high
}

// statusBehind returns the first character of the number that follows one of the ends at the beginning of text, or 0 if there is none.
func statusBehind(text []byte, ends []string) byte {
	for _, end := range ends {
		rest, ok := bytes.CutPrefix(text, []byte(end))
		if !ok {
			continue
		}
		if len(rest) >= len(escapedTag) && bytes.EqualFold(rest[:len(escapedTag)], []byte(escapedTag)) {
			rest = rest[len(escapedTag):]
		}
		rest = bytes.TrimLeft(rest, " :=>")
		if len(rest) > 0 && (class[rest[0]]&digit != 0 || rest[0] == '-') {
			return rest[0]
		}
	}
	return 0
}
