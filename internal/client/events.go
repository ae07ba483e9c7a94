package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// pageSize is how many events are asked for at once.
const pageSize = 1000

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
		// The lines are the events as they were recorded. In the array every member is there, null where nothing is known, so that a
		// result that says nothing looks like none.
		header := http.Header{"Accept": {"application/x-ndjson, application/json;q=0.5"}}
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
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind == "application/x-ndjson" {
		return eachLine(answer.Body, each)
	}
	return eachElement(answer.Body, each)
}

func eachLine(r io.Reader, each func(line []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if line := lines.Bytes(); len(bytes.TrimSpace(line)) > 0 {
			if err := each(append(line, '\n')); err != nil { // its line end stands there
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: %v", errBroken, err)
	}
	return nil
}

// eachElement reads an array of events, and leaves out their members that are null.
func eachElement(r io.Reader, each func(line []byte) error) error {
	dec := jsontext.NewDecoder(r, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '[' {
		return fmt.Errorf("%w: no list of events", errBroken)
	}
	var line []byte
	for dec.PeekKind() == '{' {
		var err error
		if line, err = withoutNulls(line[:0], dec); err != nil {
			return fmt.Errorf("%w: %v", errBroken, err)
		}
		if err := each(line); err != nil {
			return err
		}
	}
	if token, err := dec.ReadToken(); err != nil || token.Kind() != ']' {
		return fmt.Errorf("%w: no whole list of events", errBroken)
	}
	return nil
}

func withoutNulls(line []byte, dec *jsontext.Decoder) ([]byte, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	separator := byte('{')
	for dec.PeekKind() == '"' {
		name, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		begin := len(line)
		line = append(append(append(line, separator), name...), ':')
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if value.Kind() == 'n' {
			line = line[:begin]
			continue
		}
		line = append(line, value...)
		separator = ','
	}
	if separator == '{' {
		return nil, errors.New("an event without members")
	}
	_, err := dec.ReadToken()
	return append(line, '}', '\n'), err
}
