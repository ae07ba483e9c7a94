package fingerprint

import "testing"

func TestPackedArguments(t *testing.T) {
	for raw, want := range map[string]string{
		`"{\"command\":\"ls\"}"`:           `{"command":"ls"}`,
		`"{\"a\":\"\\\"b\\\"\\n\"}\n"`:     `{"a":"\"b\"\n"} `,
		`"[{\"a\":1}]"`:                    `[{"a":1}]`,
		`"{\n \"a\": \"\u003c\"}"`:         `{  "a": "<"}`,
		`{"arguments":"{\"a\":1}"}`:        `{"a":1}`,
		`{ "input" : "{\"a\":1}" }`:        `{"a":1}`,
		`{"arguments":"{\"a\":1}","b":1}`:  "",
		`{"query":"{\"a\":1}"}`:            "",
		`{"arguments":"ls"}`:               "",
		`{"arguments":"{\"a\":1}`:          "",
		`"{\"a\":1"`:                       "",
		`"{\"a\":\"\u001b\ud83d\ude00\"}"`: `{"a":"\u001b\ud83d\ude00"}`,
		`"ls"`:                             "",
		`{"a":1}`:                          "",
		`"{`:                               "",
		``:                                 "",
	} {
		got := ""
		if PackedArguments([]byte(raw)) {
			got = string(Unpack(nil, []byte(raw)))
		}
		if got != want {
			t.Errorf("arguments %s: unpacked %q, want %q", raw, got, want)
		}
	}
}

func TestPackedResult(t *testing.T) {
	for raw, want := range map[string]string{
		`"{\"output\":\"a\\nb\",\"metadata\":{\"exit_code\":0}}"`: `{"output":"a\nb","metadata":{"exit_code":0}}`,
		`"{ \"exit_code\": 1, \"output\": \"a\"}"`:                `{ "exit_code": 1, "output": "a"}`,
		`"{\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}"`:    `{"content":[{"type":"text","text":"a"}]}`,
		`"[{\"type\":\"text\",\"text\":\"a\"}]"`:                  `[{"type":"text","text":"a"}]`,
		`"{\"name\":\"a file that was read\"}"`:                   "",
		`"[{\"name\":\"a\"}]"`:                                    "",
		`"{\"output\":\"cut"`:                                     "",
		`"{output}"`:                                              "",
		`"a"`:                                                     "",
		`{"output":"a"}`:                                          "",
		``:                                                        "",
	} {
		got := ""
		if PackedResult([]byte(raw)) {
			got = string(Unpack(nil, []byte(raw)))
		}
		if got != want {
			t.Errorf("result %s: unpacked %q, want %q", raw, got, want)
		}
	}
}
