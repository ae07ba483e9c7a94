package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestAnImportEndsManyRunsAtOnce(t *testing.T) {
	var input strings.Builder
	for k := range endsAtOnce {
		fmt.Fprintf(&input, `{"event_id":"1","run_id":"r%d","sequence":1,"type":"run_started"}`+"\n", k)
	}
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	if err := os.WriteFile(path, []byte(input.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var arriving sync.WaitGroup
	arriving.Add(endsAtOnce)
	all := make(chan struct{})
	go func() {
		arriving.Wait()
		close(all)
	}()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/runs" {
			healthy(w, r)
			return
		}
		arriving.Done()
		select {
		case <-all:
		case <-time.After(time.Minute):
			t.Error("an end of a run is sent only after the one before")
		}
	}))
	defer server.Close()
	var stdout, stderr bytes.Buffer
	if status := Main([]string{"import", "--endpoint", server.URL, path}, nil, &stdout, &stderr); status != exitFine {
		t.Errorf("exit status %d: %s%s", status, stdout.String(), stderr.String())
	}
}
