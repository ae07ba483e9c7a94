package cursor

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// failures are the members of a result that is no success.
var failures = []string{"error", "failure", "rejected", "timeout", "fileNotFound", "permissionDenied", "invalidFile", "spawnError"}

// outcome returns the outcome of a call: {"success":{…}}, or an object with one of the failures. A shell command fails by its exit code.
func outcome(result jsontext.Value) (output json.RawMessage, failed bool, reason string) {
	m := ingest.MembersOf(string(result))
	if success := m["success"]; success != nil {
		inner := ingest.MembersOf(string(success))
		exit := string(inner["exitCode"])
		failed := exit != "" && exit != "0" && exit != "null" || string(inner["isError"]) == "true"
		return ingest.Output(success), failed, ""
	}
	for _, name := range failures {
		value := m[name]
		if value == nil {
			continue
		}
		inner := ingest.MembersOf(string(value))
		for _, text := range []jsontext.Value{value, inner["errorMessage"], inner["error"], inner["message"], inner["reason"]} {
			if reason := ingest.UnquoteText(text); reason != "" {
				return nil, true, reason
			}
		}
		return ingest.Output(value), true, ""
	}
	return ingest.Output(result), false, ""
}
