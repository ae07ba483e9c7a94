package mcpproxy

import (
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/unloop-ai/unloop/internal/mcplines"
)

func TestABannerOfAServerDoesNotEndItsConnection(t *testing.T) {
	var skipped []string
	server, err := Command(t.Context(), "sh", []string{"-c", "echo Listening; cat"}, t.Output(), func(reason string) { skipped = append(skipped, reason) })
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Write(t.Context(), &jsonrpc.Request{Method: "echoed"}); err != nil {
		t.Fatal(err)
	}
	m, err := server.Read(t.Context())
	if r, ok := m.(*jsonrpc.Request); !ok || r.Method != "echoed" || len(skipped) != 1 {
		t.Errorf("read %v, %v, skipped %q", m, err, skipped)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}

func TestAServerThatCannotBeStartedIsNamed(t *testing.T) {
	if _, err := Command(t.Context(), "/no/such/server", nil, nil, nil); err == nil {
		t.Error("it was started")
	}
}

func TestTheFailureOfAServerIsReported(t *testing.T) {
	for command, want := range map[string]string{"exit 3": "the server ended: exit status 3", "exit 0": ""} {
		server, err := Command(t.Context(), "sh", []string{"-c", command}, t.Output(), nil)
		if err != nil {
			t.Fatal(err)
		}
		in, _ := io.Pipe() // the client sends nothing
		client, err := mcplines.ToClient(in, discard{}, MaxMessage).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := Pump(t.Context(), newSession(t), client, server); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", command, err, want)
		}
	}
}

// discard is a client that reads everything.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
