package rewrite

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/unloop-ai/unloop"
)

// members are those of an object.
type members map[string]any

// explanations are what an agent says of a call.
var explanations = [...]string{
	"To see what is there.", "Now I look at the next part of the task.", "This should tell us more about the cause.", "Checking the result of the last change.",
	"I need the details before I go on.", "Let me make sure that this works.", "Gathering what the user asked for.", "Another look, to be certain.",
	"Running this to continue with the plan.", "The outcome decides what to do next.", "Trying it in a slightly different way.",
}

// callID returns an id that differs from call to call.
func callID(n int) string { return fmt.Sprintf("call_%08x", uint32(n+1)*2654435761) }

func named(name func(tool string) string) func(*call) {
	return func(c *call) { c.set("tool", name(c.entry.text("tool"))) }
}

func shellNamed(name string) func(*call) {
	return func(c *call) {
		if c.shell {
			c.set("tool", name)
		}
	}
}

// camel returns the words of a name with capitals and without what separates them.
func camel(name string) string {
	var out strings.Builder
	for word := range unloop.Words(name) {
		runes := []rune(word)
		out.WriteString(string(unicode.ToUpper(runes[0])) + string(runes[1:]))
	}
	return out.String()
}

func vsCode(c *call) {
	shellNamed("run_in_terminal")(c)
	c.setCommand(members{"command": c.command, "explanation": explanations[c.n%len(explanations)], "isBackground": false})
}

// add sets an argument. A command is only set for a shell.
func (c *call) add(name, value string) {
	args := c.args()
	if args == nil || name == "command" && !c.shell {
		return
	}
	args[name] = must(encode(value))
	c.set("args", args)
}

func withMetadata(c *call) members {
	return members{"output": c.output, "metadata": members{"exit_code": c.exit, "duration_seconds": float64(c.n%9) / 10}}
}

func mcpResult(text string, failed bool) any {
	return members{"content": []members{{"type": "text", "text": text}}, "isError": failed}
}

// packed returns the JSON of a value as a Go string.
func packed(value any) string { return string(must(encode(value))) }

// streams returns an object with two members: the output is in stderr if the command failed, and in stdout otherwise.
func streams(c *call) members {
	if c.exit != 0 {
		return members{"stdout": "", "stderr": c.output, "interrupted": false}
	}
	return members{"stdout": c.output, "stderr": "", "interrupted": false}
}

func cursor(c *call) string {
	return fmt.Sprintf("Exit code: %d\n\nCommand output:\n\n```\n%s\n```\n\nCommand completed in %d ms.\n\nShell state (cwd, env vars) persists for subsequent calls.",
		c.exit, c.output, 100+37*(c.n%20))
}

func gemini(c *call) string {
	output := c.output
	if output == "" {
		output = "(empty)"
	}
	return fmt.Sprintf("Command: %s\nDirectory: (root)\nOutput: %s\nError: (none)\nExit Code: %d\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: %d",
		c.command, output, c.exit, 5000+13*c.n)
}

// eachText is eachResult for what stays a text. Whether a call failed is told as before.
func (c *call) eachText(wrap func(text string) string) {
	failure, told := c.entry["error"]
	c.eachResult(func(text string, _ bool) any { return wrap(text) })
	if told {
		c.entry["error"] = failure
	}
}

// shellText is eachText for the output of a shell.
func (c *call) shellText(wrap func(text string) string) {
	if c.shell {
		c.eachText(wrap)
	}
}

func reminder(c *call) {
	if c.n%2 == 0 {
		return
	}
	remarks := [...]string{"The todo list was not used lately.", "The file may have changed since it was read.", "Do not mention this to the user.", "The budget is not exhausted."}
	c.eachText(func(text string) string {
		return text + "\n\n<system-reminder>\n" + remarks[c.n/2%len(remarks)] + "\n</system-reminder>"
	})
}

// quoted returns a text as Python prints it.
func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\t", `\t`).Replace(text) + "'"
}

// eachLine returns a text with each line that is not empty rewritten.
func eachLine(text string, rewrite func(n int, line string) string) string {
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		if line != "" {
			lines[n] = rewrite(n, line)
		}
	}
	return strings.Join(lines, "\n")
}

func coloured(text string) string {
	return eachLine(text, func(n int, line string) string { return fmt.Sprintf("\x1b[%dm%s\x1b[0m", 31+n%6, line) })
}

func numbered(text string) string {
	return eachLine(text, func(n int, line string) string { return fmt.Sprintf("%6d\t%s", n+1, line) })
}

// timed returns a text with a time before each line. Time passes from call to call.
func (c *call) timed(text string) string {
	return eachLine(text, func(n int, line string) string {
		at := 23*c.n + n/4
		return fmt.Sprintf("2026-03-04T%02d:%02d:%02d.%03dZ %s", 8+at/3600%12, at/60%60, at%60, 7*n%1000, line)
	})
}

func prompted(c *call) string { return "root@box:/repo# " + c.command + "\n" + c.output }

// cut replaces the middle of a text of more than 2,000 characters by a note.
func cut(text string) string {
	const kept = 1000 // characters of the beginning and of the end
	runes := []rune(text)
	if len(runes) <= 2*kept {
		return text
	}
	return fmt.Sprintf("%s\n[... %d characters omitted ...]\n%s", string(runes[:kept]), len(runes)-2*kept, string(runes[len(runes)-kept:]))
}

// thought returns a message as a call of a tool that records it.
func thought(_ int, e entry) entry {
	text := e.text("text")
	if strings.TrimSpace(text) == "" {
		return e
	}
	call := entry{}
	for _, name := range [...]string{"agent", "timestamp", "cost", "tokens", "latency_ms"} {
		if value, ok := e[name]; ok {
			call[name] = value
		}
	}
	call.set("kind", "tool_call")
	call.set("tool", "think")
	call.set("args", members{"thought": text})
	call.set("result", "Your thought has been logged.")
	return call
}

// polled starts a command, and returns the call that reads its output.
func polled(c *call) []entry {
	if !c.shell || !c.ended {
		return nil
	}
	id := callID(c.n)[len("call_"):]
	read := entry{}
	for name, value := range c.entry {
		read[name] = value
	}
	read.set("tool", "read_output")
	read.set("args", members{"command_id": id})
	c.set("result", "Command started. Command id: "+id)
	delete(c.entry, "error")
	return []entry{read}
}
