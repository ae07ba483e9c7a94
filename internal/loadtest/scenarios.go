package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const singleConnections = 64

func batches(ctx context.Context, s *server, set settings) (string, error) {
	return rated(ctx, s, set, 8, 500)
}

func singles(ctx context.Context, s *server, set settings) (string, error) {
	return rated(ctx, s, set, singleConnections, 1)
}

// singlesCPU sends a twentieth of the events, since each takes a request, and prints the CPU time of the server for each event, by role.
func singlesCPU(ctx context.Context, set settings) (string, error) {
	return profileOf(ctx, set, "event", func(url string) (int64, time.Duration, error) {
		return senders(ctx, []string{url}, feeds(singleConnections, set), 1, int64(set.events/20))
	})
}

func rated(ctx context.Context, s *server, set settings, connections, size int) (string, error) {
	timed, cancel := context.WithTimeout(ctx, set.time)
	defer cancel()
	sent, took, err := senders(timed, []string{s.url}, feeds(connections, set), size, 0)
	if err != nil {
		return "", err
	}
	now, most, err := s.resident()
	return fmt.Sprintf("%.0f events/s (%d in %.1f s), server %d MiB, %d at most", float64(sent)/took.Seconds(), sent, took.Seconds(), now, most), err
}

// long compares the cost of an event in a long run with that in short runs. Each request has 500 events of one run.
func long(ctx context.Context, s *server, _ settings) (string, error) {
	c := client(1)
	one := newFeed("long", 1)
	var first, last time.Duration
	for k := range 200 {
		took, err := timed(ctx, c, s, one)
		if err != nil {
			return "", err
		}
		if k < 20 {
			first += took
		}
		if k >= 180 {
			last += took
		}
	}
	var short time.Duration
	for k := range 100 {
		f := newFeed(fmt.Sprintf("short%d", k), 1)
		for range 2 {
			took, err := timed(ctx, c, s, f)
			if err != nil {
				return "", err
			}
			short += took
		}
	}
	return fmt.Sprintf("first 10,000 events %.1f µs each, last 10,000 of 100,000 %.1f µs each; 100 runs of 1,000: %.1f µs each",
		micro(first, 10_000), micro(last, 10_000), micro(short, 100_000)), nil
}

func timed(ctx context.Context, c *http.Client, s *server, f *feed) (time.Duration, error) {
	body := f.fill(nil, 500)
	begun := time.Now()
	err := post(ctx, c, s.url, body)
	return time.Since(begun), err
}

func micro(d time.Duration, n int) float64 { return float64(d.Microseconds()) / float64(n) }

// streamed is the number of runs that the scenario stream watches.
const streamed = 10

// stream sends at a steady rate, and measures the time from the acknowledgement of an event until the stream of its run has it.
func stream(ctx context.Context, s *server, set settings) (string, error) {
	timed, cancel := context.WithTimeout(ctx, set.time)
	defer cancel()
	var mu sync.Mutex
	seen := make(map[string]time.Time)
	var listeners sync.WaitGroup
	listening, end := context.WithCancel(ctx)
	defer listeners.Wait()
	defer end()
	for k := range streamed {
		listeners.Go(func() {
			listen(listening, fmt.Sprintf("%s/api/runs/paced-%d/stream", s.url, k), func(id string) {
				mu.Lock()
				seen[id] = time.Now()
				mu.Unlock()
			})
		})
	}
	acked, err := paced(timed, s, set.rate)
	if err != nil {
		return "", err
	}
	time.Sleep(time.Second) // until the last events have arrived
	mu.Lock()
	defer mu.Unlock()
	var late []time.Duration
	for id, at := range acked {
		on, ok := seen[id]
		if !ok {
			return "", fmt.Errorf("%s was acknowledged and not seen", id)
		}
		late = append(late, max(0, on.Sub(at)))
	}
	slices.Sort(late)
	part := func(p float64) float64 {
		return float64(late[int(p*float64(len(late)-1))].Microseconds()) / 1000
	}
	return fmt.Sprintf("%d events at %d a second: p50 %.1f ms, p99 %.1f ms, most %.1f ms", len(late), set.rate, part(0.5), part(0.99), part(1)), nil
}

// paced sends ten requests a hundredth of a second apart, and returns when each event was acknowledged.
func paced(ctx context.Context, s *server, rate int) (map[string]time.Time, error) {
	acked := make(map[string]time.Time)
	c := client(1)
	f := newFeed("paced", streamed)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return acked, nil
		case <-tick.C:
		}
		var body []byte
		var ids []string
		for range rate / 100 {
			var id string
			body, id = f.add(body)
			ids = append(ids, id)
		}
		if err := post(context.WithoutCancel(ctx), c, s.url, body); err != nil {
			return nil, err
		}
		now := time.Now()
		for _, id := range ids {
			acked[id] = now
		}
	}
}

// listen sends the ids of the events on a stream to a channel until ctx ends.
func listen(ctx context.Context, url string, event func(id string)) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		var update struct {
			Events []struct {
				ID string `json:"event_id"`
			} `json:"events"`
		}
		if json.Unmarshal([]byte(data), &update) != nil {
			continue
		}
		for _, e := range update.Events {
			event(e.ID)
		}
	}
}

func memory(ctx context.Context, s *server, set settings) (string, error) {
	return resident(ctx, s, set, 1000)
}

func endless(ctx context.Context, s *server, set settings) (string, error) {
	return resident(ctx, s, set, 0)
}

// resident sends many events of runs of the given length, and measures the server ten times meanwhile. The length 0 means endless runs.
func resident(ctx context.Context, s *server, set settings, length int) (string, error) {
	var summary strings.Builder
	fmt.Fprintf(&summary, "MiB after each tenth of %d events of %d runs at once:", set.events, set.runs)
	total := int64(0)
	all := feeds(8, set)
	for _, f := range all {
		f.length = length
	}
	begun := time.Now()
	for range 10 {
		sent, _, err := senders(ctx, []string{s.url}, all, 500, int64(set.events/10))
		if err != nil {
			return "", err
		}
		total += sent
		now, _, err := s.resident()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&summary, " %d", now)
	}
	_, most, err := s.resident()
	fmt.Fprintf(&summary, "; %d at most; %.0f events/s", most, float64(total)/time.Since(begun).Seconds())
	return summary.String(), err
}
