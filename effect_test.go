package unloop

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEffectOf(t *testing.T) {
	for effect, names := range map[Effect][]string{
		ReadOnly: {
			"read", "read_file", "readFile", "ReadFile", "get-user", "list.files", "search2", "web__search", "mcp__github__get_issue", "LS", "log",
			"get_last_update", "list_and_show", "search_edit_history", "read_set",
		},
		Polling: {"status", "job_status", "jobStatus", "check_deploy", "wait", "ping", "HealthCheck", "get_status", "poll-queue", "status_of_update", "wait_and_get"},
		Mutating: {
			"", "write_file", "spreadsheet_update", "shipping_quote", "thread", "widget", "bash", "checkout", "Edit", "await", "42", "_",
			"update_order_status", "createList", "mcp__crm__set_view", "delete_log", "search_and_replace", "office-find-or-create", "clear_query",
		},
	} {
		for _, name := range names {
			if got := EffectOf(name); got != effect {
				t.Errorf("%q is %v, want %v", name, got, effect)
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

func TestEffectOfACommandLine(t *testing.T) {
	for effect, commands := range map[Effect][]string{
		ReadOnly: {
			"ls", "cat a.go | grep func | wc -l", "cd src && git status --short", "git  log -3", "sed -n 1,5p a.go", "find . -name '*.go'",
			"  head -n 3 a.go ;tail b.go\n pwd", "echo done", `grep -E "a|b" a.go`, "ls src 2>/dev/null", "echo 'a > b; rm a'", "true",
			"kubectl diff -f web.yaml", "terraform -chdir=infra plan -out=p", "helm diff upgrade web ./web", "pulumi preview", "aws s3 sync a b --dryrun",
			"kubectl apply -f web.yaml --dry-run=server", "ansible-playbook site.yml --check",
		},
		Polling: {"sleep 30", "sleep 5; cat log.txt", "cd src && sleep 1"},
		Mutating: {
			"", "rm a.go", "sleep 5; make", "make", "go test ./...", "cat a.go > b.go", "cat a.go; rm a.go", "ls\nmake", "git commit -m x", "git", "sed -i s/a/b/ a.go",
			"find . -name '*.o' -delete", "find . -exec rm {} +", "echo x | tee a.go", "lsof", "cat a | xargs rm",
			"kubectl apply -f web.yaml --dry-run=none", "terraform apply plan", "npm publish diff", "rm plan", "kubectl delete diff", "kubectl", "ansible-playbook check.yml",
		},
	} {
		for _, command := range commands {
			if got := readCommand([]byte(command)).effect; got != effect {
				t.Errorf("%q is %v, want %v", command, got, effect)
			}
		}
	}
}

func TestOptionsThenHintsThenTheNameDetermineTheEffect(t *testing.T) {
	reading := Options{Effects: map[string]Effect{"fetch": Polling}}
	for _, tc := range []struct {
		name  string
		tool  string
		hints *ToolHints
		want  Effect
	}{
		{"the options name the tool", "fetch", &ToolHints{}, Polling},
		{"the hints say that it only reads", "update", &ToolHints{ReadOnly: true}, ReadOnly},
		{"the hints say that repeating it is safe", "update", &ToolHints{Idempotent: true}, ReadOnly},
		{"the hints say neither", "search", &ToolHints{}, Mutating},
		{"without options and hints, the name counts", "search", nil, ReadOnly},
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

func TestACommandLineDeterminesTheEffectOfAShell(t *testing.T) {
	r := NewRun("run", Options{Needs: NeedOutcomes, Shells: DefaultShells()})
	var got []Effect
	for _, input := range []string{`{"command":"git status"}`, `{"command":"rm a"}`, `{"cmd":["bash","-lc","cat \"a b\""]}`, `{"keystrokes":"git log\n","duration":2}`, `{"note":"no command"}`, `"ls"`, `{"CommandLine":"ls"}`, `{"input":{"command":"ls"}}`, `{"commands":[{"keystrokes":"ls\n","duration":1},{"keystrokes":"pwd\n"}]}`, `{"commands":["ls","rm \"a\""]}`, `{"commands":[]}`} {
		r.Add(&Event{Type: ToolCallStarted, Tool: "bash", Input: []byte(input)})
		got = append(got, r.Current().Step.Effect)
	}
	if diff := cmp.Diff([]Effect{ReadOnly, Mutating, ReadOnly, ReadOnly, Mutating, ReadOnly, ReadOnly, ReadOnly, ReadOnly, Mutating, Mutating}, got); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(DefaultShells(), "execute_bash") {
		t.Error("DefaultShells lacks execute_bash")
	}
}

func TestShellByName(t *testing.T) {
	for name, want := range map[string]bool{
		"run_in_terminal": true, "BashTool": true, "mcp__box__bash": true, "functions.shell": true, "terminal.run": true, "execute_command": true,
		"BashOutput": false, "KillShell": false, "read_terminal": false, "run": false, "mcp__shell__read_file": false, "": false,
	} {
		if got := ShellByName(name); got != want {
			t.Errorf("ShellByName(%q) = %v, want %v", name, got, want)
		}
	}
}
