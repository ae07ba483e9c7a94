package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/settings"
)

// Unknown is a name that an input contains and its format does not define, such as a misspelt field. The input is read as if the
// name was absent.
type Unknown struct {
	Kind  string   // what is named: "field", "event type", "field of usage" or RoleKind
	Name  string   // as the input has it
	Known []string // the defined names of this kind
	Path  string   // of a role: the path of the value
}

// RoleKind is the kind of the role of a message.
const RoleKind = "role"

// CheckRole reports the role of the message at path if it is not known.
func (in *Input) CheckRole(path, role string, known []string) {
	if in.Unknown != nil && !slices.Contains(known, role) {
		in.Unknown(Unknown{Kind: RoleKind, Name: role, Known: known, Path: join(path, "role")})
	}
}

// maxUnknownName is the maximum number of bytes of a name whose nearest known name is searched for, and maxShown of a name in a
// text.
const maxUnknownName, maxShown = 256, 64

// aliases are names that other APIs use for fields of events and of usage, and for roles.
var aliases = map[string]string{
	"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "total_tokens": "tokens", "cache_read_input_tokens": "cached_input_tokens",
	"cache_creation_input_tokens": "cache_write_tokens", "arguments": "input", "args": "input", "result": "output", "tool_name": "tool",
	"tool_call_id": "call_id", "session_id": "run_id", "duration_ms": "latency_ms", "content": "text",
	"human": "user", "ai": "assistant", "model": "assistant",
}

// String says what is unknown, which known name was probably meant, and that the name has no effect. It lists the known roles, because there
// are few.
func (u Unknown) String() string {
	meant := u.Name[:min(len(u.Name), maxUnknownName)]
	if alias := aliases[meant]; slices.Contains(u.Known, alias) {
		meant = alias
	}
	if u.Kind == RoleKind {
		return fmt.Sprintf("%s: unknown role %.*q%s, want one of %s; rules ignore the message",
			beginningOf(u.Path), maxShown, u.Name, settings.DidYouMeanWithin(meant, u.Known), strings.Join(u.Known, ", "))
	}
	return fmt.Sprintf("unknown %s %.*q%s; rules ignore it", u.Kind, maxShown, u.Name, settings.DidYouMeanWithin(meant, u.Known))
}

// EventTypes returns the names of the event types.
func EventTypes() (names []string) {
	for _, known := range unloop.EventTypes() {
		names = append(names, string(known))
	}
	return names
}
