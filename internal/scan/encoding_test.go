package scan

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/unloop-ai/unloop/internal/report"
	"github.com/unloop-ai/unloop/profile"
)

func TestATextThatIsNotUTF8IsReportedOnce(t *testing.T) {
	line := func(word string) string {
		return `{"type":"message","run_id":"a","role":"user","text":"` + word + `"}` + "\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"Latin-1":                      {line("x") + line("caf\xe9") + line("caf\xe9"), ":2: the text is not UTF-8"},
		"UTF-8":                        {line("café \u2713 \U0001F600 \uFFFD"), ""},
		"a character cut at the end":   {line("x") + "\xc3", ""},
		"a character cut by a newline": {"\xc3\n", ":1: the text is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			in := &utf8Reader{r: iotest.OneByteReader(strings.NewReader(c.text)), name: "f", warn: func(err error) { got = append(got, err.Error()) }}
			if passed, err := io.ReadAll(in); err != nil || string(passed) != c.text {
				t.Errorf("passed on %q, %v", passed, err)
			}
			if all := strings.Join(got, "\n"); (c.want == "") != (all == "") || !strings.HasPrefix(all, "f"+c.want) && c.want != "" || len(got) > 1 {
				t.Errorf("warnings %q, want %q", got, c.want)
			}
		})
	}
}

func TestAScanWarnsOfATextThatIsNotUTF8(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte(`{"type":"message","run_id":"a","role":"user","text":"caf`+"\xe9"+`"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := profile.New("default")
	if err != nil {
		t.Fatal(err)
	}
	var warned []string
	s := Scanner{Profile: p, Verdict: func(*report.Run) error { return nil }, Warn: func(err error) { warned = append(warned, err.Error()) }}
	result, err := s.Run(context.Background(), []string{path})
	if err != nil || result.Runs != 1 || result.Faulty != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	if len(warned) != 1 || !strings.HasPrefix(warned[0], path+":1: the text is not UTF-8") {
		t.Errorf("warnings %q", warned)
	}
}
