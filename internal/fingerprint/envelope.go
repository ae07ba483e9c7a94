package fingerprint

import "bytes"

// maxEnvelopes is the maximum number of envelopes around a result.
const maxEnvelopes = 4

// Content returns what the envelopes around a result have in them. It returns any other value unchanged, without white space around it.
func Content(raw []byte) []byte {
	raw = bytes.TrimSpace(raw)
	for range maxEnvelopes {
		inner := Envelope(raw)
		if len(inner) == len(raw) {
			break
		}
		raw = inner
	}
	return raw
}

// Envelope returns what an envelope has in it, as raw JSON: the text in a result of an MCP server, from
// {"content":[{"type":"text","text":…}]} or the list alone, and the result in an object that otherwise says only whether the call worked, or
// which call it was, such as {"success":true,"data":…} or {"type":"tool","tool_call_id":…,"content":…}. A text that a list has twice, for the
// model and for the user, counts once. It returns any other value unchanged, also a list with several texts.
func Envelope(raw []byte) []byte {
	if len(raw) < 2 {
		return raw
	}
	switch raw[0] {
	case '[':
		return onlyText(raw)
	case '{':
		return enveloped(raw)
	}
	return raw
}

// onlyText returns the text of a list of parts that have no other, or the only object in a list if it has an exit status. A part that is only a
// remark of the agent's program does not count.
func onlyText(list []byte) []byte {
	var text, part []byte
	parts := 0
	for at := skipSpace(list, 1); at < len(list)-1; parts++ {
		end := skipValue(list, at)
		if end == at || list[at] != '{' {
			return list
		}
		part = list[at:end]
		value := textOf(part)
		switch {
		case value == nil && parts > 0:
			return list
		case value == nil || text == nil || isRemark(text):
			text = value
		case !bytes.Equal(text, value):
			return list
		}
		if at = skipSpace(list, end); at < len(list) && list[at] == ',' {
			at = skipSpace(list, at+1)
		}
	}
	if text == nil && parts == 1 {
		if known, _ := failureInStatus(part); known {
			return part
		}
		return list
	}
	if text == nil {
		return list
	}
	return text
}

// textOf returns the text of a part of a list, as a raw JSON string, or nil if it has none.
func textOf(part []byte) (text []byte) {
	for at := 1; ; {
		name, value, next, ok := memberAt(part, at)
		switch {
		case !ok:
			return text
		case string(name) == "type" && string(value) != `"text"`:
			return nil
		case string(name) == "text" && value[0] == '"':
			text = value
		}
		at = next
	}
}

// isRemark reports whether a raw JSON string is an element named system.
func isRemark(text []byte) bool {
	for k, start := range tagStarts {
		rest, begins := bytes.CutPrefix(trimEscaped(Inside(text)), start)
		rest, closes := bytes.CutSuffix(rest, tagEnds[k])
		if begins && closes && bytes.HasPrefix(rest, []byte("system")) && bytes.HasSuffix(rest, []byte("/system")) {
			return true
		}
	}
	return false
}

// enveloped returns the result in an object whose other members say only whether the call worked, or which call it was. Beside a list of texts
// of an MCP server, it may have one other member. It returns any other value unchanged.
func enveloped(object []byte) []byte {
	var result []byte
	var counts [aLabel + 1]int
	for at := 1; counts[aValue] < 2; {
		name, value, next, ok := memberAt(object, at)
		if !ok {
			break
		}
		at = next
		kind := roleOf(name, value)
		counts[kind]++
		if kind != aResult && kind != aResponse {
			continue
		}
		result = value
		if string(name) == "content" && value[0] == '[' {
			if text := onlyText(value); len(text) < len(value) {
				return text
			}
		}
	}
	calls := counts[aCall] + counts[aResponse]
	switch results := counts[aResult] + counts[aResponse]; {
	case results != 1, counts[aValue] > 0, counts[aLabel] > 0 && calls == 0, calls+counts[aStatus] == 0:
		return object
	}
	return result
}

// memberRole is what a member says in an object that may be an envelope.
type memberRole uint8

const (
	aValue    memberRole = iota // anything: the object is no envelope
	aResult                     // the result
	aResponse                   // the result of a call, in an object that describes the call
	aStatus                     // whether the call worked
	aCall                       // which call it was
	aLabel                      // what is no result in an object that says which call it was
)

// roleOf returns what a member says.
func roleOf(name, value []byte) memberRole {
	switch string(name) {
	case "success", "ok", "is_error", "isError":
		return aStatus
	case "tool_call_id", "call_id", "tool_use_id", "toolCallId", "toolUseId", "callId":
		return aCall
	case "functionResponse", "function_response", "response":
		if value[0] == '{' {
			return aResponse
		}
	case "data", "result", "output", "content", "value":
		if value[0] == '"' || value[0] == '{' || value[0] == '[' {
			return aResult
		}
	case "type":
		if typesResult(value) {
			return aStatus
		}
		return aLabel
	case "id", "name", "kind", "role", "status", "toolName", "tool_name":
		return aLabel
	}
	if n := len(value); n < 5 && (value[0] == 'n' || n == 2 && (value[0] == '{' || value[0] == '[' || value[0] == '"')) {
		return aLabel // nothing
	}
	return aValue
}

// typesResult reports whether a type, as raw JSON, is that of a text or another result.
func typesResult(value []byte) bool {
	switch string(value) {
	case `"text"`, `"json"`, `"error-text"`, `"error-json"`:
		return true
	}
	return false
}
