package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Sizes of the scenarios of heavy load.
const (
	heavyRuns   = 2000
	heavyInput  = 1_000_000 // bytes of inputs of each run
	heavySpans  = 400_000   // in one request
	heavyBodies = 40        // at once
	heavyBody   = 14 << 20  // bytes of each
)

// manyRuns sends live runs with 1 MB of inputs each, under a profile that keeps inputs to compare them.
func manyRuns(ctx context.Context, s *server, _ settings) (string, error) {
	const senders = 4
	failed := make(chan error, senders)
	c := client(senders)
	for k := range senders {
		go func() {
			for run := k; run < heavyRuns; run += senders {
				if err := post(ctx, c, s.url, inputs(run)); err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
	}
	var errs []error
	for range senders {
		errs = append(errs, <-failed)
	}
	return peak(s, fmt.Sprintf("%d live runs of 1 MB of inputs", heavyRuns), errors.Join(errs...))
}

// inputs makes the calls of one run. Each call is of a different tool, so that no input is compared with another.
func inputs(run int) []byte {
	const size = 4000
	var body bytes.Buffer
	for n := range heavyInput / size {
		fmt.Fprintf(&body, `{"event_id":"h%d-%d","run_id":"heavy%d","sequence":%d,"type":"tool_call_started","tool":"write%d","input":{"text":"`, run, n, run, n+1, n)
		word := fmt.Sprintf("%d.%d ", run, n)
		body.WriteString(strings.Repeat(word, size/len(word)))
		body.WriteString("\"}}\n")
	}
	return body.Bytes()
}

// oneTrace sends one request of heavySpans empty spans of one trace.
func oneTrace(ctx context.Context, s *server, _ settings) (string, error) { return spans(ctx, s, 1) }

// manyTraces sends one request of heavySpans empty spans, each of a different trace.
func manyTraces(ctx context.Context, s *server, _ settings) (string, error) {
	return spans(ctx, s, heavySpans)
}

func spans(ctx context.Context, s *server, traces int) (string, error) {
	var list []byte
	for n := range heavySpans {
		trace, id := make([]byte, 16), make([]byte, 8)
		binary.BigEndian.PutUint64(trace, uint64(n%traces)+1)
		binary.BigEndian.PutUint64(id, uint64(n)+1)
		list = append(list, field(2, append(field(1, trace), field(2, id)...))...) // Span: trace_id, span_id
	}
	body := field(1, field(2, list)) // ResourceSpans, ScopeSpans
	status, _, err := sendOnce(ctx, http.DefaultClient, s.url+"/v1/traces", "application/x-protobuf", body)
	answer := fmt.Sprintf("status %d", status)
	if errors.Is(err, io.EOF) && ctx.Err() == nil {
		answer, err = "no answer within a minute", nil
	}
	return peak(s, fmt.Sprintf("%d spans of %d traces in %d MB: %s", heavySpans, traces, len(body)/1_000_000, answer), err)
}

// field writes a length-delimited field of protobuf.
func field(number byte, content []byte) []byte {
	return append(binary.AppendUvarint([]byte{number<<3 | 2}, uint64(len(content))), content...)
}

// manyBodies sends large requests concurrently, and repeats each until it is accepted.
func manyBodies(ctx context.Context, s *server, _ settings) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	c := &http.Client{Transport: &http.Transport{MaxConnsPerHost: heavyBodies}}
	var refused atomic.Int64
	var all sync.WaitGroup
	failed := make(chan error, heavyBodies)
	text := strings.Repeat("x", heavyBody-200)
	for k := range heavyBodies {
		all.Go(func() {
			body := fmt.Sprintf(`{"event_id":"b%d","run_id":"body%d","type":"tool_call_started","tool":"write","input":"%s"}`, k, k, text)
			for {
				status, _, err := sendOnce(ctx, c, s.url+"/api/events", "application/json", []byte(body))
				if status == http.StatusCreated || err != nil && ctx.Err() != nil {
					failed <- err
					return
				}
				refused.Add(1)
				time.Sleep(time.Second)
			}
		})
	}
	all.Wait()
	close(failed)
	var errs []error
	for err := range failed {
		errs = append(errs, err)
	}
	return peak(s, fmt.Sprintf("%d bodies of 14 MiB at once: all recorded, refused before that %d times", heavyBodies, refused.Load()), errors.Join(errs...))
}

// sendOnce sends a body and returns the status and the body of the answer.
func sendOnce(ctx context.Context, c *http.Client, url, kind string, body []byte) (status int, reply []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", kind)
	answer, err := c.Do(request)
	if err != nil {
		return 0, nil, err
	}
	reply, err = io.ReadAll(answer.Body)
	return answer.StatusCode, reply, errors.Join(err, answer.Body.Close())
}

// peak returns the maximum memory of the server as a text.
func peak(s *server, what string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	now, most, err := s.resident()
	return fmt.Sprintf("%s; server %d MiB at most, %d MiB now", what, most, now), err
}
