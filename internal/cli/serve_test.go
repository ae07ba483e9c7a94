package cli

import (
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/app"
	"github.com/unloop-ai/unloop/internal/config"
)

func TestTheAdviceOfAServerFitsItsTokens(t *testing.T) {
	for want, tokens := range map[string][]config.Token{
		"  curl -N http://127.0.0.1:1/api/stream\n":                                            nil,
		"  curl -N -H \"Authorization: Bearer $UNLOOP_TOKEN\" http://127.0.0.1:1/api/stream\n": {{Name: "ci", Scope: "read"}},
	} {
		c := config.Default()
		c.Tokens = tokens
		var said strings.Builder
		greet(&said, &config.Loaded{Config: c}, app.Addresses{HTTP: "127.0.0.1:1"})
		if !strings.HasSuffix(said.String(), want) {
			t.Errorf("with %d tokens it says %s", len(tokens), said.String())
		}
	}
}
