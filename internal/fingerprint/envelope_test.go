package fingerprint

import "testing"

func TestEnvelopes(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"a message of LangGraph":      {`{"additional_kwargs":{},"artifact":null,"content":"a","id":"7","name":"bash","status":"success","tool_call_id":"c","type":"tool"}`, `"a"`},
		"an output of the Responses":  {`{"type":"function_call_output","call_id":"c","output":"a"}`, `"a"`},
		"an output of the AI SDK":     {`{"type":"tool-result","toolCallId":"c","toolName":"bash","output":{"type":"text","value":"a"}}`, `"a"`},
		"a response of Gemini":        {`{"functionResponse":{"id":"c","name":"bash","response":{"output":"a"}}}`, `{"output":"a"}`},
		"a list with an exit status":  {`{"success":true,"result":[{"exit_status":"1","stdout":"a"}]}`, `{"exit_status":"1","stdout":"a"}`},
		"texts behind another member": {`{"command":"ls","content":[{"type":"text","text":"a"}],"exit_code":1}`, `"a"`},
		"a text for two readers":      {`[{"type":"text","text":"a"},{"type":"text","text":"a"}]`, `"a"`},
		"a text behind a remark":      {`[{"type":"text","text":"<system>Done.</system>"},{"type":"text","text":"a"}]`, `"a"`},
		"a file and its name":         {`{"name":"a.go","content":"a"}`, `{"name":"a.go","content":"a"}`},
		"a state beside a result":     {`{"state":"new","data":"a","call_id":"c"}`, `{"state":"new","data":"a","call_id":"c"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(Content([]byte(c.raw))); got != c.want {
				t.Errorf("Content(%s) = %s, want %s", c.raw, got, c.want)
			}
		})
	}
}

func TestEnvelopesThatTellOfAFailure(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"tool_call_id":"c","content":"a","status":"error"}`:                                  true,
		`{"id":"c","status":"error"}`:                                                          false,
		`{"type":"error-text","value":"a"}`:                                                    true,
		`{"exit_status":"1","stdout":"a"}`:                                                     true,
		`{"exit_status":"0","stdout":"a"}`:                                                     false,
		`[{"type":"text","text":"<system>ERROR: Command failed with exit code: 2.</system>"}]`: true,
		`[{"type":"text","text":"<system>Command executed successfully.</system>"}]`:           false,
		`"exit=1\nSTDOUT:\n(empty)\nSTDERR:\na"`:                                               true,
		`"exitcode: 1 (execution failed)\nCode output: \na"`:                                   true,
	} {
		if _, failed := Failure([]byte(raw)); failed != want {
			t.Errorf("Failure(%s) = %t, want %t", raw, failed, want)
		}
	}
}

func TestAnOutputThatRepeatsItsCommand(t *testing.T) {
	const lines = "cat > a.py <<E\nprint(1)\nE"
	for name, c := range map[string]struct{ command, raw, want string }{
		"behind a prompt":          {"ls", `"root@box:/r# ls\na"`, `a`},
		"between prompts":          {"ls", `"root@box:/r# ls\na\nroot@box:/r# "`, `a`},
		"on a screen":              {"ls", `"root@box:/r# ls\nold\nroot@box:/r# ls\na\nroot@box:/r# "`, `a`},
		"with several lines":       {lines, `"$ cat > a.py <<E\nprint(1)\nE\na"`, `a`},
		"in quotes":                {"ls -l", `"[execute_command for 'ls -l'] Result:\nCommand executed.\nOutput:\na"`, `\na`},
		"in a line of its own":     {"ls -l", `"I ran this command:\n\nls -l\n\na"`, `\na`},
		"with quotes of its own":   {`echo "a b"`, `"$ echo \"a b\"\nc"`, `c`},
		"a word of the output":     {"ls", `"ls\na"`, `ls\na`},
		"the beginning of another": {"ls", `"$ lsof\na"`, `$ lsof\na`},
		"the cause of a failure":   {"foo -x", `"bash: foo -x: not found"`, `bash: foo -x: not found`},
	} {
		t.Run(name, func(t *testing.T) {
			echo := EchoOf([]byte(c.command))
			if got := string(Unwrap([]byte(c.raw), &echo)); got != c.want {
				t.Errorf("Unwrap(%s) = %q, want %q", c.raw, got, c.want)
			}
		})
	}
}

func TestLinesAroundAllOutcomesAreNoContent(t *testing.T) {
	add := func(unlike bool, texts ...string) (f Frame) {
		for _, text := range texts {
			f.Add([]byte(text), unlike)
		}
		return f
	}
	framed := []string{`Result of bash (call_1a):\na\nBye.`, `Result of bash (call_2b):\nb\nBye.`, `Result of bash (call_3c):\nc\nBye.`, `Result of bash (call_4d):\nd\nBye.`}
	for name, c := range map[string]struct {
		frame      Frame
		text, want string
	}{
		"around each":               {add(true, framed...), `Result of bash (call_9e):\nz\nBye.`, `z`},
		"around nothing":            {add(true, framed...), `Result of bash (call_9e):\nBye.`, ``},
		"an outcome without them":   {add(true, framed...), `z`, `z`},
		"without news between them": {add(false, framed...), `Result of bash (call_9e):\nz\nBye.`, `Result of bash (call_9e):\nz\nBye.`},
		"of a failure":              {add(true, `failed\na`, `failed\nb`, `failed\nc`, `failed\nd`), `failed\nz`, `failed\nz`},
		"a label":                   {add(true, `Observation: a`, `Observation: b`, `Observation: c`, `Observation: d`), `Observation: z`, `z`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(c.frame.Without([]byte(c.text))); got != c.want {
				t.Errorf("%q is left, want %q", got, c.want)
			}
		})
	}
}
