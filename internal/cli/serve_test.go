package cli

import (
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/app"
	"github.com/unloop-ai/unloop/internal/config"
)

func TestAServerPrintsHowToSendEvents(t *testing.T) {
	c := config.Default()
	greeting := func(addr string) string {
		var said strings.Builder
		greet(&said, &config.Loaded{Config: c}, app.Addresses{HTTP: addr, GRPC: "127.0.0.1:4317", DB: "/data/unloop.db"})
		return said.String()
	}
	said := greeting("127.0.0.1:9999")
	for _, want := range []string{
		"  dashboard http://127.0.0.1:9999\n", "gRPC 127.0.0.1:4317\n", "  database  /data/unloop.db\n",
		"unloop import --endpoint http://127.0.0.1:9999 ~/.claude/projects\n",
		"export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9999 OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\n",
		"pip install unloop && export UNLOOP_ENDPOINT=http://127.0.0.1:9999\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the output does not contain %q:\n%s", want, said)
		}
	}
	if said := greeting("127.0.0.1:8765"); !strings.Contains(said, " unloop demo\n") {
		t.Errorf("the output contains a flag for the default address:\n%s", said)
	}
	c.Tokens = []config.Token{{Name: "ci", Scope: "ingest"}}
	if said := greeting("127.0.0.1:9999"); !strings.Contains(said, `OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20$UNLOOP_TOKEN"`) {
		t.Errorf("with tokens the output is\n%s", said)
	}
}

func TestTheAdviceOfAServerDependsOnItsTokens(t *testing.T) {
	for want, tokens := range map[string][]config.Token{
		"  curl -N http://127.0.0.1:1/api/stream\n":                                            nil,
		"  curl -N -H \"Authorization: Bearer $UNLOOP_TOKEN\" http://127.0.0.1:1/api/stream\n": {{Name: "ci", Scope: "read"}},
	} {
		c := config.Default()
		c.Tokens = tokens
		var said strings.Builder
		greet(&said, &config.Loaded{Config: c}, app.Addresses{HTTP: "127.0.0.1:1"})
		if !strings.HasSuffix(said.String(), want) {
			t.Errorf("with %d tokens the output is %s", len(tokens), said.String())
		}
	}
}
