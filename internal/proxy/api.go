package proxy

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// api is a model API whose requests contain the history of a conversation.
type api interface {
	// list returns the member of a request that contains the history.
	list() string
	// addEvents sends the events of one item of the history to b.
	addEvents(b *ingest.EventBuilder, at ingest.Location, item jsontext.Value) error
	// nudge returns the body of r with text at the end of its history, as content of the API's own kind.
	nudge(r *request, text string) ([]byte, error)
	// answer returns a complete answer that says text, as the model would give it to r.
	answer(r *request, text string) answer
	// failure returns the body of an error.
	failure(status int, text string) []byte
}

// answer is an answer that the proxy gives in the model's place.
type answer struct {
	contentType string
	body        []byte
	id          string // with which a request can continue it; "" if the API has no such requests
}

// routes find the API of a request by its path below the base URL. They return nil for requests that pass unjudged.
var routes = map[string]func(*http.Request) api{
	"openai": func(r *http.Request) api {
		switch {
		case strings.HasSuffix(r.URL.Path, "/chat/completions"):
			return chat{}
		case strings.HasSuffix(r.URL.Path, "/responses"):
			return responses{}
		}
		return nil
	},
	"anthropic": func(r *http.Request) api {
		if strings.HasSuffix(r.URL.Path, "/messages") {
			return anthropic{}
		}
		return nil
	},
	"gemini": func(r *http.Request) api {
		_, method, _ := strings.Cut(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], ":")
		switch method {
		case "generateContent":
			return gemini{}
		case "streamGenerateContent":
			return gemini{stream: true, events: r.URL.Query().Get("alt") == "sse"}
		}
		return nil
	},
}

// haltPrefix begins every text that the proxy says in the model's place, so that it is known again in later histories.
const haltPrefix = "[unloop] "

// isOwnText reports whether the proxy said text in the model's place.
func isOwnText(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), haltPrefix) }
