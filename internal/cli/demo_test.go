package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/client"
)

func TestDemoWithATokenThatMayOnlySend(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path != "/api/health" {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"detail":"the token is for ingest"}`)
			return
		}
		healthy(w, r)
	}))
	defer server.Close()
	var stdout, stderr bytes.Buffer
	status := Main([]string{"demo", "--speed", "1000", "--endpoint", server.URL}, strings.NewReader(""), &stdout, &stderr)
	if want := "so the demo cannot read the results. See them at " + server.URL + "/\n"; status != exitFine || stderr.Len() > 0 || !strings.HasSuffix(stdout.String(), want) {
		t.Errorf("exit status %d, %s%s", status, stdout.String(), stderr.String())
	}
}

// interrupting is the output of a demo that is interrupted once both agents have called a tool.
type interrupting struct {
	text      strings.Builder
	interrupt func()
}

func (w *interrupting) Write(p []byte) (int, error) {
	w.text.Write(p)
	if said := w.text.String(); strings.Contains(said, "  stuck    bash") && strings.Contains(said, "  healthy  bash") {
		w.interrupt()
	}
	return len(p), nil
}

func TestAnInterruptedDemoEndsItsRuns(t *testing.T) {
	endpoint, stop, err := ownServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	c, err := client.New(endpoint, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	d := demo{out: &interrupting{interrupt: interrupt}, client: c, speed: 100}
	if err := d.play(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the demo returned %v, want that it was interrupted", err)
	}
	runs, err := c.Runs(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 2 {
		t.Errorf("%d runs, want 2", len(runs))
	}
	for _, r := range runs {
		last, err := c.LastEvents(t.Context(), r.ID, 1)
		if err != nil {
			t.Fatal(err)
		}
		if why := string(last[0].Error); r.Status != "failed" || why != `"the demo was interrupted"` {
			t.Errorf("%s is %s: %s, want failed: the demo was interrupted", r.ID, r.Status, why)
		}
	}
}
