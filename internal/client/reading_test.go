package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
)

func TestEventsReadsAllPages(t *testing.T) {
	pages := map[string]string{ // by cursor
		"": "{\"event_id\":\"1\",\"output\":null}\r\n\n{\"event_id\":\"2\"}\n", "p2": `{"event_id":"3","input":{"a": 1}}`,
	}
	c := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
		cursor := r.URL.Query().Get("cursor")
		if r.URL.EscapedPath() != "/api/runs/r%2F1/events" || r.Header.Get("Accept") == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", lineType)
		if cursor == "" {
			w.Header().Set("X-Next-Cursor", "p2")
		}
		_, _ = io.WriteString(w, pages[cursor])
	})
	var got []string
	err := c.Events(t.Context(), "r/1", func(line []byte) error {
		got = append(got, string(line))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`{"event_id":"1","output":null}` + "\n", `{"event_id":"2"}` + "\n", `{"event_id":"3","input":{"a": 1}}` + "\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEventsReportsABrokenResponse(t *testing.T) {
	for _, tc := range []struct{ name, kind, body string }{
		{"an array", "application/json", `[{"event_id":"1"}]`},
		{"a page for people", "text/html", `<p>no</p>`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.kind)
				_, _ = io.WriteString(w, tc.body)
			})
			if err := c.Events(t.Context(), "r", func([]byte) error { return nil }); !errors.Is(err, errBroken) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAnEndlessListOfEventsIsAbandoned(t *testing.T) {
	asked := 0
	c := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("X-Next-Cursor", "same")
		_, _ = io.WriteString(w, "[]")
	})
	if _, err := c.LastEvents(t.Context(), "r", 1); err == nil || asked != 2 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

func TestStreamContinuesAfterTheLastMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		c := local(t, func(w http.ResponseWriter, r *http.Request) {
			last := r.Header.Get("Last-Event-ID")
			asked = append(asked, last)
			switch len(asked) {
			case 1:
				_, _ = io.WriteString(w, "retry: 1000\n\n: keepalive\n\nid: 4\ndata: {\"status\":\"running\",\ndata: \"warnings\":[{\"warning_id\":\"w\"}]}\n\nid: 9\ndata: {\"sta")
			case 2:
				w.WriteHeader(gone)
			case 3:
				w.Header().Set("Retry-After", "5")
				w.WriteHeader(http.StatusServiceUnavailable)
			case 4:
				_, _ = io.WriteString(w, "event: dropped\ndata: {\"reason\":\"slow\"}\n\n")
			default:
				_, _ = io.WriteString(w, "id:9\ndata:{\"status\":\"completed\"}\n\ndata: {\"status\":\"running\"}\n\n")
			}
		})
		var got []string
		err := c.StreamRun(t.Context(), "r", func(u *api.RunUpdate) bool {
			got = append(got, fmt.Sprint(u.Status, len(u.Warnings)))
			return u.Status == "running"
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"running1", "completed0"}, got); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"", "4", "4", "4", "4"}, asked); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStreamEnds(t *testing.T) {
	t.Run("the server rejects the stream", func(t *testing.T) {
		c := serve(t, "", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
		err := c.StreamRun(t.Context(), "r", func(*api.RunUpdate) bool { return true })
		if err == nil || !strings.Contains(err.Error(), "the server refuses") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("at an invalid update", func(t *testing.T) {
		c := serve(t, "", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "data: hello\n\n") })
		err := c.StreamRun(t.Context(), "r", func(*api.RunUpdate) bool { return true })
		if err == nil || !strings.Contains(err.Error(), "read a message of the stream") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("with its context", func(t *testing.T) {
		c := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := c.StreamRun(ctx, "r", func(*api.RunUpdate) bool { return true }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}
