// Package client is the client of the HTTP API, which package httpd serves. It sends events, reads runs and follows streams. The
// commands, the guards and the MCP server use it.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// DefaultEndpoint is the address of a server with the default configuration.
const DefaultEndpoint = "http://127.0.0.1:8765"

// maxAnswer bounds an answer that is held as a whole, in bytes.
const maxAnswer = 64 << 20

// Client asks one server. It is safe for concurrent use.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// New returns a client of the server at a URL such as http://127.0.0.1:8765, with a token, or "" for none.
func New(endpoint, token string) (*Client, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("invalid endpoint %q: want a URL such as %s", endpoint, DefaultEndpoint)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("invalid token: want visible ASCII characters; it may end in a line break")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = time.Minute
	return &Client{
		base: strings.TrimRight(endpoint, "/"), token: token,
		http: &http.Client{
			Transport: transport,
			// A redirect would send the token elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// URL returns the URL of a path of the server.
func (c *Client) URL(path string) string { return c.base + path }

// HasToken reports whether the client sends a token.
func (c *Client) HasToken() bool { return c.token != "" }

// RunPath returns the path of a run, and of what is below it.
func RunPath(id, below string) string { return "/api/runs/" + store.PathOf(id) + below }

// PagePath returns the path of the dashboard's page of a run.
func PagePath(id string) string { return "/runs/" + store.PathOf(id) }

// Error is the answer to a failed request.
type Error struct {
	Status int
	Reason string        // from the server
	After  time.Duration // delay before the next attempt, as the server asks; 0 if it does not

	events []api.EventError
}

func (e *Error) Error() string {
	switch {
	case e.Status == http.StatusUnauthorized:
		return "the server requires a token: set UNLOOP_TOKEN (" + e.Reason + ")"
	case e.Status == http.StatusForbidden:
		return "the server refuses: " + e.Reason
	}
	return fmt.Sprintf("the server answers %d: %s", e.Status, e.Reason)
}

// UnreachableError says that no server answered.
type UnreachableError struct {
	Endpoint string
	Err      error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no server answers at %s (unloop serve starts one; --endpoint names another): %v", e.Endpoint, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// errBroken means that an answer was incomplete, so the result of the request is unknown.
var errBroken = errors.New("the server's answer broke off")

// errForeign means that an answer is none of this API.
var errForeign = errors.New("not an unloop server, or another version of it")

// call sends one request. It returns an answer with a 2xx status, whose body the caller closes, or an error.
func (c *Client) call(ctx context.Context, method, path string, header http.Header, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("ask the server: %w", err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // UnreachableError has the address
		}
		return nil, &UnreachableError{c.base, err}
	}
	if answer.StatusCode/100 == 2 {
		return answer, nil
	}
	defer answer.Body.Close() // failure has read the body
	return nil, failure(answer)
}

// jsonBody returns the header of a request whose body is JSON.
func jsonBody() http.Header { return http.Header{"Content-Type": {"application/json"}} }

// failure returns the error that an answer describes.
func failure(answer *http.Response) error {
	var problem api.Problem
	e := &Error{Status: answer.StatusCode, Reason: http.StatusText(answer.StatusCode), After: retryAfter(answer.Header)}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil || json.Unmarshal(body, &problem) != nil {
		return e // another program answered
	}
	if problem.Detail != "" {
		e.Reason = problem.Detail
	} else if problem.Title != "" {
		e.Reason = problem.Title
	}
	e.events = problem.Errors
	return e
}

func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(min(seconds, 3600))*time.Second, maxWait)
}

// get decodes the JSON answer to a GET request.
func (c *Client) get(ctx context.Context, path string, to any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	answer, err := c.call(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close() // only read
	return read(answer, to)
}

// read decodes the JSON body of an answer. The error wraps errBroken for an incomplete body, and errForeign for one that is not of this API.
func read(answer *http.Response, to any) error {
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%w: %v", errBroken, err)
	}
	if err := json.Unmarshal(body, to); err != nil {
		return fmt.Errorf("read the answer: %w: %w", errForeign, err)
	}
	return nil
}
