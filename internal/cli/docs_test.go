package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/nettest"
)

// documented finds the commands in fenced sh blocks.
var documented = regexp.MustCompile("(?s)```sh\n(.*?)```")

// documentedAddr is where the documented server answers. The tests have it answer on a free port.
const documentedAddr = "127.0.0.1:8765"

// installed replaces the ways to start the program from a clone and with npm.
var installed = strings.NewReplacer("go run ./cmd/unloop", "unloop", "npx unloop", "unloop")

// TestDocumentedCommands runs every command that the README and the docs show, those of a page one after another: unloop's own,
// curl's and the Python package's as they stand; of make's it checks that the target exists, of pip's that the package does.
func TestDocumentedCommands(t *testing.T) {
	t.Chdir("../..")
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, path := range append(pages, "README.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(path, func(t *testing.T) {
			p := page{makefile: string(makefile)}
			for _, block := range documented.FindAllSubmatch(text, -1) {
				for _, command := range strings.Split(strings.TrimSpace(string(block[1])), "\n") {
					ran++
					command, _, _ = strings.Cut(command, "  #")
					p.run(t, command)
				}
			}
		})
	}
	t.Run("README.md, Install", installs)
	t.Run("README.md, See a loop", showsVerdict)
	if ran < 12 {
		t.Errorf("found %d documented commands, want 12 or more", ran)
	}
}

// skippedFiles is what a scan of a folder says of files that it skips.
var skippedFiles = regexp.MustCompile(`unloop: \d+ files are skipped, .*\n`)

// installs checks that what the README says to install is what is published.
func installs(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for command, published := range map[string]struct{ path, text string }{
		"`go install github.com/unloop-ai/unloop/cmd/unloop@latest`": {"cmd/unloop/main.go", "package main"},
		"`pip install unloop`":                                  {"sdk/python/pyproject.toml", "\nname = \"unloop\"\n"},
		"`npm install @unloop-ai/unloop`":                       {"sdk/typescript/package.json", `"name": "@unloop-ai/unloop",`},
		"`docker compose up` with [compose.yaml](compose.yaml)": {"compose.yaml", "image: ${UNLOOP_IMAGE:-unloop}"},
		"Go 1.26;":    {"go.mod", "\ngo 1.26"},
		"Python 3.10": {"sdk/python/pyproject.toml", `requires-python = ">=3.10"`},
		"Node 20.16":  {"sdk/typescript/package.json", `"node": ">=20.16"`},
	} {
		source, err := os.ReadFile(published.path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte(command)) || !bytes.Contains(source, []byte(published.text)) {
			t.Errorf("the README has %s, and %s has %s", command, published.path, published.text)
		}
	}
}

// showsVerdict checks that the verdict in the README is what scan prints.
func showsVerdict(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := bytes.Cut(text, []byte("```text\n"))
	block, _, _ = bytes.Cut(block, []byte("```"))
	scan := exec.Command("unloop", "scan", "stuck-agent.jsonl")
	scan.Dir = "examples"
	printed, err := scan.Output()
	if scan.ProcessState.ExitCode() != exitLoops {
		t.Fatalf("scan: %v", err)
	}
	if len(block) == 0 || !bytes.HasPrefix(printed, block) {
		t.Errorf("the README shows the verdict\n%s\nand scan prints\n%s", block, printed)
	}
}

// page is a document whose commands are run.
type page struct {
	makefile string
	addr     string // of the server that a command of the page started
}

func (p *page) run(t *testing.T, command string) {
	t.Helper()
	words := strings.Fields(installed.Replace(command))
	switch {
	case words[0] == "make":
		if len(words) > 1 && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(words[1])+`:`).MatchString(p.makefile) {
			t.Errorf("the Makefile has no target %s", words[1])
		}
	case words[0] == "unloop":
		p.program(t, command, words[1:])
	case strings.HasPrefix(command, "go get ") || strings.HasPrefix(command, "go -C "):
		p.adapter(t, words)
	case words[0] == "sudo" || words[0] == "docker":
		p.operate(t, command)
	case strings.HasPrefix(command, "python3 -m pip install "):
		p.install(t, strings.Trim(words[4], `"`))
	case strings.HasPrefix(command, "npm install "):
		p.installNode(t, words[2:])
	case strings.HasPrefix(command, "python3 -m unloop "):
		t.Setenv("PYTHONPATH", "sdk/python/src")
		p.exec(t, command, 0, "python3", words[1:]...)
	case words[0] == "curl" && p.addr != "":
		p.exec(t, command, time.Second/2, "sh", "-c", "exec "+strings.ReplaceAll(command, documentedAddr, p.addr))
	default:
		t.Errorf("no test knows how to run %q: document it as a make target, or as a command of unloop", command)
	}
}

// program runs a command of unloop. Those that run until they are interrupted are ended.
func (p *page) program(t *testing.T, command string, args []string) {
	t.Helper()
	switch args[0] {
	case "serve":
		p.serve(t, args)
	case "proxy":
		p.exec(t, command, time.Second/2, "unloop", append(args, "--addr", "127.0.0.1:0")...)
	case "demo":
		p.exec(t, command, 0, "unloop", append(args, "--speed", "40")...)
	default:
		p.exec(t, command, 0, "unloop", args...)
	}
}

// operate checks a command of an operator, which needs the rights or the daemon of one: what it names is there, and that what it
// does works is shown where the packages are tested.
func (p *page) operate(t *testing.T, command string) {
	t.Helper()
	words := strings.Fields(command)
	for i, word := range words {
		switch {
		case word == "--file":
			if _, err := os.Stat(words[i+1]); err != nil {
				t.Errorf("%s: %v", command, err)
			}
		case strings.HasSuffix(word, ".deb"):
			if !regexp.MustCompile(`^unloop_[0-9.]+_linux_(amd64|arm64)\.deb$`).MatchString(word) {
				t.Errorf("%s: make release builds no %s", command, word)
			}
		case word == "systemctl":
			if unit := words[len(words)-1]; unit != "unloop" {
				t.Errorf("%s: the package has no unit %s", command, unit)
			}
		}
	}
}

// install checks that the Python package has the extra that is asked for, as in unloop[langchain]. That it can be installed is shown
// where the package is tested.
func (p *page) install(t *testing.T, what string) {
	t.Helper()
	name, extra, _ := strings.Cut(strings.TrimSuffix(what, "]"), "[")
	described, err := os.ReadFile("sdk/python/pyproject.toml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(described, []byte("\nname = \""+name+"\"\n")) {
		t.Errorf("the Python package is not named %q", name)
	}
	if extra != "" && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(extra)+` *= *\[`).Match(described) {
		t.Errorf("the Python package has no extra %q", extra)
	}
}

// installNode checks that the packages for Node are the TypeScript package and frameworks that it has adapters for. That it can be
// installed is shown where the packages are tested.
func (p *page) installNode(t *testing.T, packages []string) {
	t.Helper()
	text, err := os.ReadFile("sdk/typescript/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Name             string
		PeerDependencies map[string]string
	}
	if err := json.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	for i, name := range packages {
		if _, peer := described.PeerDependencies[name]; !peer && (i > 0 || name != described.Name) {
			t.Errorf("sdk/typescript has no adapter for %s", name)
		}
	}
}

// adapter checks that a module for a framework is one of this repository, and that it has the example. That both work is shown where
// the module is tested.
func (p *page) adapter(t *testing.T, words []string) {
	t.Helper()
	folder := words[2]
	if words[1] == "get" {
		folder = strings.TrimPrefix(folder, "github.com/unloop-ai/unloop/")
	}
	module, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(module, []byte("module github.com/unloop-ai/unloop/"+folder+"\n")) {
		t.Errorf("%s/go.mod is of another module", folder)
	}
	if example := words[len(words)-1]; words[1] == "-C" {
		if _, err := os.Stat(filepath.Join(folder, example, "main.go")); err != nil {
			t.Error(err)
		}
	}
}

// serve starts the server in the background, as a reader would in a shell of its own.
func (p *page) serve(t *testing.T, args []string) {
	t.Helper()
	p.addr = nettest.FreeAddress(t)
	server := exec.Command("unloop", args...)
	server.Env = append(os.Environ(), "UNLOOP_ADDR="+p.addr, "UNLOOP_GRPC_ADDR=off", "UNLOOP_DB="+filepath.Join(t.TempDir(), "docs.db"))
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM) // Wait says how that went
		if err := server.Wait(); err != nil {
			t.Errorf("the documented server: %v", err)
		}
	})
	if ready, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(ready, "ready") {
		t.Fatalf("the documented server prints %q (%v)", ready, err)
	}
}

// printed counts what a command prints.
type printed struct {
	bytes int
	first func() // called when it prints something
}

func (p *printed) Write(text []byte) (int, error) {
	if p.bytes == 0 {
		p.first()
	}
	p.bytes += len(text)
	return len(text), nil
}

// exec runs a command that must print something and end well. One that may go on for ever is ended the time rest after it has printed
// something; rest is 0 for others.
func (p *page) exec(t *testing.T, command string, rest time.Duration, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	if p.addr != "" {
		cmd.Env = append(os.Environ(), "UNLOOP_ENDPOINT=http://"+p.addr)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	stdout := printed{first: func() {
		if rest > 0 {
			time.AfterFunc(rest, cancel)
		}
	}}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	fine := err == nil || ctx.Err() != nil || errors.As(err, &exit) && exit.ExitCode() == exitLoops
	told := skippedFiles.ReplaceAllString(stderr.String(), "") // a folder has files that are no traces
	if !fine || stdout.bytes == 0 || name == "unloop" && told != "" {
		t.Errorf("%s: %v, %d bytes printed, errors: %s", command, err, stdout.bytes, stderr.String())
	}
}
