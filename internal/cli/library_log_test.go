package cli

import (
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// logged passes on each line of a log.
type logged chan string

func (l logged) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

func TestWhatAServerSendsAfterItsAnswerIsNotLogged(t *testing.T) {
	lines := make(logged, 10)
	before := log.Writer()
	log.SetOutput(libraryLog{lines})
	t.Cleanup(func() { log.SetOutput(before) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokhunter2")
		_, _ = io.Copy(io.Discard, conn)
	}()
	client := http.Client{Transport: &http.Transport{}}
	answer, err := client.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(answer.Body); string(text) != "ok" || err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	_ = answer.Body.Close()
	select {
	case line := <-lines:
		if !strings.Contains(line, "nsolicited response") || strings.Contains(line, "hunter2") {
			t.Errorf("logged: %q", line)
		}
	case <-time.After(time.Minute):
		t.Error("nothing is logged")
	}
}
