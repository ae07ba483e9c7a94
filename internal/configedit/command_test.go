package configedit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestACommandIsWrappedInPlace(t *testing.T) {
	for name, tc := range map[string]struct{ toml, text, want string }{
		"on one line": {
			"", `{"s": {"a": {"command": "npx", "args": ["-y", "x"]}}}`,
			`{"s": {"a": {"command": "un loop", "args": ["p", "--", "npx", "-y", "x"]}}}`,
		},
		"arguments on lines of their own": {
			"", "{\"s\": {\"a\": {\n  \"command\": \"npx\",\n  \"args\": [\n    \"-y\" // yes\n  ]}}}",
			"{\"s\": {\"a\": {\n  \"command\": \"un loop\",\n  \"args\": [\n    \"p\",\n    \"--\",\n    \"npx\",\n    \"-y\" // yes\n  ]}}}",
		},
		"without arguments": {
			"", "{\"s\": {\"a\": {\n  \"command\": \"C:\\\\x\\u0041\"}}}",
			"{\"s\": {\"a\": {\n  \"args\": [\"p\", \"--\", \"C:\\\\x\\u0041\"],\n  \"command\": \"un loop\"}}}",
		},
		"a server behind a URL is left alone": {"", `{"s": {"a": {"url": "http://x"}}}`, `{"s": {"a": {"url": "http://x"}}}`},
		"a table": {
			"s", "[s.a]\ncommand = 'npx' # mine\nargs = []\n[s.a.env]\nA = \"1\"\n",
			"[s.a]\ncommand = \"un loop\" # mine\nargs = [\"p\", \"--\", 'npx']\n[s.a.env]\nA = \"1\"\n",
		},
		"a table without arguments": {
			"s", "[s.\"a b\"]\r\n\tcommand = \"npx\" # mine\r\n",
			"[s.\"a b\"]\r\n\targs = [\"p\", \"--\", \"npx\"]\r\n\tcommand = \"un loop\" # mine\r\n",
		},
		"an inline table and dotted keys": {
			"s", "s.b.command = \"y\"\ns.a = { command = \"npx\", args = [\"]\", ] }\n",
			"s.b.args = [\"p\", \"--\", \"y\"]\ns.b.command = \"un loop\"\ns.a = { command = \"un loop\", args = [\"p\", \"--\", \"npx\", \"]\", ] }\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(text string) []Command {
				commands, err := JSONCommands([]byte(text), Dialect{Comments: true}, "s")
				if tc.toml != "" {
					commands, err = TOMLCommands([]byte(text), tc.toml)
				}
				if err != nil {
					t.Fatal(err)
				}
				return commands
			}
			got := string(Wrap([]byte(tc.text), read(tc.text), "un loop", "p", "--"))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			back := string(Unwrap([]byte(got), read(got), func(*Command) int { return 2 }))
			if diff := cmp.Diff(tc.text, back); diff != "" {
				t.Errorf("unwrapped:\n%s", diff)
			}
		})
	}
}

func TestUnwrappingRestoresEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		newline := rapid.SampledFrom([]string{"\n", "\r\n", ""}).Draw(t, "newline")
		indent := rapid.SampledFrom([]string{"  ", "\t", ""}).Draw(t, "indent")
		word := rapid.SampledFrom([]string{`"npx"`, `"a b"`, `"C:\\x"`, `"\u00e4[],"`, `"--"`, `""`})
		note := ""
		if newline != "" {
			note = rapid.SampledFrom([]string{"", "// [a], {b}" + newline, "/* , */"}).Draw(t, "note")
		}
		members := []string{`"command"` + rapid.SampledFrom([]string{":", " : "}).Draw(t, "colon") + word.Draw(t, "program"), `"env": {"A": "[1]"}`}
		if args := rapid.SliceOfN(word, 0, 3).Draw(t, "args"); len(args) > 0 {
			between := rapid.SampledFrom([]string{", ", ",", "," + newline + indent}).Draw(t, "between")
			members = append(members, `"args": [`+rapid.SampledFrom([]string{"", " ", newline + indent}).Draw(t, "open")+strings.Join(args, between)+"]")
		}
		members = rapid.Permutation(members).Draw(t, "order")
		text := "\ufeff{\"s\": {" + newline + note + "\"a\": {" + indent + strings.Join(members, ","+newline+note+indent) + newline + "}}}"
		read := func(data []byte) []Command {
			commands, err := JSONCommands(data, Dialect{Comments: true}, "s")
			if err != nil || len(commands) != 1 {
				t.Fatalf("%v in %s: %v", commands, data, err)
			}
			return commands
		}
		before := read([]byte(text))
		wrapped := Wrap([]byte(text), before, "unloop", "mcp-proxy", "--")
		c := read(wrapped)[0]
		want := append([]string{"unloop", "mcp-proxy", "--", before[0].Program}, before[0].Args...)
		if diff := cmp.Diff(want, append([]string{c.Program}, c.Args...)); diff != "" {
			t.Fatalf("%s\n%s", wrapped, diff)
		}
		if back := Unwrap(wrapped, read(wrapped), func(*Command) int { return 2 }); string(back) != text {
			t.Fatalf("%q became %q", text, back)
		}
	})
}

func FuzzTOMLCommands(f *testing.F) {
	f.Add([]byte("[s.a]\ncommand = 'x'\nargs = [ # ]\n'y', ]\n"))
	f.Add([]byte("s = {a={command=\"x\"}}"))
	f.Add([]byte("[[s.a]]\ncommand = \"x\"\n[s]\na.command = '''\nx'''"))
	f.Fuzz(func(t *testing.T, data []byte) {
		commands, err := TOMLCommands(data, "s")
		if err != nil || len(commands) == 0 {
			return
		}
		wrapped := Wrap(data, commands, "unloop", "--")
		again, err := TOMLCommands(wrapped, "s")
		if err != nil || len(again) != len(commands) {
			t.Fatalf("%q became %q: %v", data, wrapped, err)
		}
		for k, c := range again {
			want := append([]string{"unloop", "--", commands[k].Program}, commands[k].Args...)
			if diff := cmp.Diff(want, append([]string{c.Program}, c.Args...)); diff != "" {
				t.Fatalf("%q became %q\n%s", data, wrapped, diff)
			}
		}
	})
}
