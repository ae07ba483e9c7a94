package client

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
)

// pageSize is how many events are asked for at once.
const pageSize = 1000

const lineType = "application/x-ndjson"

// maxLine bounds an event, in bytes.
const maxLine = 64 << 20

// Events hands over the events of a run in the order of the run, each as JSON on a line of its own, with its line end. A line is
// valid until each returns; its error ends the reading. However long the run is, only a page of events is on its way at once.
func (c *Client) Events(ctx context.Context, run string, each func(line []byte) error) error {
	for cursor := ""; ; {
		query := url.Values{"limit": {strconv.Itoa(pageSize)}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		// The lines are the events as they were recorded. In the array, an unknown member is null, which for output means an empty
		// result.
		header := http.Header{"Accept": {lineType}}
		answer, err := c.call(ctx, http.MethodGet, RunPath(run, "/events?"+query.Encode()), header, nil)
		if err != nil {
			return err
		}
		if err := eachEvent(answer, each); err != nil {
			return err
		}
		if cursor = answer.Header.Get("X-Next-Cursor"); cursor == "" {
			return nil
		}
	}
}

func eachEvent(answer *http.Response, each func(line []byte) error) error {
	defer answer.Body.Close() // only read
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind != lineType {
		return fmt.Errorf("%w: events as %s, not as %s", errBroken, kind, lineType)
	}
	return eachLine(answer.Body, each)
}

func eachLine(r io.Reader, each func(line []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if line := lines.Bytes(); len(bytes.TrimSpace(line)) > 0 {
			if err := each(append(line, '\n')); err != nil { // overwrites its line end in the buffer
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: %v", errBroken, err)
	}
	return nil
}
