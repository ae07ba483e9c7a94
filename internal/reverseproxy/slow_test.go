package reverseproxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/unloop-ai/unloop/internal/memory"
	"github.com/unloop-ai/unloop/internal/nettest"
)

// dial connects to a server and sends the beginning of a request.
func dial(t *testing.T, s *httptest.Server, beginning string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, beginning); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestASlowClientIsCut(t *testing.T) {
	const limit = 20 * time.Millisecond
	ended := make(chan error, 1)
	serve := func(h func(http.ResponseWriter, *http.Request) error) *httptest.Server {
		s := httptest.NewServer(cutSlow(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { ended <- h(w, r) }), limit))
		t.Cleanup(s.Close)
		return s
	}
	t.Run("that does not send its body", func(t *testing.T) {
		s := serve(func(_ http.ResponseWriter, r *http.Request) error {
			_, err := io.ReadAll(r.Body)
			return err
		})
		dial(t, s, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc")
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the body ended with %v", err)
		}
	})
	t.Run("that does not read its answer", func(t *testing.T) {
		s := serve(func(w http.ResponseWriter, _ *http.Request) (err error) {
			for err == nil {
				_, err = w.Write(make([]byte, 1<<20))
			}
			return err
		})
		dial(t, s, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the answer ended with %v", err)
		}
	})
}

// deadlines counts the read deadlines that are set on it.
type deadlines struct {
	*httptest.ResponseRecorder
	set int
}

func (d *deadlines) SetReadDeadline(time.Time) error {
	d.set++
	return nil
}

func TestABodyThatIsReadAfterTheRequestSetsNoDeadline(t *testing.T) {
	var kept io.ReadCloser
	handler := cutSlow(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		kept = r.Body // as a transport does, which reads on while the proxy answers
		_, _ = kept.Read(make([]byte, 1))
	}), slowest)
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("body")))
	if w.set != 2 {
		t.Errorf("%d deadlines during the request, want 2", w.set)
	}
	if rest, err := io.ReadAll(kept); err != nil || string(rest) != "ody" || w.set != 2 {
		t.Errorf("%q, %v, %d deadlines: a deadline was set after the request", rest, err, w.set)
	}
}

func TestAClientThatWaitsForASlowAnswerIsNotCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := nettest.NewPipes()
		server := &http.Server{Handler: cutSlow(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, "one ")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-time.After(3 * slowest / 2):
			case <-r.Context().Done():
				t.Error("the client was taken for gone")
			}
			_, _ = io.WriteString(w, "two")
		}), slowest)}
		served := make(chan error, 1)
		go func() { served <- server.Serve(network) }()
		conn, err := network.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // on the same connection
			if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"); err != nil {
				t.Fatal(err)
			}
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(res.Body); err != nil || string(text) != "one two" {
				t.Fatalf("got %q, %v", text, err)
			}
		}
		_, _ = conn.Close(), server.Close()
		<-served
	})
}

func TestABodyThatIsOnlyAnnouncedTakesNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := &http.Request{ContentLength: 60 << 20, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{"))}
	if body, err := ReadBody(r, 64<<20, NewLease(memory.NewPool(1<<30))); err != nil || string(body) != "{" {
		t.Fatalf("read %q, %v", body, err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
		t.Errorf("a body of one byte took %d MiB", got>>20)
	}
}
