package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/sink"
)

// Endpoint is an HTTP endpoint that receives notices.
type Endpoint struct {
	URL      string
	Format   string          // FormatJSON or FormatSlack; "" means FormatJSON
	Secret   string          // signs messages; "" for no signature
	Rules    []string        // send only warnings of these rules; empty for all
	Severity unloop.Severity // send only warnings of at least this severity; "" means info
	Projects []string        // send only warnings of runs of these projects; empty for all
	Timeout  time.Duration   // of one attempt; 0 means 10 s
}

// The formats of messages.
const (
	FormatJSON  = "json"
	FormatSlack = "slack"
)

// Validate returns all errors of the endpoint. They do not quote the URL, which may contain a secret.
func (e *Endpoint) Validate() error {
	mistakes := []error{checkURL("url", e.URL)}
	if e.Format != "" && e.Format != FormatJSON && e.Format != FormatSlack {
		mistakes = append(mistakes, fmt.Errorf("format must be %s or %s, not %q", FormatJSON, FormatSlack, e.Format))
	}
	if e.Severity != "" && !slices.Contains(sink.Severities[:], e.Severity) {
		mistakes = append(mistakes, fmt.Errorf("severity must be one of %v, not %q", sink.Severities, e.Severity))
	}
	if e.Timeout != 0 && (e.Timeout < 100*time.Millisecond || e.Timeout > 5*time.Minute) {
		mistakes = append(mistakes, fmt.Errorf("timeout must be from 100ms to 5m, not %s", e.Timeout))
	}
	return errors.Join(mistakes...)
}

func checkURL(name, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("%s must be an address with http:// or https:// and a host", name)
	}
	return nil
}

func (e *Endpoint) withDefaults() Endpoint {
	full := *e
	if full.Format == "" {
		full.Format = FormatJSON
	}
	if full.Timeout == 0 {
		full.Timeout = 10 * time.Second
	}
	return full
}

// key identifies the endpoint in claims. It is a hash, because the URL may contain a secret.
func (e *Endpoint) key() string {
	sum := sha256.Sum256([]byte(e.URL))
	return hex.EncodeToString(sum[:8])
}

// PublicPart returns the scheme and the host of a URL, which people and logs may see. The rest may be a secret.
func PublicPart(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// host returns the part of the URL that may be logged.
func (e *Endpoint) host() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return ""
	}
	return u.Host
}
