package ingest

import "github.com/go-json-experiment/json/jsontext"

// Instrumentations put the arguments and the result of a call into envelopes, whose other members (tags, steps, call ids, trace
// contexts) differ from call to call and would hide equal calls. The number of removed envelopes is bounded.
const envelopes = 3

// UnwrapArguments returns the arguments of a call from an MCP request or its parameters, a LangChain callback's input, or a Python
// function's keyword arguments. Other values stay unchanged.
func UnwrapArguments(raw string) string {
	for range envelopes {
		m := MembersOf(raw)
		switch {
		case m == nil:
			return raw
		case has(m, "method", "params"):
			raw = string(m["params"])
		case has(m, "arguments") && (has(m, "name") || has(m, "tool_name")):
			return string(m["arguments"])
		case m["inputs"].Kind() == '{' && has(m, "input_str"):
			return string(m["inputs"])
		case has(m, "input_str"):
			return string(Arguments(m["input_str"]))
		case len(m) == 2 && string(m["args"]) == "[]" && has(m, "kwargs"):
			return string(m["kwargs"])
		default:
			return raw
		}
	}
	return raw
}

// UnwrapResult returns the result of a tool from a LangChain callback's output and the tool message in it, with the id of the call
// if the message has one. The message may mark a failure although the span does not.
func UnwrapResult(raw string) (output, callID string, failed bool) {
	for range envelopes {
		m := MembersOf(raw)
		switch {
		case m == nil:
			return raw, "", false
		case has(m, "output") && (len(m) == 1 || has(m, "kwargs")):
			raw = string(m["output"])
		case has(m, "lc", "kwargs"):
			raw = string(m["kwargs"])
		case has(MembersOf(string(m["data"])), "content", "tool_call_id"):
			raw = string(m["data"])
		case has(m, "content", "tool_call_id"):
			return string(m["content"]), UnquoteText(m["tool_call_id"]), string(m["status"]) == `"error"`
		default:
			return raw, "", false
		}
	}
	return raw, "", false
}

func has(members map[string]jsontext.Value, names ...string) bool {
	for _, name := range names {
		if _, ok := members[name]; !ok {
			return false
		}
	}
	return true
}
