package mcplines

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const limit = 1 << 10

func TestLinesOfAServerThatAreNoMessagesAreSkipped(t *testing.T) {
	const message = `{"jsonrpc":"2.0","method":"a"}`
	in := strings.Join([]string{
		"Server listening on stdio", "", "[]", "7", "{}", strings.Repeat("x", limit), strings.Repeat(" ", 3*limit), `{"jsonrpc":"2.0"} {}`,
		message + "\r", "\x00", strings.Repeat("[", limit-1), strings.Repeat("\n", 3*limit), "[" + message + "," + message + "]",
	}, "\n")
	var reasons []string
	c, err := ToServer(io.NopCloser(strings.NewReader(in)), nothing{}, limit, func(reason string) { reasons = append(reasons, reason) }).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var methods []string
	for {
		m, err := c.Read(t.Context())
		if err != nil {
			break
		}
		methods = append(methods, m.(*jsonrpc.Request).Method)
	}
	if diff := cmp.Diff([]string{"a", "a", "a"}, methods); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if len(reasons) != 8 {
		t.Errorf("%d lines were skipped with a reason, want 8: %q", len(reasons), reasons)
	}
}

func TestLinesOfAClientThatAreNoMessagesAreAnswered(t *testing.T) {
	var answers strings.Builder
	c, err := ToClient(io.NopCloser(strings.NewReader("garbage\n[]\n")), nopCloser{&answers}, limit).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m, err := c.Read(t.Context()); err == nil {
		t.Errorf("read %v, want the end", m)
	}
	want := `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not one JSON value"}}
{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the batch is empty"}}
`
	if diff := cmp.Diff(want, answers.String()); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func TestAnIDThatTheSDKWouldChangeIsAnswered(t *testing.T) {
	for id, kept := range map[string]bool{
		`7`: true, `-7.0`: true, `"x"`: true, `9007199254740991`: true, `9007199254740993`: false, `1763870000000000001`: false, `1.5`: false,
		`1180591620717411303424`: false,
	} {
		var answers strings.Builder
		in := `{"jsonrpc":"2.0","method":"ping","id":` + id + "}\n"
		c, err := ToClient(io.NopCloser(strings.NewReader(in)), nopCloser{&answers}, limit).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Read(t.Context())
		if kept != (err == nil) || kept != (answers.Len() == 0) || !kept && !strings.Contains(answers.String(), `"id":`+id+`,"error"`) {
			t.Errorf("id %s: error %v, answer %q", id, err, answers.String())
		}
	}
}

// FuzzLines: whatever the lines before it are, a message arrives.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"x", "{", "[[", `{"jsonrpc":"2.0"}`, `"\ud800"`, "\xff", strings.Repeat("y", limit)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, before string) {
		in := before + "\n" + `{"jsonrpc":"2.0","method":"last"}` + "\n"
		c, err := ToServer(io.NopCloser(strings.NewReader(in)), nothing{}, limit, func(string) {}).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for {
			m, err := c.Read(t.Context())
			if err != nil {
				t.Fatalf("the message did not arrive: %v", err)
			}
			if r, ok := m.(*jsonrpc.Request); ok && r.Method == "last" {
				return
			}
		}
	})
}

type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }
func (nothing) Close() error                { return nil }

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
