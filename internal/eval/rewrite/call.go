package rewrite

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/unloop-ai/unloop"
)

// entry is an event of a labelled run: its members by name.
type entry map[string]json.RawMessage

// text returns a member that is a string, and "" for any other.
func (e entry) text(name string) string {
	var text string
	if json.Unmarshal(e[name], &text) != nil {
		return ""
	}
	return text
}

// set sets a member.
func (e entry) set(name string, value any) { e[name] = must(encode(value)) }

// encode returns the JSON of a value, without escapes for HTML.
func encode(value any) ([]byte, error) {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	err := to.Encode(value)
	return bytes.TrimSpace(out.Bytes()), err
}

// must returns the JSON of a value that has one: texts, numbers, and maps and lists of them and of JSON.
func must(text []byte, err error) json.RawMessage {
	if err != nil {
		panic(err)
	}
	return text
}

// call is a tool call of a run. The fields from command on are those of a shell: what its agent asked for and got, without what the agent's
// program wrote around it.
type call struct {
	entry
	n       int // of the event in its run, from 0
	shell   bool
	command string
	output  string
	exit    int
	ended   bool      // it has an output
	screen  *[]string // the latest lines of the run's terminal
}

// The forms of outputs that the runs have: those of mini-swe-agent and of Claude Code.
var (
	returnCode = regexp.MustCompile(`^<returncode>(-?\d+)</returncode>\n`)
	exitCode   = regexp.MustCompile(`^Exit code (\d+)(?:\n|$)`)
)

// read reads a call.
func read(n int, e entry) *call {
	c := &call{entry: e, n: n}
	var args struct {
		Command *string `json:"command"`
	}
	if !unloop.ShellByName(e.text("tool")) || json.Unmarshal(e["args"], &args) != nil || args.Command == nil {
		return c
	}
	c.shell, c.command = true, *args.Command
	c.ended = json.Unmarshal(e["result"], &c.output) == nil && string(e["result"]) != "null"
	if e.text("error") != "" {
		c.exit = 1
	}
	for _, status := range [...]*regexp.Regexp{returnCode, exitCode} {
		if found := status.FindStringSubmatch(c.output); found != nil {
			c.exit, _ = strconv.Atoi(found[1]) // only digits
			c.output = c.output[len(found[0]):]
		}
	}
	if inside, ok := strings.CutPrefix(c.output, "<output>\n"); ok {
		c.output = strings.TrimSuffix(strings.TrimSuffix(inside, "</output>"), "\n")
	}
	return c
}

// args returns the arguments that are an object, and nil for any others.
func (c *call) args() map[string]json.RawMessage {
	var args map[string]json.RawMessage
	if json.Unmarshal(c.entry["args"], &args) != nil {
		return nil
	}
	return args
}

// setCommand replaces the arguments of a shell.
func (c *call) setCommand(args any) {
	if c.shell {
		c.set("args", args)
	}
}

// print replaces the result of a shell. The result tells of the exit status, or nothing does.
func (c *call) print(result any) {
	if c.shell && c.ended {
		c.set("result", result)
		delete(c.entry, "error")
	}
}

// eachResult replaces the result of a call by what wrap makes of its text: of a shell its output, and of another tool its result. failed means
// that the call failed, which nothing but the new result then tells.
func (c *call) eachResult(wrap func(text string, failed bool) any) {
	text, failed := c.output, c.exit != 0
	if !c.shell {
		raw := c.entry["result"]
		if raw == nil || string(raw) == "null" {
			return
		}
		if failed = c.entry.text("error") != ""; json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
	} else if !c.ended {
		return
	}
	c.set("result", wrap(text, failed))
	delete(c.entry, "error")
}
