package mcpproxy

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// get opens a stream, behind the event last.
func (c *remote) get(ctx context.Context, last string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return nil, err
	}
	c.setHeaders(req, nil)
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := c.client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close() // it is an error
		return nil, &statusError{res.Status}
	}
	return res, nil
}

// statusError is an answer of the server that is none of the protocol.
type statusError struct{ status string }

func (e *statusError) Error() string { return "the server answered with status " + e.status }

// post sends a message.
func (c *remote) post(ctx context.Context, m jsonrpc.Message) (*http.Response, error) {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	r, _ := m.(*jsonrpc.Request)
	c.setHeaders(req, r)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	return c.client.Do(req)
}

// requestParams are the parameters of a request that its headers repeat.
type requestParams struct {
	Name      string         `json:"name"`
	URI       string         `json:"uri"`
	Arguments jsontext.Value `json:"arguments"`
	Meta      struct {
		Version string `json:"io.modelcontextprotocol/protocolVersion"`
	} `json:"_meta"`
}

// setHeaders sets the headers that a request needs in its revision. From 2026-07-28 on, they repeat parts of the body.
func (c *remote) setHeaders(req *http.Request, r *jsonrpc.Request) {
	for name, values := range c.header {
		req.Header[name] = values
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var p requestParams
	if r != nil {
		_ = jsonv2.Unmarshal(r.Params, &p, lenient)           // parameters of another form have no headers
		if p.Meta.Version != "" || r.Method == "initialize" { // which begins an older revision, after one that the server refused
			c.version = p.Meta.Version
		}
	}
	if c.session != "" {
		req.Header.Set(sessionHeader, c.session)
	}
	if c.version != "" {
		req.Header.Set("Mcp-Protocol-Version", c.version)
	}
	if r == nil || c.version < withoutSessions {
		return
	}
	req.Header.Set("Mcp-Method", r.Method)
	switch r.Method {
	case "tools/call":
		c.params.set(req.Header, p.Name, p.Arguments)
		req.Header.Set("Mcp-Name", headerText(p.Name))
	case "prompts/get":
		req.Header.Set("Mcp-Name", headerText(p.Name))
	case "resources/read":
		req.Header.Set("Mcp-Name", headerText(p.URI))
	}
}

// headerText returns a text as the value of a header: in base64 if it has other than visible ASCII characters, or could be taken
// for base64.
func headerText(text string) string {
	plain := text == strings.TrimSpace(text) && !strings.HasPrefix(text, "=?base64?")
	for _, b := range []byte(text) {
		plain = plain && b >= ' ' && b < 0x7f
	}
	if plain {
		return text
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}
