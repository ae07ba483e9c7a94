package fingerprint

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// packedNames are the names of the first member of an object that is a result around a text, such as an output with its exit status.
var packedNames = [...]string{"output", "stdout", "stderr", "result", "metadata", "exit_code", "exitCode", "returncode", "isError", "content"}

// PackedArguments reports whether the arguments of a call are a string with an object in it, as in the messages of chat models:
// "{\"command\":\"ls\"}", or {"arguments":"{\"command\":\"ls\"}"}.
func PackedArguments(raw []byte) bool {
	if len(raw) > 3 && raw[0] == '{' {
		raw = packedMember(raw)
	}
	return packs(raw)
}

// PackedResult reports whether the result of a call is a string with an object in it that is an envelope around a text, or the list of
// texts of an MCP server: "{\"output\":\"a\",\"metadata\":{\"exit_code\":0}}".
func PackedResult(raw []byte) bool {
	if !packs(raw) {
		return false
	}
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(raw[2:min(len(raw), maxStatus)], "[{ "), []byte(`\"`))
	name, _, closed := bytes.Cut(rest, []byte(`\"`))
	if !ok || !closed {
		return false
	}
	for _, known := range packedNames {
		if string(name) == known {
			return raw[1] == '{'
		}
	}
	return raw[1] == '[' && (string(name) == "type" || string(name) == "text")
}

// packs reports whether a raw JSON string begins and ends like an object or a list of objects.
func packs(raw []byte) bool {
	if len(raw) < 4 || raw[0] != '"' || raw[1] != '{' && raw[1] != '[' {
		return false
	}
	last := trimEscaped(raw[max(1, len(raw)-maxStatus) : len(raw)-1])
	return len(last) > 0 && (raw[1] == '{' && last[len(last)-1] == '}' || raw[1] == '[' && last[len(last)-1] == ']')
}

// packedMember returns the value of the only member of an object, if it has one of the names of arguments.
func packedMember(object []byte) []byte {
	name, from, ok := memberName(object, 1)
	if !ok || !namesArguments(name) || from+1 >= len(object) || object[from] != '"' || object[from+1] != '{' {
		return nil
	}
	to := skipString(object, from)
	if end := skipSpace(object, to); end >= len(object) || object[end] != '}' {
		return nil
	}
	return object[from:to]
}

// Unpack appends to dst the text of a value that is packed according to PackedArguments or PackedResult. It leaves the \u escapes of control
// characters and of halves of pairs, which mean the same within a string of that text.
func Unpack(dst, raw []byte) []byte {
	if raw[0] == '{' {
		raw = packedMember(raw)
	}
	text := raw[1 : len(raw)-1]
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 || at+1 == len(text) {
			return append(dst, text...)
		}
		dst = append(dst, text[:at]...)
		switch c := text[at+1]; c {
		case 'n', 'r', 't', 'b', 'f':
			dst = append(dst, ' ')
		case 'u':
			r, ok := hex4(text[at+2:])
			if !ok || !isText(r) || utf16.IsSurrogate(r) {
				dst = append(dst, '\\', 'u')
				break
			}
			dst = utf8.AppendRune(dst, r)
			text = text[len("0000"):]
		default:
			dst = append(dst, c)
		}
		text = text[at+2:]
	}
}
