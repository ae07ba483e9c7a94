package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
)

// pageSize is the number of events in a page.
const pageSize = 1000

// lineType is the media type of lines of JSON.
const lineType = "application/x-ndjson"

// Bounds in bytes.
const (
	maxLine = 64 << 20 // of an event
	maxPage = 1 << 30  // of a page of events that are decoded one by one
)

// Events calls each with the events of a run in order. An event is a line of JSON with its line end, and is valid until each returns. An
// error of each ends the reading. Events reads one page at a time.
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

// LastEvents returns at most limit events of the end of a run, in the order of the run. It reads pages from the end and keeps the returned
// events only.
func (c *Client) LastEvents(ctx context.Context, run string, limit int) ([]api.Event, error) {
	var last []api.Event // in reverse order
	query := url.Values{"order": {"desc"}}
	for {
		query.Set("limit", strconv.Itoa(limit-len(last)))
		next, err := c.eventPage(ctx, run, query, &last)
		if err != nil {
			return nil, err
		}
		if next == "" || len(last) >= limit {
			slices.Reverse(last)
			return last, nil
		}
		if next == query.Get("cursor") {
			return nil, fmt.Errorf("%w: a page of events is followed by itself", errBroken)
		}
		query.Set("cursor", next)
	}
}

// eventPage appends a page of events, which it decodes one by one, and returns the cursor of the next page.
func (c *Client) eventPage(ctx context.Context, run string, query url.Values, to *[]api.Event) (next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	answer, err := c.call(ctx, http.MethodGet, RunPath(run, "/events?"+query.Encode()), nil, nil)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close() // only read
	d := json.NewDecoder(io.LimitReader(answer.Body, maxPage))
	if _, err := d.Token(); err != nil {
		return "", fmt.Errorf("%w: %v", errBroken, err)
	}
	for d.More() {
		var e api.Event
		if err := d.Decode(&e); err != nil {
			return "", fmt.Errorf("%w: %v", errBroken, err)
		}
		*to = append(*to, e)
	}
	if _, err := d.Token(); err != nil {
		return "", fmt.Errorf("%w: %v", errBroken, err)
	}
	return answer.Header.Get("X-Next-Cursor"), nil
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
