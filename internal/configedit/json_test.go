package configedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"
)

var all = Dialect{Comments: true, TrailingCommas: true}

func own(element json.RawMessage) bool {
	var e struct{ Command string }
	return json.Unmarshal(element, &e) == nil && e.Command == "own"
}

var (
	handler = map[string]any{"command": "own"}
	group   = map[string]any{"matcher": "*", "hooks": []any{handler}}
)

func TestAnEntryHasTheFormatOfItsNeighbours(t *testing.T) {
	for _, tc := range []struct{ name, before, after string }{
		{"an empty file", "", "{\n  \"hooks\": {\n    \"Pre\": [\n      {\n        \"command\": \"own\"\n      }\n    ]\n  }\n}\n"},
		{"an empty object", "{}", "{\n  \"hooks\": {\n    \"Pre\": [\n      {\n        \"command\": \"own\"\n      }\n    ]\n  }\n}"},
		{"all on one line", `{"a": 1}`, `{"a": 1, "hooks": {"Pre":[{"command":"own"}]}}`},
		{"tabs and CRLF", "{\r\n\t\"a\": 1\r\n}\r\n", "{\r\n\t\"a\": 1,\r\n\t\"hooks\": {\r\n\t\t\"Pre\": [\r\n\t\t\t{\r\n\t\t\t\t\"command\": \"own\"\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}\r\n"},
		{
			"a trailing comma and comments", "{\n  // first\n  \"a\": 1, // one\n}\n",
			"{\n  // first\n  \"a\": 1,\n  \"hooks\": {\n    \"Pre\": [\n      {\n        \"command\": \"own\"\n      }\n    ]\n  }, // one\n}\n",
		},
		{"an array with other entries", "{\"hooks\": {\"Pre\": [{\"command\": \"x\"}]}}", "{\"hooks\": {\"Pre\": [{\"command\": \"x\"}, {\"command\":\"own\"}]}}"},
		{"the last of two members counts", "{\"hooks\": {}, \"hooks\": {\"Pre\": []}}", "{\"hooks\": {}, \"hooks\": {\"Pre\": [{\"command\":\"own\"}]}}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := ParseJSON([]byte(tc.before), all)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Append(handler, "hooks", "Pre"); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != tc.after {
				t.Errorf("got\n%q\nwant\n%q", got, tc.after)
			}
		})
	}
}

func TestAnInvalidFileIsRejectedWithThePlaceOfTheError(t *testing.T) {
	for _, tc := range []struct {
		name, text   string
		dialect      Dialect
		line, column int
	}{
		{"a comment in strict JSON", "{\n  // x\n  \"a\": 1\n}", Dialect{}, 1, 2},
		{"a trailing comma in strict JSON", "{\n  \"a\": 1,\n}", Dialect{}, 2, 9},
		{"a trailing comma where only comments go", "{\n  // x\n  \"a\": [1,]\n}", Dialect{Comments: true}, 3, 10},
		{"a missing bracket", "{\n  \"a\": 1\n", all, 3, 1},
		{"two values", "{} {}", all, 1, 4},
		{"a list", "[]", all, 1, 1},
		{"a name that occurs twice where it must not", "{\"a\": 1,\n \"a\": 2}", Dialect{UniqueNames: true}, 2, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := ParseJSON([]byte(tc.text), tc.dialect)
			var wrong *SyntaxError
			if !errors.As(err, &wrong) || wrong.Line != tc.line || wrong.Column != tc.column {
				t.Errorf("got %v, want line %d, column %d", err, tc.line, tc.column)
			}
		})
	}
}

// settings draws a file with hooks of other people, comments and oddities.
func settings(t *rapid.T) string {
	newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	indent := rapid.SampledFrom([]string{"  ", "\t", "    "}).Draw(t, "indent")
	comma := rapid.SampledFrom([]string{"", ","}).Draw(t, "trailing")
	comment := func() string {
		return rapid.SampledFrom([]string{"", "", " // note, with [brackets] and {}" + newline, " /* note */ "}).Draw(t, "comment")
	}
	var value func(depth int) string
	list := func(open, shut string, items []string, depth int) string {
		if len(items) == 0 {
			return open + comment() + shut
		}
		gap := rapid.SampledFrom([]string{"", newline + strings.Repeat(indent, depth+1)}).Draw(t, "gap")
		return open + gap + strings.Join(items, ","+comment()+gap) + comma + comment() + shut
	}
	value = func(depth int) string {
		switch k := rapid.IntRange(0, 5).Draw(t, "value"); {
		case k == 0 && depth < 3:
			return list("[", "]", rapid.SliceOfN(rapid.Custom(func(*rapid.T) string { return value(depth + 1) }), 0, 3).Draw(t, "elements"), depth)
		case k == 1 && depth < 3:
			return list("{", "}", []string{`"x": ` + value(depth+1)}, depth)
		}
		return rapid.SampledFrom([]string{"1", "true", "null", `"a // no comment"`, `{"command": "other"}`, `"\u00e9"`}).Draw(t, "scalar")
	}
	var members []string
	for k := range rapid.IntRange(0, 3).Draw(t, "members") {
		members = append(members, fmt.Sprintf(`"m%d": %s`, k, value(1)))
	}
	if rapid.Bool().Draw(t, "hooks") {
		groups := rapid.SliceOfN(rapid.Just(`{"matcher": "Bash", "hooks": [{"command": "other"}]}`), 0, 2).Draw(t, "groups")
		members = append(members, `"hooks": `+list("{", "}", []string{`"Pre": ` + list("[", "]", groups, 2)}, 1))
	}
	return rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "bom") + comment() + list("{", "}", members, 0) + newline
}

func TestAddingAndRemovingChangeNoOtherBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := settings(t)
		d, err := ParseJSON([]byte(text), all)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for _, event := range []string{"Pre", "Post"} {
			if err := d.Append(group, "hooks", event); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
		with := d.Bytes()
		if !isSubsequence([]byte(text), with) {
			t.Fatalf("%q lost bytes: %q", text, with)
		}
		n, err := d.Remove(own, "hooks")
		if err != nil || n != 2 {
			t.Fatalf("removed %d: %v", n, err)
		}
		if diff := meaning(t, []byte(text)) != meaning(t, d.Bytes()); diff {
			t.Fatalf("%q became %q", text, d.Bytes())
		}
		if !isSubsequence(commentsOf(text), d.Bytes()) {
			t.Fatalf("%q lost a comment: %q", text, d.Bytes())
		}
	})
}

// meaning returns the values of a file, without hooks that hold nothing: whether they were there before is not told.
func meaning(t *rapid.T, text []byte) string {
	raw, err := hujson.Standardize(bytes.TrimPrefix(text, bom))
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	if err := json.Unmarshal(raw, &content); err != nil {
		t.Fatal(err)
	}
	if hooks, ok := content["hooks"].(map[string]any); ok {
		if pre, ok := hooks["Pre"].([]any); ok && len(pre) == 0 {
			delete(hooks, "Pre")
		}
		if len(hooks) == 0 {
			delete(content, "hooks")
		}
	}
	out, _ := json.Marshal(content)
	return string(out)
}

func commentsOf(text string) []byte {
	return []byte(strings.Repeat("/* note */", strings.Count(text, "/* note */")))
}

// isSubsequence reports whether all bytes of part are in whole, in their order.
func isSubsequence(part, whole []byte) bool {
	for _, b := range whole {
		if len(part) > 0 && part[0] == b {
			part = part[1:]
		}
	}
	return len(part) == 0
}

func TestRemovingTheOnlyEntryOfAGroupRemovesTheGroup(t *testing.T) {
	for _, tc := range []struct{ name, before, after string }{
		{
			"a group of its own", "{\n  \"hooks\": {\n    \"Pre\": [\n      {\"hooks\": [{\"command\": \"x\"}]},\n      {\"matcher\": \"*\", \"hooks\": [{\"command\": \"own\"}]}\n    ]\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"Pre\": [\n      {\"hooks\": [{\"command\": \"x\"}]}\n    ]\n  }\n}\n",
		},
		{"a group that a person has put together", `{"hooks":{"Pre":[{"hooks":[{"command":"own"},{"command":"x"}]}]}}`, `{"hooks":{"Pre":[{"hooks":[{"command":"x"}]}]}}`},
		{"all hooks", `{"a":1,"hooks":{"Pre":[{"hooks":[{"command":"own"}]}]}}`, `{"a":1}`},
		{"the only member", "{\n  \"hooks\": {\"Pre\": [{\"command\": \"own\"}]}\n}\n", "{}\n"},
		{"a flat entry", `{"hooks":{"Pre":[{"command":"own"}, {"command":"x"}]},"b":2}`, `{"hooks":{"Pre":[ {"command":"x"}]},"b":2}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := ParseJSON([]byte(tc.before), Dialect{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Remove(own, "hooks"); err != nil {
				t.Fatal(err)
			}
			if got := string(d.Bytes()); got != tc.after {
				t.Errorf("got\n%s\nwant\n%s", got, tc.after)
			}
		})
	}
}
