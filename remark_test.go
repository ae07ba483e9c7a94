package unloop

import "testing"

func TestARemarkOnACallIsNoPartOfIt(t *testing.T) {
	for name, tc := range map[string]struct {
		tool, first, second string
		same                bool
	}{
		"an explanation":                         {"read_file", `{"explanation":"to see it","path":"a"}`, `{"explanation":"again","path":"a"}`, true},
		"an explanation of an edit":              {"edit_file", `{"path":"a","text":"b","explanation":"to mend it"}`, `{"path":"a","text":"b"}`, true},
		"another command":                        {"bash", `{"command":"make","description":"build"}`, `{"command":"make all","description":"build"}`, false},
		"the description that a change writes":   {"create_issue", `{"title":"a","description":"b"}`, `{"title":"a","description":"c"}`, false},
		"an explanation that is all there is":    {"submit", `{"explanation":"a"}`, `{"explanation":"b"}`, false},
		"a thought that a tool records":          {"think", `{"n":1,"thought":"a"}`, `{"n":1,"thought":"b"}`, false},
		"a member within another is no argument": {"read_file", `{"path":"a","at":{"reason":"a"}}`, `{"path":"a","at":{"reason":"b"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRun("run", Options{Needs: NeedOutcomes | NeedArgs | NeedEffort, Shells: DefaultShells()})
			r.Add(&Event{Type: ToolCallStarted, Tool: tc.tool, Input: []byte(tc.first)})
			first := r.Current().Step.ArgsHash
			r.Add(&Event{Type: ToolCallStarted, Tool: tc.tool, Input: []byte(tc.second)})
			if same := r.Current().Step.ArgsHash == first; same != tc.same {
				t.Errorf("%s and %s have equal fingerprints: %v, want %v", tc.first, tc.second, same, tc.same)
			}
		})
	}
}

func TestPublishedRulesCompareArgumentsAsTheyAre(t *testing.T) {
	for name, inputs := range map[string][2]string{
		"an explanation":        {`{"explanation":"to see it","path":"a"}`, `{"explanation":"again","path":"a"}`},
		"an object around":      {`{"path":"a"}`, `{"input":{"path":"a"}}`},
		"an object in a string": {`{"path":"a"}`, `"{\"path\":\"a\"}"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRun("run", Options{Needs: NeedArgs | NeedRaw | NeedInputs | NeedResults | NeedEmpty | NeedShell})
			for _, input := range inputs {
				r.Add(&Event{Type: ToolCallStarted, Tool: "read_file", Input: []byte(input)})
			}
			if n := r.Current().Step.ArgsCount; n != 1 {
				t.Errorf("%s counts as call %d with its arguments", inputs[1], n)
			}
		})
	}
}

func TestAFolderBeforeACommandIsNoWordOfIt(t *testing.T) {
	words := func(tool, folder string) int {
		r := NewRun("run", Options{Needs: NeedOutcomes | NeedEffort, Shells: DefaultShells()})
		r.Add(&Event{Type: ToolCallStarted, Tool: tool, Input: []byte(`{"command":"` + folder + `go test ./a"}`)})
		return r.Current().Step.Effort.Words
	}
	if bare, within := words("bash", ""), words("bash", "cd /home/me/project && "); bare != within {
		t.Errorf("the command has %d words, and %d behind a folder", bare, within)
	}
	if bare, within := words("note", ""), words("note", "cd /home/me/project && "); bare == within {
		t.Errorf("a note has %d words with and without a folder", bare)
	}
}
