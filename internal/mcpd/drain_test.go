package mcpd

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// kept is a writer that keeps what is written.
type kept struct{ bytes.Buffer }

func (*kept) Close() error { return nil }

func TestAllRequestsAreAnsweredAtTheEndOfTheInput(t *testing.T) {
	const requests = 50
	var in strings.Builder
	in.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n")
	in.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	for n := range requests {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"get_run_diagnosis","arguments":{"run_id":"well"}}}`+"\n", n+1)
	}
	in.WriteString(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":50}}` + "\n")
	in.WriteString(`{"jsonrpc":"2.0","id":"last","method":"tools/list"}`) // without a line end
	var out kept
	if err := Serve(t.Context(), New(looping(), "1.2.3"), io.NopCloser(strings.NewReader(in.String())), &out); err != nil {
		t.Fatal(err)
	}
	for n := range requests {
		if !strings.Contains(out.String(), fmt.Sprintf(`"id":%d,"result"`, n)) {
			t.Errorf("request %d has no result", n)
		}
	}
	if !strings.Contains(out.String(), `"id":"last","result"`) {
		t.Errorf("the last request has no result: %s", out.String())
	}
}
