package mcpd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// Client is a source that reads from a server over HTTP.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
}

// Limits of an answer.
const (
	answerTime  = 30 * time.Second
	answerBytes = 64 << 20 // maximum bytes of an answer other than a page of events, whose events are read one by one
	pageBytes   = 1 << 30
)

// NewClient returns a source for the server at a base URL such as http://127.0.0.1:8765. The token is sent with each request; ""
// is none.
func NewClient(base, token string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("invalid server address %q: want a URL such as http://127.0.0.1:8765", base)
	}
	elsewhere := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{base: u, token: token, http: &http.Client{Timeout: answerTime, CheckRedirect: elsewhere}}, nil
}

// get requests a path of the API, made of parts, and passes the answer and its headers to read.
func (c *Client) get(ctx context.Context, query url.Values, read func(http.Header, io.Reader) error, parts ...string) error {
	for i, p := range parts {
		if p == "" { // would be another path
			return ErrNoRun
		}
		parts[i] = store.PathOf(p)
	}
	address := c.base.JoinPath(parts...)
	address.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("the server does not answer (is it running? unloop serve): %w", err)
	}
	defer answer.Body.Close()
	switch status := answer.StatusCode; {
	case status == http.StatusNotFound && len(parts) > 2:
		return ErrNoRun
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("the server requires a token with the scope read (%s)", answer.Status)
	case status != http.StatusOK:
		return fmt.Errorf("the server answered %s", answer.Status)
	}
	if err := read(answer.Header, answer.Body); err != nil {
		return fmt.Errorf("read the server's answer: %w", err)
	}
	return nil
}

// decode requests a path and decodes the answer.
func (c *Client) decode(ctx context.Context, into any, query url.Values, parts ...string) error {
	return c.get(ctx, query, func(_ http.Header, body io.Reader) error {
		return json.NewDecoder(io.LimitReader(body, answerBytes)).Decode(into)
	}, parts...)
}

// Runs returns the runs that started last.
func (c *Client) Runs(ctx context.Context, limit int) ([]api.RunSummary, error) {
	var runs []api.RunSummary
	if err := c.decode(ctx, &runs, url.Values{"limit": {strconv.Itoa(limit)}}, "api", "runs"); err != nil {
		return nil, err
	}
	return runs[:min(limit, len(runs))], nil
}

// Run returns a run.
func (c *Client) Run(ctx context.Context, id string) (*api.RunSummary, error) {
	var run api.RunSummary
	if err := c.decode(ctx, &run, nil, "api", "runs", id); err != nil {
		return nil, err
	}
	return &run, nil
}

// Metrics returns the totals of a run.
func (c *Client) Metrics(ctx context.Context, id string) (*api.Metrics, error) {
	var m api.Metrics
	if err := c.decode(ctx, &m, nil, "api", "runs", id, "metrics"); err != nil {
		return nil, err
	}
	return &m, nil
}

// Warnings returns the warnings of a run.
func (c *Client) Warnings(ctx context.Context, id string) ([]api.Warning, error) {
	var warnings []api.Warning
	if err := c.decode(ctx, &warnings, nil, "api", "runs", id, "warnings"); err != nil {
		return nil, err
	}
	return warnings, nil
}

// Events returns the last events of a run. It reads pages from the end, and keeps only the returned events.
func (c *Client) Events(ctx context.Context, id string, limit int) ([]api.Event, error) {
	var last []api.Event // in reverse order
	query := url.Values{"order": {"desc"}}
	for {
		next := ""
		query.Set("limit", strconv.Itoa(limit-len(last)))
		err := c.get(ctx, query, func(h http.Header, body io.Reader) (err error) {
			next = h.Get("X-Next-Cursor")
			last, err = readEvents(last, io.LimitReader(body, pageBytes))
			return err
		}, "api", "runs", id, "events")
		if err != nil {
			return nil, err
		}
		if next == "" || len(last) >= limit {
			slices.Reverse(last)
			return last, nil
		}
		if next == query.Get("cursor") {
			return nil, errors.New("the server's list of events has too many pages")
		}
		query.Set("cursor", next)
	}
}

// readEvents appends the events of a JSON array.
func readEvents(to []api.Event, array io.Reader) ([]api.Event, error) {
	d := json.NewDecoder(array)
	if _, err := d.Token(); err != nil {
		return to, err
	}
	for d.More() {
		var e api.Event
		if err := d.Decode(&e); err != nil {
			return to, err
		}
		to = append(to, e)
	}
	_, err := d.Token()
	return to, err
}
