package guardtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/profile"
)

// variable is the environment variable that has the address of the store in a process that Processes has started.
const variable = "UNLOOP_TEST_GUARD_STORE"

// process is a process that Processes has started. It reads tasks from its standard input and writes answers to its standard output.
type process struct {
	command *exec.Cmd
	in      io.Closer
	tasks   *json.Encoder
	answers *json.Decoder
}

// answer is what a process writes when it has opened the store and after each task.
type answer struct {
	Events []judged
	Error  string
}

// startProcess starts the test program as a process that endProcesses ends.
func startProcess(t *testing.T, address string) *process {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), variable+"="+address)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return &process{command: command, in: in, tasks: json.NewEncoder(in), answers: json.NewDecoder(out)}
}

// endProcesses lets all processes end, and waits for them.
func endProcesses(t *testing.T, all []*process) {
	for _, p := range all {
		_ = p.in.Close() // the process reads the end of its tasks
	}
	for _, p := range all {
		if err := p.command.Wait(); err != nil {
			t.Errorf("a process: %v", err)
		}
	}
}

// answer waits until the process has opened the store or finished its task.
func (p *process) answer(t *testing.T) []judged {
	t.Helper()
	var a answer
	if err := p.answers.Decode(&a); err != nil {
		t.Fatalf("a process did not answer: %v", err)
	}
	if a.Error != "" {
		t.Fatalf("a process: %s", a.Error)
	}
	return a.Events
}

// makeAll gives each process a task and returns the events of all of them.
func makeAll(t *testing.T, all []*process, taskOf func(k int) task) (events []judged) {
	t.Helper()
	for k, p := range all {
		if err := p.tasks.Encode(taskOf(k)); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range all {
		events = append(events, p.answer(t)...)
	}
	return events
}

// Process is for TestMain in a package whose tests call Processes. In a process that Processes has started, it opens the store, judges what
// Processes asks for, and ends the program. In every other process it does nothing.
func Process(open func(address string) (guard.Store, error)) {
	address := os.Getenv(variable)
	if address == "" {
		return
	}
	if err := work(open, address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func work(open func(address string) (guard.Store, error), address string) error {
	s, err := open(address)
	if err != nil {
		return err
	}
	p, err := profile.New(processProfile)
	if err != nil {
		return err
	}
	tasks, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	if err := answers.Encode(answer{}); err != nil {
		return err
	}
	for {
		var k task
		if err := tasks.Decode(&k); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := answers.Encode(k.make(s, p)); err != nil {
			return err
		}
	}
}

// make makes the steps of the task under a guard of its run.
func (k task) make(s guard.Store, p *profile.Profile) (a answer) {
	n := &noting{Store: s}
	g := guard.New(p, guard.Options{Run: k.Run, Now: clock, Shared: &guard.Shared{
		Store: n, Project: k.Project, Limits: guard.Usage{Calls: k.Limit},
		OnError: func(err error) { a.Error = err.Error() },
	}})
	for number := range k.Steps {
		s := stepOf(k.Process, number)
		note := func(ends, call bool, d guard.Decision) {
			a.Events = append(a.Events, judged{
				Process: k.Process, Step: number, Ends: ends, Version: n.version, Decision: fields(d),
				Call: call, Stopped: d.Stops(), Refused: d.Code == guard.CodeProjectLimit,
			})
		}
		d, follows := s.begin(g)
		note(false, follows, d)
		if follows {
			note(true, false, s.end(g))
		}
	}
	return a
}

// stepOf returns a step that depends only on the numbers of the process and of the step.
func stepOf(process, number int) step {
	s := rapid.Custom(drawStep).Example(process*1000 + number)
	s.id = fmt.Sprint(process, "-", number)
	return s
}
