package app

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// streamReader reads the stream of a run, or of all runs, from any server, and comes back whenever a stream ends.
type streamReader struct {
	path   string
	random *rand.Rand

	mu          sync.Mutex
	ids         []string       // of the events of a run, in the order in which they came
	counts      map[string]int // of the stream of all runs: the last told number of events, by run
	connections int
}

// read reads until ctx ends.
func (s *streamReader) read(ctx context.Context, c *testCluster) {
	last := ""
	for ctx.Err() == nil {
		s.connect(ctx, c.anyURL(s.random), &last)
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// connect reads one stream to its end. A message counts when all of it has come.
func (s *streamReader) connect(ctx context.Context, url string, last *string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // a server that stands still is left
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+s.path, nil)
	if err != nil {
		panic(err) // the path is of the test
	}
	if *last != "" || s.counts != nil {
		request.Header.Set("Last-Event-ID", cmp.Or(*last, "0"))
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	s.mu.Lock()
	s.connections++
	s.mu.Unlock()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 16<<20)
	id, data := "", ""
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case name == "id":
			id = value
		case name == "data":
			data = value
		case lines.Text() == "":
			if id != "" {
				*last = id
			}
			s.note(data)
			id, data = "", ""
		}
	}
}

func (s *streamReader) note(data string) {
	var m struct {
		RunID  string `json:"run_id"`
		Events []struct {
			ID string `json:"event_id"`
		} `json:"events"`
		Run *struct {
			Events int `json:"event_count"`
		} `json:"run"`
	}
	if data == "" || json.Unmarshal([]byte(data), &m) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range m.Events {
		s.ids = append(s.ids, e.ID)
	}
	if m.Run != nil && s.counts != nil {
		s.counts[m.RunID] = m.Run.Events
	}
}

// has reports whether the reader has so many events.
func (s *streamReader) has(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ids) >= n
}

// checkRun checks that each event of a run came once.
func (s *streamReader) checkRun(t *testing.T, acked map[string]bool, run string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	got := make(map[string]int)
	for _, id := range s.ids {
		got[id]++
	}
	want := make(map[string]int)
	for key := range acked {
		if of, id, _ := strings.Cut(key, " "); of == run {
			want[id] = 1
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("the stream of %s, over %d connections (-acknowledged +streamed):\n%s", run, s.connections, diff)
	}
	t.Logf("%d events streamed over %d connections", len(s.ids), s.connections)
}

// sameCounts reports whether the stream of all runs told the latest state of each run.
func (s *streamReader) sameCounts(want map[string]int) (diff string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := make(map[string]int)
	for run := range want {
		got[run] = s.counts[run]
	}
	return gocmp.Diff(want, got)
}
