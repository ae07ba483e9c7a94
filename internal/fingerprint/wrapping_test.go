package fingerprint

import "testing"

func TestUnwrap(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"Codex":                         {`"Exit code: 0\nWall time: 0.7 seconds\nOutput:\na\nb"`, `\na\nb`},
		"a failure in Claude Code":      {`"Exit code 1\nno such file"`, `no such file`},
		"Gemini CLI":                    {`"Command: ls\nDirectory: (root)\nOutput: a\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: 7"`, ` a`},
		"OpenHands":                     {`"a\nb\n[Current working directory: /w]\n[Python interpreter: /usr/bin/python3]\n[Command finished with exit code 0]"`, `a\nb`},
		"mini-swe-agent":                {`"<returncode>0</returncode>\n<output>\na\n</output>"`, `a`},
		"with escaped brackets":         {`"\u003creturncode\u003e0\u003c/returncode\u003e\n\u003coutput\u003e\na\n\u003c/output\u003e"`, `a`},
		"a command that prints nothing": {`"\n[Current working directory: /w]\n[Command finished with exit code 0]"`, ``},
		"plain output":                  {`"a\nb"`, `a\nb`},
		"lines between":                 {`"a\nSignal: 3\nb"`, `a\nSignal: 3\nb`},
		"an object":                     {`{"output":"a"}`, `{"output":"a"}`},
		"an open string":                {`"`, `"`},
		"nothing":                       {``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(Unwrap([]byte(c.raw))); got != c.want {
				t.Errorf("Unwrap(%s) = %q, want %q", c.raw, got, c.want)
			}
		})
	}
}
