package cli

import (
	"strings"
	"testing"
)

func TestContradictoryFlagsOfTheMCPProxyAreErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		flags mcpProxyFlags
		args  []string
		want  string
	}{
		"no server":              {mcpProxyFlags{mode: "guard"}, nil, "either the COMMAND"},
		"two servers":            {mcpProxyFlags{mode: "guard", url: "http://h/mcp"}, []string{"server"}, "either the COMMAND"},
		"an address without URL": {mcpProxyFlags{mode: "guard", addr: "127.0.0.1:1"}, []string{"server"}, "--addr needs --url"},
		"an unknown mode":        {mcpProxyFlags{mode: "nudge"}, []string{"server"}, "invalid --mode"},
		"a header for HTTP":      {mcpProxyFlags{mode: "guard", url: "http://h", addr: "127.0.0.1:1", headers: []string{"A: b"}}, nil, "--header"},
		"a command":              {mcpProxyFlags{mode: "guard"}, []string{"server"}, ""},
		"a URL with two headers": {mcpProxyFlags{mode: "observe", url: "http://h", headers: []string{"A: b", "C: d"}}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := tc.flags.check(tc.args)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAHeaderCanReferToTheEnvironment(t *testing.T) {
	t.Setenv("UNLOOP_TEST_KEY", "k")
	header, err := parseHeaders([]string{"Authorization: Bearer ${UNLOOP_TEST_KEY}"})
	if err != nil || header.Get("Authorization") != "Bearer k" {
		t.Errorf("got %v, %v", header, err)
	}
	if _, err := parseHeaders([]string{"secret"}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a header without a name gives %v", err)
	}
}

func TestTheMCPProxyServesLoopbackOnly(t *testing.T) {
	cmd := mcpProxyCommand()
	cmd.SetArgs([]string{"--addr", "0.0.0.0:0", "--url", "http://127.0.0.1:1/mcp"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "not loopback") {
		t.Errorf("got %v", err)
	}
}
