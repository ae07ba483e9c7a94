package httpd

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestABodyOfAnUnknownTypeIsToldTheTypeToSend(t *testing.T) {
	h := newTestServer(t, nil)
	answer := h.do(http.MethodPost, "/api/runs/r/control", `{"act":"pause"}`, "Content-Type", "application/x-www-form-urlencoded")
	if want := `"detail":"Content-Type: want application/json"`; answer.Code != http.StatusUnsupportedMediaType || !strings.Contains(answer.Body.String(), want) {
		t.Errorf("%d %s, want 415 with %s", answer.Code, answer.Body, want)
	}
}

func TestAnUnknownPath(t *testing.T) {
	h := newTestServer(t, func(o *Options) {
		o.NotFound = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "the page")
		})
	})
	for name, c := range map[string]struct {
		method, path, accept, want string
		status                     int
	}{
		"is a page for a browser":             {"GET", "/nowhere", "text/html,application/xml;q=0.9", "the page", 404},
		"is a problem for a program":          {"GET", "/nowhere", "application/json", "unknown path", 404},
		"is a problem where nothing is asked": {"GET", "/nowhere", "", "unknown path", 404},
		"is a problem for another method":     {"POST", "/nowhere", "text/html", "unknown path", 404},
		"is told from a method":               {"GET", "/api/guard", "text/html", "not allowed", 405},
	} {
		t.Run(name, func(t *testing.T) {
			w := h.do(c.method, c.path, "", "Accept", c.accept)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%d %s, want %d with %q", w.Code, w.Body, c.status, c.want)
			}
		})
	}
}
