package app

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/unloop-ai/unloop/internal/sink"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
	"github.com/unloop-ai/unloop/policy"
)

// hookLog receives the messages of webhooks. Each path is an endpoint.
type hookLog struct {
	*httptest.Server
	mu       sync.Mutex
	messages map[string]*hookMessage // by id
}

// hookMessage is a message of a webhook, as it came first.
type hookMessage struct {
	ID      string `json:"id"`
	Level   string `json:"level"`
	Warning struct {
		ID    string `json:"warning_id"`
		Count int    `json:"count"`
	} `json:"warning"`
	path  string
	times int
}

func newHookLog(t *testing.T) *hookLog {
	h := &hookLog{messages: make(map[string]*hookMessage)}
	h.Server = httptest.NewServer(h.receive(t, func() {}))
	t.Cleanup(h.Close)
	return h
}

// receive returns a handler that keeps messages. It calls received before it answers.
func (h *hookLog) receive(t *testing.T, received func()) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		m := &hookMessage{path: r.URL.Path}
		if err := json.NewDecoder(r.Body).Decode(m); err != nil {
			t.Error(err)
		}
		h.mu.Lock()
		if before := h.messages[m.ID]; before != nil {
			m = before
		}
		m.times++
		h.messages[m.ID] = m
		h.mu.Unlock()
		received()
	})
}

// comeAgain checks that no more messages came again than servers were interrupted while they sent to an endpoint.
func (h *hookLog) comeAgain(t *testing.T, interrupted int) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	again := 0
	for id, m := range h.messages {
		if again += m.times - 1; m.times > 1 {
			t.Logf("the message %q came %d times", id, m.times)
		}
	}
	if again > interrupted {
		t.Errorf("%d messages came again, and sending was interrupted %d times", again, interrupted)
	}
}

// storedLevel is a level of a warning that the store has for an endpoint.
type storedLevel struct{ Endpoint, Warning, Level string }

// id returns the id of the message about the level.
func (l storedLevel) id() string {
	return "msg_" + firstBytes(l.Endpoint+"\x00"+l.Warning+"\x00"+l.Level, 12)
}

// firstBytes returns the first bytes of the hash of a text in hexadecimal.
func firstBytes(text string, n int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:n])
}

// compareToStore compares the messages of each endpoint with the levels that the store has, and these with the warnings and the decisions.
func (h *hookLog) compareToStore(t *testing.T, db string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var levels []storedLevel
	readJSON(t, db, `SELECT json_agg(json_build_object('Endpoint', endpoint, 'Warning', warning, 'Level', level))::text FROM deliveries`, &levels)
	unknown := make(map[string]*hookMessage)
	for id, m := range h.messages {
		unknown[id] = m
	}
	kinds := make(map[string]int)
	for _, l := range levels {
		kinds[l.Level]++
		if m := h.messages[l.id()]; m != nil {
			delete(unknown, m.ID)
			if firstBytes(h.URL+m.path, 8) != l.Endpoint || m.Warning.ID != l.Warning || m.Level != toldLevel(l.Level) {
				t.Errorf("the store has %+v, and its message is %+v", l, m)
			}
		} else if !h.includes(l) {
			t.Errorf("no message tells of %+v", l)
		}
	}
	warnings := storedWarnings(t, db)
	for _, m := range unknown { // a run that became a part of another one has lost its warnings and their levels
		if _, exists := warnings[m.Warning.ID]; exists {
			t.Errorf("the store does not have the level of the message %+v", m)
		}
	}
	for _, path := range []string{"/a", "/b"} {
		endpoint := firstBytes(h.URL+path, 8)
		for _, l := range dueLevels(warnings, endpoint) {
			if !slices.Contains(levels, l) {
				t.Errorf("the store lacks %+v", l)
			}
		}
		if n := lackOfActions(t, db, endpoint); n > 0 {
			t.Errorf("%d runs were blocked or halted, and no warning of them has this level for %s", n, path)
		}
	}
	t.Logf("%d messages about %d levels: %v; %d about warnings that do not exist any more", len(h.messages), len(levels), kinds, len(unknown))
}

// toldLevel returns the name of a level in messages.
func toldLevel(level string) string {
	if _, err := strconv.Atoi(level); err == nil {
		return sink.Grown
	}
	return level
}

// includes reports whether a message about a higher level of the warning tells of a level, too. One that was raised with more than half of a count has no
// message about this count.
func (h *hookLog) includes(l storedLevel) bool {
	higher := []string{sink.Block, sink.Halt}
	if l.Level == sink.Block {
		higher = higher[1:]
	}
	count, err := strconv.Atoi(l.Level)
	for _, m := range h.messages {
		if firstBytes(h.URL+m.path, 8) != l.Endpoint || m.Warning.ID != l.Warning {
			continue
		}
		if err == nil && 2*m.Warning.Count > count || err != nil && slices.Contains(higher, m.Level) {
			return true
		}
	}
	return false
}

// storedWarnings returns the counts of all warnings by id.
func storedWarnings(t *testing.T, db string) map[string]int {
	t.Helper()
	var counts map[string]int
	readJSON(t, db, `SELECT json_object_agg(id, count)::text FROM warnings`, &counts)
	return counts
}

// dueLevels returns the levels of which an endpoint had to be told, without blocks and halts: each warning was raised, and has reached the
// counts up to its own.
func dueLevels(warnings map[string]int, endpoint string) (due []storedLevel) {
	for id, count := range warnings {
		due = append(due, storedLevel{endpoint, id, sink.Raised})
		for c := 8; c <= count; c *= 2 {
			due = append(due, storedLevel{endpoint, id, strconv.Itoa(c)})
		}
	}
	return due
}

// readJSON reads one text of JSON from the database.
func readJSON(t *testing.T, db, query string, to any) {
	t.Helper()
	var text string
	postgres.Value(t, db, query, &text)
	if err := json.Unmarshal([]byte(text), to); err != nil {
		t.Fatal(err)
	}
}

// lackOfActions returns the number of runs with a decision to block or to halt of which the store has no such level for an endpoint.
func lackOfActions(t *testing.T, db, endpoint string) (runs int) {
	t.Helper()
	for action, level := range map[policy.Action]string{policy.Block: sink.Block, policy.Halt: sink.Halt} {
		var lacking int
		postgres.Value(t, db, fmt.Sprintf(`SELECT COUNT(DISTINCT run) FROM decisions d WHERE action >= %d AND NOT EXISTS
			(SELECT 1 FROM deliveries l WHERE l.run = d.run AND l.endpoint = '%s' AND l.level = '%s')`, action, endpoint, level), &lacking)
		runs += lacking
	}
	return runs
}
