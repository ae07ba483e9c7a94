package openaiguard

import (
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/option"

	"github.com/unloop-ai/unloop/internal/adapter"
)

// Observe is middleware for option.WithMiddleware. It records in the guard of the request's context, from guard.NewContext: the model
// calls, the messages of the user and the model, and the tool calls that the model wants, with their results, which the next request
// contains. It reads chat completions and responses, streamed or not. It changes nothing and never fails a request. A request whose
// context has no guard is not recorded, and the requests of a Loop are recorded by the Loop.
//
// Agents whose tools run under the guard use ObserveModel instead, since the guard already records the calls.
func Observe(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	return observe(req, next, true)
}

// ObserveModel is Observe without the tool calls and their results.
func ObserveModel(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	return observe(req, next, false)
}

func observe(req *http.Request, next option.MiddlewareNext, tools bool) (*http.Response, error) {
	switch {
	case strings.HasSuffix(req.URL.Path, "/chat/completions"):
		return adapter.Observe(req, next, chat{}, tools)
	case strings.HasSuffix(req.URL.Path, "/responses"):
		return adapter.Observe(req, next, responsesAPI{}, tools)
	}
	return next(req)
}
