package client

import (
	"bytes"
	"context"
	"net/http"

	"github.com/unloop-ai/unloop/internal/api"
)

// Listen asks for the orders of people to the guards of runs. It waits as long as the request says.
func (c *Client) Listen(ctx context.Context, l *api.Listen) (*api.Heard, error) {
	answer, err := c.call(ctx, http.MethodPost, "/api/control/listen", http.Header{"Content-Type": {"application/json"}}, bytes.NewReader(api.Encode(l)))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() // only read
	var heard api.Heard
	return &heard, read(answer, &heard)
}
