package secondopinion

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Settings configure a Client. Endpoint and Model are required. A field that is 0 has the default in its comment.
type Settings struct {
	Endpoint  string        // base URL of the API, such as https://api.openai.com/v1
	Model     string        // name of the model
	Key       string        // API key; "" sends none
	Timeout   time.Duration // of a question, 100 ms to 5 minutes; default 20 seconds
	PerRun    int           // maximum questions of one run, 1 to 1,000,000; default 5
	PerHour   int           // maximum questions of all runs in an hour, 1 to 1,000,000; default 60
	MaxTokens int           // maximum tokens of an answer, 50 to 100,000; default 1000
	Unmasked  bool          // secrets in questions are not masked
	Patterns  []string      // further secrets to mask, as regular expressions (RE2)
}

// fill sets the defaults.
func (s *Settings) fill() {
	if s.Timeout == 0 {
		s.Timeout = 20 * time.Second
	}
	if s.PerRun == 0 {
		s.PerRun = 5
	}
	if s.PerHour == 0 {
		s.PerHour = 60
	}
	if s.MaxTokens == 0 {
		s.MaxTokens = 1000
	}
}

// validate returns an error that joins all settings out of range, in the order of the fields.
func (s *Settings) validate() error {
	var mistakes []error
	wrong := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }
	if u, err := url.Parse(s.Endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		wrong("endpoint must be a URL that begins with http:// or https://") // it may contain a secret
	}
	if strings.TrimSpace(s.Model) == "" {
		wrong("model must not be empty")
	}
	if s.Timeout < 100*time.Millisecond || s.Timeout > 5*time.Minute {
		wrong("timeout is %v; it must be from 100ms to 5m", s.Timeout)
	}
	for _, f := range [...]struct {
		name               string
		value, least, most int
	}{{"per_run", s.PerRun, 1, 1_000_000}, {"per_hour", s.PerHour, 1, 1_000_000}, {"max_tokens", s.MaxTokens, 50, 100_000}} {
		if f.value < f.least || f.value > f.most {
			wrong("%s is %d; it must be from %d to %d", f.name, f.value, f.least, f.most)
		}
	}
	return errors.Join(mistakes...)
}
