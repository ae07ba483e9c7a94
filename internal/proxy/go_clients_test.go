package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
)

// goClients are the official clients for Go: each with an upstream that answers with the same call again and again, an agent that plays
// along, the error with which its API says that it is busy, and the status of an error that the client returns.
var goClients = map[string]struct {
	upstream func(asked *atomic.Int64, streamed bool) http.HandlerFunc
	agent    func(t *testing.T, base string, streamed bool) (text string, err error)
	busy     int
	failure  map[string]any
	status   func(error) int
}{
	"Anthropic": {
		alwaysTheSameToolUse, anthropicAgent, 529,
		map[string]any{"type": "error", "error": map[string]string{"type": "overloaded_error", "message": "come again"}},
		func(err error) int {
			var failure *sdk.Error
			if !errors.As(err, &failure) {
				return 0
			}
			return failure.StatusCode
		},
	},
	"OpenAI": {
		alwaysTheSameCall, openAIAgent, http.StatusServiceUnavailable,
		map[string]any{"error": map[string]string{"message": "come again"}},
		func(err error) int {
			var failure *openai.Error
			if !errors.As(err, &failure) {
				return 0
			}
			return failure.StatusCode
		},
	},
}

func TestAnAgentWithAClientForGoEndsWithTheAnswerOfTheHalt(t *testing.T) {
	for name, client := range goClients {
		for _, streamed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, streamed %v", name, streamed), func(t *testing.T) {
				u := newUpstream(t)
				var asked atomic.Int64
				u.answer = client.upstream(&asked, streamed)
				s, p := start(t, u, nil)
				text, err := client.agent(t, s.URL, streamed)
				if err != nil || !strings.HasPrefix(text, haltPrefix) || p.Stats().Halted != 1 || p.Stats().Nudged == 0 {
					t.Errorf("the agent ended with %q, %v; %+v", text, err, p.Stats())
				}
			})
		}
	}
}

func TestAClientForGoDoesNotRetryAHaltAndRetriesAnErrorOfTheUpstream(t *testing.T) {
	for name, client := range goClients {
		t.Run(name, func(t *testing.T) {
			u := newUpstream(t)
			var asked atomic.Int64
			u.answer = client.upstream(&asked, false)
			s, p := start(t, u, func(o *Options) { o.OnHalt = HaltError })
			_, err := client.agent(t, s.URL, false)
			if client.status(err) != http.StatusBadRequest || p.Stats().Halted != 1 {
				t.Errorf("the agent ended with %v; %+v", err, p.Stats())
			}
			asked.Store(0)
			u.answer = func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				w.Header().Set("Retry-After-Ms", "1")
				w.WriteHeader(client.busy)
				_, _ = w.Write(encode(client.failure))
			}
			if _, err := client.agent(t, s.URL, false); client.status(err) != client.busy || asked.Load() != 3 {
				t.Errorf("after %d requests: %v", asked.Load(), err)
			}
		})
	}
}
