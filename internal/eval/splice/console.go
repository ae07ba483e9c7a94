package splice

import (
	"encoding/json"
	"fmt"
)

// console runs the commands of the kinds of technical_loops.go and later files, in other harnesses than those of the kinds before.
type console struct {
	*generator
	form int
}

func (p *generator) console() console { return console{p, p.IntN(3)} }

// run returns a command, what it printed and its exit status, as a JSON object, as a terminal's screen, or as content of an MCP server.
func (c console) run(command, output string, status int) entry {
	switch c.form {
	case 0:
		stdout, stderr := output, ""
		if status != 0 {
			stdout, stderr = "", output
		}
		return call("run_command", object("cmd", command, "cwd", "/srv/work"), object("exit_code", status, "stdout", stdout, "stderr", stderr, "duration_ms", c.between(40, 9000)))
	case 1:
		return call("terminal", object("keystrokes", command+"\n", "duration", c.between(1, 15)), quoted("New Terminal Output:\n\nroot@a1f0:/app# "+command+"\n"+output+"\nroot@a1f0:/app# "))
	}
	return call("start_process", object("command", command, "timeout_ms", 1000*c.between(5, 120)), content(fmt.Sprintf("Process started with PID %d (shell: /bin/bash)\nInitial output:\n%s", c.between(300, 60_000), output)))
}

// content returns a text as the result of a tool of an MCP server.
func content(text string) json.RawMessage {
	return jsonOf([]json.RawMessage{object("type", "text", "text", text)})
}
