package ingest

import "testing"

func TestUnwrapResult(t *testing.T) {
	tests := []struct {
		name, in, want string
		failed         bool
	}{
		{"a tool's own object", `{"output":"a","status":"error"}`, `{"output":"a","status":"error"}`, false},
		{"a text", `"a"`, `"a"`, false},
		{"a callback's output", `{"output":"a","kwargs":{"name":"ls"}}`, `"a"`, false},
		{"a tool message in it", `{"output":{"content":"a","tool_call_id":"c"},"kwargs":{}}`, `"a"`, false},
		{"a serialized message", `{"output":{"lc":1,"id":["x"],"kwargs":{"content":"a","tool_call_id":"c"}},"kwargs":{}}`, `"a"`, false},
		{"a message of an error", `{"output":{"content":"a","tool_call_id":"c","status":"error"},"kwargs":{}}`, `"a"`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _, failed := UnwrapResult(tt.in)
			if got != tt.want || failed != tt.failed {
				t.Errorf("got %s, failed %t, want %s, %t", got, failed, tt.want, tt.failed)
			}
		})
	}
}
