package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Guard sends lines of the guard protocol to the server's guard and returns its answers, one line for each. The query may have the members
// profile and set.
func (c *Client) Guard(ctx context.Context, query url.Values, lines []byte) ([]byte, error) {
	header := http.Header{"Content-Type": {lineType}}
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
