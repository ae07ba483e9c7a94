package mcpproxy

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
