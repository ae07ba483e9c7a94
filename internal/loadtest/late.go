package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// The numbers of events of the two runs of the scenario late.
const (
	lateEvents = 4000
	longEvents = 200_000
)

// late sends a run of 4,000 events in reverse order, with one event and then ten events in a request. It then sends a run of 200,000 events
// whose first event is sent last. It measures the time until the verdict of each run includes all its events, and the time that another sender
// waits for its answers.
func late(ctx context.Context, s *server, _ settings) (string, error) {
	summary := ""
	for _, size := range []int{1, 10} {
		took, other, err := besides(ctx, s, func() error { return reversed(ctx, s, fmt.Sprint("reverse", size), size) })
		if err != nil {
			return "", err
		}
		summary += fmt.Sprintf("%d events in reverse order, %d a request: %.2f s; another sender meanwhile: %s\n", lateEvents, size, took.Seconds(), other)
	}
	lines := linesOf("early", longEvents)
	for part := range slices.Chunk(lines[1:], 5000) {
		if err := post(ctx, client(1), s.url, bytes.Join(part, nil)); err != nil {
			return "", err
		}
	}
	took, other, err := besides(ctx, s, func() error {
		if err := post(ctx, client(1), s.url, lines[0]); err != nil {
			return err
		}
		return judged(ctx, s, "early-0", longEvents)
	})
	return summary + fmt.Sprintf("the first event of %d last: %.2f s; another sender meanwhile: %s", longEvents, took.Seconds(), other), err
}

// linesOf returns the events of a run as lines.
func linesOf(name string, n int) (lines [][]byte) {
	f := newFeed(name, 1)
	for range n {
		line, _ := f.add(nil)
		lines = append(lines, line)
	}
	return lines
}

// reversed sends a run in reverse order and waits until its verdict includes all events.
func reversed(ctx context.Context, s *server, name string, size int) error {
	lines := linesOf(name, lateEvents)
	slices.Reverse(lines)
	c := client(1)
	for part := range slices.Chunk(lines, size) {
		if err := post(ctx, c, s.url, bytes.Join(part, nil)); err != nil {
			return err
		}
	}
	return judged(ctx, s, name+"-0", len(lines))
}

// judged waits until the verdict of a run includes the given number of events.
func judged(ctx context.Context, s *server, run string, events int) error {
	for ctx.Err() == nil {
		answer, err := http.Get(s.url + "/api/runs/" + run)
		if err != nil {
			return err
		}
		var row struct {
			Events    int  `json:"event_count"`
			Refolding bool `json:"refolding"`
		}
		err = json.NewDecoder(answer.Body).Decode(&row)
		answer.Body.Close()
		if err != nil || row.Events == events && !row.Refolding {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return ctx.Err()
}

// besides calls work while another sender sends an event every 5 ms. It returns the duration of work, and a text with the response times of
// that sender.
func besides(ctx context.Context, s *server, work func() error) (took time.Duration, other string, err error) {
	sending, stop := context.WithCancel(ctx)
	defer stop()
	answered := make(chan []time.Duration, 1)
	failed := make(chan error, 1)
	go func() {
		waits, err := steady(sending, s)
		failed <- err
		answered <- waits
	}()
	begun := time.Now()
	err = work()
	took = time.Since(begun)
	stop()
	if e := <-failed; err == nil {
		err = e
	}
	waits := <-answered
	if err != nil || len(waits) == 0 {
		return took, "no answers", err
	}
	slices.Sort(waits)
	part := func(p float64) string {
		return strconv.FormatFloat(float64(waits[int(p*float64(len(waits)-1))].Microseconds())/1000, 'f', 1, 64) + " ms"
	}
	return took, fmt.Sprintf("%d answers, p50 %s, p99 %s, most %s", len(waits), part(0.5), part(0.99), part(1)), nil
}

// steady sends an event every 5 ms, but not before the previous one is acknowledged. It returns the response times.
func steady(ctx context.Context, s *server) (waits []time.Duration, err error) {
	c := client(1)
	f := newFeed("steady"+strconv.FormatInt(time.Now().UnixNano(), 36), 10)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return waits, nil
		case <-tick.C:
		}
		begun := time.Now()
		if err := post(context.WithoutCancel(ctx), c, s.url, f.fill(nil, 1)); err != nil {
			return waits, err
		}
		waits = append(waits, time.Since(begun))
	}
}
