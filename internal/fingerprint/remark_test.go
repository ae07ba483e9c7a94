package fingerprint

import "testing"

func TestRemark(t *testing.T) {
	for name, c := range map[string]struct{ output, failure, want string }{
		"Claude Code":           {`null`, `"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nkeep the redirect"`, `\nkeep the redirect`},
		"OpenCode":              {`"The user rejected permission to use this specific tool call with the following feedback: use pnpm"`, ``, ` use pnpm`},
		"Cline":                 {`"The user denied this operation and provided the following feedback:\n<feedback>\nuse pnpm\n</feedback>"`, ``, `\n<feedback>\nuse pnpm\n</feedback>`},
		"a refusal without one": {`null`, `"The user doesn't want to proceed with this tool use. STOP what you are doing."`, ``},
		"the output of a log":   {`"12:01 the user said: hello"`, ``, ``},
		"an open string":        {`"`, `"The user `, ``},
		"nothing":               {``, ``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(Remark([]byte(c.output), []byte(c.failure))); got != c.want {
				t.Errorf("Remark(%s, %s) = %q, want %q", c.output, c.failure, got, c.want)
			}
		})
	}
}
