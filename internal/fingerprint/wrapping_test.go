package fingerprint

import (
	"slices"
	"testing"
)

func TestUnwrap(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"Codex":                                 {`"Exit code: 0\nWall time: 0.7 seconds\nOutput:\na\nb"`, `\na\nb`},
		"a failure in Claude Code":              {`"Exit code 1\nno such file"`, `no such file`},
		"Gemini CLI":                            {`"Command: ls\nDirectory: (root)\nOutput: a\nError: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: 7"`, ` a`},
		"OpenHands":                             {`"a\nb\n[Current working directory: /w]\n[Python interpreter: /usr/bin/python3]\n[Command finished with exit code 0]"`, `a\nb`},
		"mini-swe-agent":                        {`"<returncode>0</returncode>\n<output>\na\n</output>"`, `a`},
		"with escaped brackets":                 {`"\u003creturncode\u003e0\u003c/returncode\u003e\n\u003coutput\u003e\na\n\u003c/output\u003e"`, `a`},
		"a command that prints nothing":         {`"\n[Current working directory: /w]\n[Command finished with exit code 0]"`, ``},
		"in colours":                            {`"\u001b[0mExit code 1\nno rule"`, `no rule`},
		"plain output":                          {`"a\nb"`, `a\nb`},
		"lines between":                         {`"a\nSignal: 3\nb"`, `a\nSignal: 3\nb`},
		"OpenHands behind a reminder":           {`"a\n[Command finished with exit code 0]\n<system-reminder>\nb\n</system-reminder>"`, `a`},
		"SWE-agent":                             {`"a\n(Open file: /r/a.py)\n(Current directory: /r)\nbash-$"`, `a`},
		"Roo Code":                              {`"Command executed in terminal within working directory '/r'. Exit code: 0\nOutput:\na"`, `\na`},
		"Cursor":                                {"\"Exit code: 0\\n\\nCommand output:\\n\\n```\\na\\n```\\n\\nCommand completed in 9 ms.\\n\\nShell state (cwd, env vars) persists for subsequent calls.\"", `a`},
		"Gemini CLI, without an output":         {"\"Command: ls\\nOutput: (empty)\\nError: (none)\\nExit Code: 0\"", ``},
		"in tags":                               {"\"<stdout>\\na\\n</stdout>\\n<exit_code>0</exit_code>\"", `a`},
		"a command that prints (empty)":         {"\"(empty)\"", `(empty)`},
		"a fence that is output":                {"\"```\\na\\n```\"", "```\\na\\n```"},
		"a fence at the end of a fenced output": {"\"Command output:\\n```\\na\\n```\\n```\"", "a\\n```"},
		"a directory that was reset":            {`"a\n\nShell cwd was reset to /app"`, `a`},
		"an object with one stream":             {`{"output":"a","metadata":{"exit_code":0,"duration_seconds":0.4}}`, `a`},
		"the stream that is not empty":          {`{"stdout":"","stderr":"a","interrupted":false}`, `a`},
		"streams without an output":             {`{"stdout":"","stderr":""}`, ``},
		"two streams":                           {`{"stdout":"a","stderr":"b"}`, `{"stdout":"a","stderr":"b"}`},
		"an object that is an output":           {`{"output":{"a":1}}`, `{"output":{"a":1}}`},
		"another object":                        {`{"rows":"a"}`, `{"rows":"a"}`},
		"an open string":                        {`"`, `"`},
		"nothing":                               {``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(Unwrap([]byte(c.raw), &Echo{})); got != c.want {
				t.Errorf("Unwrap(%s) = %q, want %q", c.raw, got, c.want)
			}
		})
	}
}

func TestContent(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"a result with one text":  {`{"content":[{"type":"text","text":"a"}],"isError":true}`, `"a"`},
		"a list with one text":    {` [ {"text":"a","type":"text"} ] `, `"a"`},
		"an empty text":           {`[{"type":"text","text":""}]`, `""`},
		"several texts":           {`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`},
		"an image":                {`[{"type":"image","data":"a"}]`, `[{"type":"image","data":"a"}]`},
		"no part":                 {`{"content":[]}`, `{"content":[]}`},
		"content that is a text":  {`{"content":"a"}`, `{"content":"a"}`},
		"a result that worked":    {`{"success":true,"data":{"a":1}}`, `{"a":1}`},
		"one that failed":         {`{"data":"a","ok":false}`, `"a"`},
		"a result with an id":     {`{"tool_call_id":"call_1","content":"a"}`, `"a"`},
		"content within a result": {`{"success":true,"data":{"content":[{"type":"text","text":"a"}]}}`, `"a"`},
		"a result that is a word": {`{"success":true,"data":null}`, `{"success":true,"data":null}`},
		"only an acknowledgement": {`{"success":true,"message":"a"}`, `{"success":true,"message":"a"}`},
		"a result and its count":  {`{"success":true,"data":"a","count":1}`, `{"success":true,"data":"a","count":1}`},
		"two results":             {`{"output":"a","result":"b"}`, `{"output":"a","result":"b"}`},
		"a list of numbers":       {`[1]`, `[1]`},
		"a text":                  {`"a"`, `"a"`},
		"half a list":             {`[`, `[`},
		"half a part":             {`[{"text":`, `[{"text":`},
		"nothing":                 {``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(Content([]byte(c.raw))); got != c.want {
				t.Errorf("Content(%s) = %q, want %q", c.raw, got, c.want)
			}
		})
	}
}

func TestWithoutReminder(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"a reminder":               {`"a\n\n<system-reminder>\nb\n</system-reminder>\n"`, `a\n\n`},
		"a remark":                 {`"a\n<system>done</system>"`, `a\n`},
		"with escaped brackets":    {`"a\u003csystem\u003edone\u003c/system\u003e"`, `a`},
		"another element":          {`"a<output>b</output>"`, `"a<output>b</output>"`},
		"a remark that is content": {`"<system>a</system> b"`, `"<system>a</system> b"`},
		"an end without a start":   {`"a</system>"`, `"a</system>"`},
		"an object":                {`{"a":1}`, `{"a":1}`},
		"nothing":                  {``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(WithoutReminder([]byte(c.raw))); got != c.want {
				t.Errorf("WithoutReminder(%s) = %q, want %q", c.raw, got, c.want)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	for raw, want := range map[string]string{
		`{"input":{"a":1}}`:            `{"a":1}`,
		` { "params" : {"args":{}} } `: `{}`,
		`{"input":{"a":1},"b":2}`:      `{"input":{"a":1},"b":2}`,
		`{"query":{"a":1}}`:            `{"query":{"a":1}}`,
		`{"input":"a"}`:                `{"input":"a"}`,
		`{"input":`:                    `{"input":`,
		`[1]`:                          `[1]`,
		``:                             ``,
	} {
		if got := string(Arguments([]byte(raw))); got != want {
			t.Errorf("Arguments(%s) = %s, want %s", raw, got, want)
		}
	}
}

func TestAfterFolder(t *testing.T) {
	for value, want := range map[string]string{
		`"cd /a && make"`:        `make"`,
		`"cd '/a b' && ls && w"`: `ls && w"`,
		`"cd /a; make"`:          `"cd /a; make"`,
		`"cd /a"`:                `"cd /a"`,
		`"cd a b && make"`:       `"cd a b && make"`,
		`"make && cd /a && b"`:   `"make && cd /a && b"`,
		`["cd /a && make"]`:      `["cd /a && make"]`,
		`"`:                      `"`,
		``:                       ``,
	} {
		if got := string(AfterFolder([]byte(value))); got != want {
			t.Errorf("AfterFolder(%s) = %s, want %s", value, got, want)
		}
	}
}

func TestColoursAreNoWords(t *testing.T) {
	var plain, coloured Words
	plain.Add([]byte(`"error: no rule for a\n3 failed"`))
	for _, text := range []string{`"\u001b[1;31merror\u001b[0m: no rule for a\n\u001b[31m3 failed\u001b[0m"`, `"\u001B[?2004lerror: no rule for a\n3 failed\u001b[K"`} {
		coloured.Reset()
		coloured.Add([]byte(text))
		if !slices.Equal(plain.List, coloured.List) || coloured.Varies {
			t.Errorf("the words of %s are %v, want %v", text, coloured.List, plain.List)
		}
	}
	for _, text := range []string{`\u001b`, `\u001b[`, `\u001b[31`, `\u001b[ m`, `\u0031[31m`, `u001b[31m..`, ``} {
		if n := control([]byte(text)); n != 0 {
			t.Errorf("control(%s) = %d, want 0", text, n)
		}
	}
}
