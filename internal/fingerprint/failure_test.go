package fingerprint

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFailure(t *testing.T) {
	for name, tc := range map[string]struct {
		output string
		text   string // "" for the whole output
		failed bool
	}{
		"exit status in a tag":                        {output: `"<returncode>1</returncode>\n<output>\nmake: *** no rule\n</output>"`, failed: true},
		"exit status in an escaped tag":               {output: `"\u003creturncode\u003e1\u003c/returncode\u003e\nno rule"`, failed: true},
		"exit status 0 in a tag":                      {output: `"<returncode>0</returncode>\n<output>\nexit code 1 is what it returned before\n</output>"`},
		"exit status in the last line":                {output: `"make: *** no rule\n[exit code: 2]\n"`, failed: true},
		"exit status in a line before the signal":     {output: `"Output: no rule\nExit Code: 1\nSignal: (none)\nProcess Group PGID: 28107"`, failed: true},
		"exit status 0 before the signal":             {output: `"Output: error\nExit Code: 0\nSignal: (none)\nProcess Group PGID: 28107"`},
		"a signal":                                    {output: `"killed\nexit status -9"`, failed: true},
		"exit status in a sentence at the end":        {output: `"no rule\n[The command completed with exit code 127.]"`, failed: true},
		"exit status 0 at the end":                    {output: `"done\nProcess exited with code 0"`},
		"exit status at the beginning":                {output: `"Exit code: 1\nno rule"`, failed: true},
		"exit status in the middle says nothing":      {output: `"a\nexit code: 1\nb"`},
		"exit precedes return":                        {output: `"return code 0, exit code 1"`, failed: true},
		"exit precedes return, in another order":      {output: `"exit code 0, return code 1"`},
		"a return code alone":                         {output: `"return code 1, exit"`, failed: true},
		"words that lead to no number":                {output: `"the exit code of the program is unknown"`},
		"a traceback is all there is":                 {output: `"\nTraceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n"`, failed: true},
		"a traceback in a log that was read":          {output: `"10:01 started\nTraceback (most recent call last):\nKeyError: 'x'"`},
		"a text that begins with Error":               {output: `"Error: payment method not found"`, failed: true},
		"a text about errors":                         {output: `"Errors are handled in errors.go"`},
		"an object with an exit status":               {output: `{"exit_code":1,"stdout":"","stderr":"no rule"}`, text: `"no rule"`, failed: true},
		"an object with exit status 0":                {output: `{"exit_code":0,"stdout":"ok"}`, text: `"ok"`},
		"an object with an error":                     {output: `{"data":null,"error":"not found"}`, text: `"not found"`, failed: true},
		"an object with an error that is an object":   {output: `{"error":{"code":404,"message":"no such order"}}`, text: `"no such order"`, failed: true},
		"an object without an error":                  {output: `{"data":[1],"error":null}`},
		"an object with an empty error":               {output: `{"data":[1],"error":""}`},
		"no success":                                  {output: `{"success":false,"message":"try later"}`, text: `"try later"`, failed: true},
		"success":                                     {output: `{"success": true, "message": "done"}`, text: `"done"`},
		"an answer of the Model Context Protocol":     {output: `{"isError":true,"content":[]}`, failed: true},
		"exit status behind other lines of a tool":    {output: `"Chunk ID: 5a3f1e\nWall time: 0.5013 seconds\nProcess exited with code 1\nOutput:\nno rule"`, failed: true},
		"exit status behind a long working directory": {output: `"Command executed in terminal within working directory '/home/user/repositories/project'. Exit code: 1\nOutput:\nno rule"`, failed: true},
		"an exit status in the metadata":              {output: `{"output":"no rule","metadata":{"exit_code":1}}`, text: `"no rule"`, failed: true},
		"an exit status of 0 in the metadata":         {output: `{"output":"ok","metadata":{"exit_code":0}}`, text: `"ok"`},
		"a traceback in colours":                      {output: `"\u001b[31mTraceback (most recent call last):\nKeyError: 'x'"`, failed: true},
		"an error further inside is data":             {output: `{"rows":[{"error":"x"}]}`},
		"a list":                                      {output: `[1,2]`},
		"nothing":                                     {output: ``},
		"half an object":                              {output: `{"error":`},
	} {
		t.Run(name, func(t *testing.T) {
			text, failed := Failure([]byte(tc.output))
			if tc.text == "" {
				tc.text = tc.output
			}
			if string(text) != tc.text || failed != tc.failed {
				t.Errorf("got %s, %t, want %s, %t", text, failed, tc.text, tc.failed)
			}
		})
	}
}

func TestIndexStemMissesNoStem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("xituwé ")), 0, 40, -1).Draw(t, "text")
		from := rapid.IntRange(0, len(text)).Draw(t, "from")
		want := from
		for want < len(text) && !strings.HasPrefix(text[want:], "xi") && !strings.HasPrefix(text[want:], "tu") {
			want++
		}
		if got := indexStem([]byte(text), from); got < from || got > want {
			t.Errorf("from %d on in %q it is at %d, want at most %d", from, text, got, want)
		}
	})
}

func TestIndexEitherFindsTheFirstOfBoth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("\"\\#]a¢Ü\x01")), 0, 40, -1).Draw(t, "text")
		from := rapid.IntRange(0, len(text)).Draw(t, "from")
		want := len(text)
		if at := strings.IndexAny(text[from:], "\"\\"); at >= 0 {
			want = from + at
		}
		if got := indexEither([]byte(text), from, '"', '\\'); got != want {
			t.Errorf("from %d on in %q it is at %d, want %d", from, text, got, want)
		}
	})
}
