package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Guard asks the server's guard: lines of the guard protocol go in, and as many come out. The query has the members profile and set.
func (c *Client) Guard(ctx context.Context, query url.Values, lines []byte) ([]byte, error) {
	header := http.Header{"Content-Type": {"application/x-ndjson"}}
	answer, err := c.call(ctx, http.MethodPost, "/api/guard?"+query.Encode(), header, bytes.NewReader(lines))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() // it was read
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	return data, nil
}
