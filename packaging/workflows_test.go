package packaging

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// step is a step of a job, or of an action.
type step struct {
	ID   string
	Name string
	Uses string
	Run  string
}

type workflow struct {
	Jobs map[string]struct{ Steps []step }
	Runs struct{ Steps []step } // of an action
}

func load(t *testing.T, path string, to any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, path)), to); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// TestWorkflowsCallWhatExists holds the workflows to the tree: a target or a script that is renamed is renamed there, too.
func TestWorkflowsCallWhatExists(t *testing.T) {
	makefile := read(t, "../Makefile")
	paths, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(paths) < 2 {
		t.Fatalf("workflows %q (%v)", paths, err)
	}
	for _, path := range append(paths, "../action.yml") {
		var w workflow
		load(t, path, &w)
		steps := w.Runs.Steps
		for _, job := range w.Jobs {
			steps = append(steps, job.Steps...)
		}
		if len(steps) == 0 {
			t.Errorf("%s has no steps", path)
		}
		for _, s := range steps {
			if (s.Uses == "") == (s.Run == "") || s.Uses != "" && !strings.Contains(s.Uses, "@") {
				t.Errorf("%s: step %+v wants either uses, with a version, or run", path, s)
			}
			for _, match := range regexp.MustCompile(`\bmake ([a-z]+)`).FindAllStringSubmatch(s.Run, -1) {
				if !strings.Contains(makefile, "\n"+match[1]+":") {
					t.Errorf("%s: the Makefile has no target %s", path, match[1])
				}
			}
			for _, match := range regexp.MustCompile(`(?m)^\s*((?:\.ci|scripts)/\S+)`).FindAllStringSubmatch(s.Run, -1) {
				if _, err := os.Stat(filepath.Join("..", match[1])); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
		}
	}
}

// build builds the program in a folder, with the flags of a release, so that little is compiled twice.
func build(t *testing.T, folder string) {
	t.Helper()
	run(t, "..", []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-buildvcs=false", "-o", folder+"/unloop", "./cmd/unloop")
}

func TestTheDocsListTheInputsOfTheAction(t *testing.T) {
	var action struct{ Inputs map[string]any }
	load(t, "../action.yml", &action)
	page := read(t, "../docs/scan.md")
	for name := range action.Inputs {
		if !strings.Contains(page, "\n| `"+name+"` |") {
			t.Errorf("docs/scan.md does not list the input %s", name)
		}
	}
	if len(action.Inputs) == 0 {
		t.Error("the action has no inputs")
	}
}

// TestTheActionAndTheHookScan runs the step of the action, and the entry of the pre-commit hook, as their hosts do.
func TestTheActionAndTheHookScan(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	build(t, folder)
	var action workflow
	load(t, "../action.yml", &action)
	script := ""
	for _, s := range action.Runs.Steps {
		if s.ID == "scan" {
			script = s.Run
		}
	}
	scan := func(env ...string) (status int, said, page string) {
		t.Helper()
		summary := filepath.Join(t.TempDir(), "summary.md")
		cmd := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "GITHUB_STEP_SUMMARY="+summary, "PROFILE=default", "FAIL_ON=warn", "BASELINE=", "ARGS=")
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(out), read(t, summary)
	}
	status, said, page := scan("PATHS=examples/stuck-agent.jsonl\nexamples/healthy-agent.jsonl")
	if status != 1 || !regexp.MustCompile(`::warning file=examples/stuck-agent\.jsonl,line=\d+,`).MatchString(said) || !strings.Contains(page, "### unloop: 2 runs, 1 with warnings") {
		t.Errorf("status %d, annotations %q, page %q", status, said, page)
	}
	known := filepath.Join(folder, "loops.json")
	run(t, root, nil, folder+"/unloop", "scan", "--baseline", known, "--write-baseline", "examples/stuck-agent.jsonl")
	if status, said, _ := scan("PATHS=examples/stuck-agent.jsonl", "BASELINE="+known); status != 0 || said != "" {
		t.Errorf("with a baseline: status %d, annotations %q", status, said)
	}
	if status, _, _ := scan("PATHS=examples/stuck-agent.jsonl", "ARGS=--input claude-code --quiet"); status != 2 {
		t.Errorf("further flags are not used: status %d", status)
	}

	var hooks []struct{ ID, Entry, Files string }
	load(t, "../.pre-commit-hooks.yaml", &hooks)
	for _, hook := range hooks {
		if !regexp.MustCompile(hook.Files).MatchString("examples/stuck-agent.jsonl") {
			t.Errorf("%s does not look at traces", hook.ID)
		}
		cmd := exec.Command("bash", "-c", hook.Entry+" examples/stuck-agent.jsonl")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
		if out, err := cmd.Output(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "fix-login-timeout") {
			t.Errorf("%s: %v, %s", hook.ID, err, out)
		}
	}
}

// TestComposeSetsOnlyVariablesThatTheServerReads holds compose.yaml to the settings of the server.
func TestComposeSetsOnlyVariablesThatTheServerReads(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Environment map[string]string
			Volumes     []string
		}
	}
	load(t, "../compose.yaml", &compose)
	var env []string
	// The variables of compose.yaml go before those of the image, and come last.
	var ours []string
	for name, value := range compose.Services["unloop"].Environment {
		value = regexp.MustCompile(`\$\{POSTGRES_PASSWORD[^}]*\}`).ReplaceAllString(value, "secret")
		value = regexp.MustCompile(`\$\{UNLOOP_TOKEN_SHA256[^}]*\}`).ReplaceAllString(value, strings.Repeat("0a", 32))
		ours = append(ours, name+"="+value)
	}
	for _, line := range strings.Split(read(t, "../Dockerfile"), "\n") {
		if set, ok := strings.CutPrefix(line, "ENV "); ok {
			env = append(env, strings.Fields(set)...)
		}
	}
	folder := t.TempDir()
	build(t, folder)
	env = append(env, ours...)
	said := run(t, folder, env, "./unloop", "config", "check", "--config", os.DevNull)
	for _, want := range []string{"addr: 0.0.0.0:8765", "postgres://unloop:", "@postgres/unloop?sslmode=disable", "scope: admin"} {
		if !strings.Contains(said, want) {
			t.Errorf("the configuration has no %q:\n%s", want, said)
		}
	}
	if len(env) < 5 {
		t.Errorf("settings %q", env)
	}
}

// TestIssueTemplatesAreForms checks that each template has a name and fields with labels.
func TestIssueTemplatesAreForms(t *testing.T) {
	paths, err := filepath.Glob("../.github/ISSUE_TEMPLATE/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	forms := 0
	for _, path := range paths {
		var form struct {
			Name, Description string
			Body              []struct {
				Type, ID   string
				Attributes struct{ Label string }
			}
		}
		load(t, path, &form)
		if filepath.Base(path) == "config.yml" {
			continue
		}
		forms++
		if form.Name == "" || form.Description == "" || len(form.Body) == 0 {
			t.Errorf("%s has no name, description or fields", path)
		}
		for _, field := range form.Body {
			if field.ID == "" || field.Attributes.Label == "" {
				t.Errorf("%s: field %+v", path, field)
			}
		}
	}
	if forms < 3 {
		t.Errorf("%d forms", forms)
	}
}
