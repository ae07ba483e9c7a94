package unloop

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClassOf(t *testing.T) {
	for class, names := range map[Effect][]string{
		ReadOnly: {"read", "read_file", "readFile", "ReadFile", "get-user", "list.files", "search2", "web__search", "mcp__github__get_issue", "LS", "log"},
		Polling:  {"status", "job_status", "jobStatus", "check_deploy", "wait", "ping", "HealthCheck", "get_status", "poll-queue"},
		Mutating: {"", "write_file", "spreadsheet_update", "shipping_quote", "thread", "widget", "bash", "checkout", "Edit", "await", "42", "_"},
	} {
		for _, name := range names {
			if got := EffectOf(name); got != class {
				t.Errorf("%q is %v, want %v", name, got, class)
			}
		}
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string][]string{
		"read_file":      {"read", "file"},
		"getHTTPStatus":  {"get", "httpstatus"},
		"Überprüfe-ÄLTE": {"überprüfe", "älte"},
		"v2.list3all":    {"v", "list", "all"},
		"__":             nil,
	} {
		var got []string
		for word := range Words(name) {
			got = append(got, word)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q:\n%s", name, diff)
		}
	}
}

func TestCommandClass(t *testing.T) {
	for class, commands := range map[Effect][]string{
		ReadOnly: {
			"ls", "cat a.go | grep func | wc -l", "cd src && git status --short", "git  log -3", "sed -n 1,5p a.go", "find . -name '*.go'",
			"  head -n 3 a.go ;tail b.go\n pwd", "echo done",
		},
		Polling: {"sleep 30", "sleep 5; cat log.txt", "cd src && sleep 1"},
		Mutating: {
			"", "rm a.go", "sleep 5; make", "make", "go test ./...", "cat a.go > b.go", "cat a.go; rm a.go", "ls\nmake", "git commit -m x", "git", "sed -i s/a/b/ a.go",
			"find . -name '*.o' -delete", "find . -exec rm {} +", "echo x | tee a.go", "lsof", "cat a | xargs rm",
		},
	} {
		for _, command := range commands {
			if got := commandEffect([]byte(command)); got != class {
				t.Errorf("%q is %v, want %v", command, got, class)
			}
		}
	}
}

func TestClassComesFromTheReaderThenTheToolThenItsName(t *testing.T) {
	reading := Options{Effects: map[string]Effect{"fetch": Polling}}
	for _, tc := range []struct {
		name  string
		tool  string
		hints *ToolHints
		want  Effect
	}{
		{"the reader says so", "fetch", &ToolHints{}, Polling},
		{"the tool says that it only reads", "update", &ToolHints{ReadOnly: true}, ReadOnly},
		{"the tool says that calling it again is safe", "update", &ToolHints{Idempotent: true}, ReadOnly},
		{"the tool says neither", "search", &ToolHints{}, Mutating},
		{"nobody says anything, so its name does", "search", nil, ReadOnly},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := NewRun("run", reading)
			r.Add(&Event{Type: ToolCallStarted, Tool: tc.tool, Hints: tc.hints})
			if got := r.Current().Step.Effect; got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestShellsAreClassedByTheirCommand(t *testing.T) {
	r := NewRun("run", Options{Needs: NeedOutcomes, Shells: DefaultShells()})
	var got []Effect
	for _, input := range []string{`{"command":"git status"}`, `{"command":"rm a"}`, `{"cmd":["bash","-lc","cat \"a b\""]}`, `{"note":"no command"}`, `"ls"`} {
		r.Add(&Event{Type: ToolCallStarted, Tool: "bash", Input: []byte(input)})
		got = append(got, r.Current().Step.Effect)
	}
	if diff := cmp.Diff([]Effect{ReadOnly, Mutating, ReadOnly, Mutating, Mutating}, got); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(DefaultShells(), "execute_bash") {
		t.Error("execute_bash is no shell")
	}
}
