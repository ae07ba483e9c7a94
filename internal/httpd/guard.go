package httpd

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Guards has the guards that agents call before and after their tool calls.
type Guards interface {
	// Guard returns the guard of a profile with changed settings. An empty name means the server's own profile. If the profile or
	// its settings are invalid, the error is SettingErrors.
	Guard(profile string, settings map[string]string) (Guard, error)
}

// Guard answers lines of the guard's protocol. It is safe for concurrent use.
type Guard interface {
	// Answer writes the answer to each line of a text, in order. The answer to an invalid line is an error message. The returned
	// error is that of the context or of the writer.
	Answer(ctx context.Context, text []byte, out io.Writer) error
}

// guardSettings is the maximum number of changed settings of a request.
const guardSettings = 64

func (s *Server) guardRoutes() {
	op := s.operation(http.MethodPost, "/api/guard", Ingest, "guard", "ask-guard", "Ask the guard",
		"Accepts lines of the guard protocol (docs/guard-protocol.md), one JSON object per line, and answers each with a line, in order. "+
			"The answer to an invalid line is an error. The server keeps the state of each run between requests, but records no "+
			"events: send them to /api/events.")
	op.Parameters = []*huma.Param{
		{
			Name: "profile", In: "query", Description: "Name of a profile. Default: the server's profile.",
			Schema: &huma.Schema{Type: "string"},
		},
		{
			Name: "set", In: "query", Description: "A setting of the profile to change: NAME=VALUE. Can be repeated, 64 times at most.",
			Schema: &huma.Schema{Type: "array", Items: &huma.Schema{Type: "string"}}, Explode: new(true),
		},
	}
	line := &huma.Schema{Type: "object", Description: "One object per line."}
	op.RequestBody = &huma.RequestBody{Required: true, Content: content("application/x-ndjson", line)}
	op.Responses["200"] = &huma.Response{Description: "The answers, one line per line of the request.", Content: content("application/x-ndjson", line)}
	s.raw(op, s.askGuard)
}

func (s *Server) askGuard(w http.ResponseWriter, r *http.Request) error {
	parameters := r.URL.Query()
	settings, err := setsOf(parameters["set"])
	if err != nil {
		return err
	}
	guard, err := s.Guards.Guard(parameters.Get("profile"), settings)
	var wrong SettingErrors
	switch {
	case errors.As(err, &wrong) && len(wrong) > 0:
		return wrong.problem(http.StatusBadRequest, "set.")
	case err != nil:
		return err
	}
	b, err := s.read(w, r)
	if err != nil {
		return err
	}
	defer b.release()
	w.Header().Set("Content-Type", "application/x-ndjson")
	_ = guard.Answer(r.Context(), b.bytes, w) // an error means that the client has disconnected
	return nil
}

// setsOf returns the settings by name. If a name is given several times, the last value is used.
func setsOf(given []string) (map[string]string, error) {
	if len(given) > guardSettings {
		return nil, problem(http.StatusBadRequest, "set", "must not be given more than 64 times")
	}
	settings := make(map[string]string, len(given))
	for _, set := range given {
		name, value, ok := strings.Cut(set, "=")
		if !ok || name == "" {
			return nil, problem(http.StatusBadRequest, "set", "want NAME=VALUE")
		}
		settings[name] = value
	}
	return settings, nil
}
