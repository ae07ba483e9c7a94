package app

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/nettest"
)

// TestAKilledServerSendsItsWebhooksAfterTheNextStart kills a server with SQLite before and after an endpoint gets a message.
func TestAKilledServerSendsItsWebhooksAfterTheNextStart(t *testing.T) {
	for _, c := range []struct {
		name  string
		again int // how many messages come twice
	}{{"killed before a message is sent", 0}, {"killed before the endpoint has answered", 1}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address := nettest.FreeAddress(t)
			db := filepath.Join(t.TempDir(), "hook.db")
			start := func() (url string, kill func(), send func(os.Signal), wait func()) {
				return startProcess(t, victimDB+"="+db, victimWebhook+"=http://"+address)
			}
			log := &hookLog{messages: make(map[string]*hookMessage)}
			url, kill, _, wait := start()
			if c.again > 0 {
				serveHook(t, log, address, kill)
			}
			answer, err := http.Post(url+"/api/events", "application/x-ndjson", bytes.NewReader(failures("r", 6)))
			if err == nil { // else it was killed before it answered
				answer.Body.Close()
			}
			if c.again == 0 {
				eventually(t, time.Minute, "no message waits", func() bool {
					_, metrics, _ := strings.Cut(string(get(t, url+"/metrics")), "\nunloop_notices_waiting{")
					_, count, _ := strings.Cut(metrics, "} ")
					return count != "" && !strings.HasPrefix(count, "0\n")
				})
				kill()
				serveHook(t, log, address, func() {})
			} else {
				wait()
			}
			for range 2 { // the second one has nothing to send
				_, _, send, wait := start()
				send(syscall.SIGTERM) // it sends what is due before it ends
				wait()
			}
			log.mu.Lock()
			defer log.mu.Unlock()
			again := 0
			for _, m := range log.messages {
				again += m.times - 1
			}
			if len(log.messages) == 0 || again != c.again {
				t.Errorf("%d messages, of which %d came again, want %d", len(log.messages), again, c.again)
			}
		})
	}
}

// serveHook serves an endpoint at an address. It calls received once, before the first answer.
func serveHook(t *testing.T, log *hookLog, address string, received func()) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(log.receive(t, sync.OnceFunc(received)))
	server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
}
