package proxy

import (
	"bytes"
	"net/http"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// sessionHeaders are the headers in which clients name a conversation, and those of a sub-agent within it.
var sessionHeaders = []struct{ session, agent string }{
	{"X-Claude-Code-Session-Id", "X-Claude-Code-Agent-Id"},
	{"Thread-Id", ""},
	{"X-Session-Id", ""},
	{"X-Session-Affinity", ""},
	{"X-Amp-Thread-Id", ""},
	{"X-Litellm-Trace-Id", ""},
	{"X-Litellm-Session-Id", ""},
	{"Helicone-Session-Id", ""},
	{"X-Dynamo-Session-Id", ""},
}

// longestName is the longest name of a session or a project, in bytes.
const longestName = 200

// sessionOf returns the name that the client gives the conversation in a header, and "" if it gives none or one that is too long.
func sessionOf(h http.Header) string {
	for _, names := range sessionHeaders {
		session := h.Get(names.session)
		if session == "" {
			continue
		}
		if names.agent != "" && h.Get(names.agent) != "" {
			session += "/" + h.Get(names.agent)
		}
		if len(session) <= longestName {
			return session
		}
	}
	return ""
}

// sessionMembers are the members of a request in which clients name a conversation.
type sessionMembers struct {
	Metadata struct {
		UserID    jsontext.Value `json:"user_id"`    // of Claude Code
		SessionID jsontext.Value `json:"session_id"` // of clients of LiteLLM
	} `json:"metadata"`
	CacheKey jsontext.Value `json:"prompt_cache_key"` // of Codex and opencode
}

// session returns the name of the conversation, or "".
func (m *sessionMembers) session() string {
	user := ingest.UnquoteText(m.Metadata.UserID)
	_, old, _ := strings.Cut(user, "_session_")
	var inner struct {
		SessionID string `json:"session_id"`
	}
	_ = jsonv2.Unmarshal([]byte(user), &inner, lenient) // another text names no session
	for _, name := range []string{inner.SessionID, old, ingest.UnquoteText(m.Metadata.SessionID), ingest.UnquoteText(m.CacheKey)} {
		if name != "" && len(name) <= longestName {
			return name
		}
	}
	return ""
}

// maxTail is how many of the last bytes of a request are searched for the name of the conversation.
const maxTail = 256 << 10

// sessionIn returns the name that the client gives the conversation in the body, before or behind the history, which is the member list.
// It returns "" if there is none.
func sessionIn(body []byte, list string) string {
	if session := sessionBefore(body, list); session != "" {
		return session
	}
	tail := body[max(0, len(body)-maxTail):]
	for _, name := range []string{`"metadata"`, `"prompt_cache_key"`} {
		at := bytes.LastIndex(tail, []byte(name))
		if at < 0 {
			continue
		}
		// Only a member of the outermost object is followed by nothing but members and the end.
		var m sessionMembers
		if jsonv2.Unmarshal(append([]byte{'{'}, tail[at:]...), &m, lenient) != nil {
			continue
		}
		if session := m.session(); session != "" {
			return session
		}
	}
	return ""
}

// sessionBefore reads the members before the history.
func sessionBefore(body []byte, list string) string {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body), lenient)
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return ""
	}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil || token.String() == list {
			return ""
		}
		name := token.String()
		value, err := dec.ReadValue()
		if err != nil {
			return ""
		}
		if name != "metadata" && name != "prompt_cache_key" {
			continue
		}
		var m sessionMembers
		if jsonv2.Unmarshal([]byte(`{"`+name+`":`+string(value)+"}"), &m, lenient) == nil && m.session() != "" {
			return m.session()
		}
	}
	return ""
}
