package splice

import (
	"fmt"
	"strings"
)

// harness is the program between an agent and its tools. It determines the names of tools and the form of results. A stretch has one
// harness.
type harness struct {
	*generator
	form int
}

const (
	claudeCode = iota
	codex
	gemini
	openHands
	sweAgent
	harnesses
)

func (p *generator) harness() harness { return harness{p, p.IntN(harnesses)} }

// shell returns a command, what it printed and its exit status.
func (h harness) shell(command, output string, status int) entry {
	switch h.form {
	case claudeCode:
		args := object("command", command, "description", h.pick("Run ", "Execute ", "Try ")+strings.Fields(command)[0])
		if status != 0 {
			return failed("Bash", args, fmt.Sprintf("Exit code %d\n%s", status, output))
		}
		return call("Bash", args, quoted(output))
	case codex:
		text := fmt.Sprintf("Exit code: %d\nWall time: %d.%d seconds\nOutput:\n%s", status, h.IntN(9), h.IntN(10), output)
		return call("shell", object("command", []string{"bash", "-lc", command}, "workdir", "/workspace"), quoted(text))
	case gemini:
		text := fmt.Sprintf("Command: %s\nDirectory: (root)\nOutput: %s\nError: (none)\nExit Code: %d\nSignal: (none)\nProcess Group PGID: %d", command, output, status, h.between(1000, 99999))
		return call("run_shell_command", object("command", command), quoted(text))
	case openHands:
		text := fmt.Sprintf("%s\n[Current working directory: /workspace]\n[Python interpreter: /usr/bin/python3]\n[Command finished with exit code %d]", output, status)
		return call("execute_bash", object("command", command), quoted(text))
	}
	return h.generator.shell(command, output, status)
}

// edit returns a change of one place in a file, with texts of its own.
func (h harness) edit(path string) entry {
	return h.replace(path, h.code(h.between(1, 3)), h.code(h.between(1, 4)))
}

// replace returns a change of one text in a file by another.
func (h harness) replace(path, before, after string) entry {
	switch h.form {
	case claudeCode:
		snippet := ""
		for k, line := range strings.Split(after, "\n") {
			snippet += fmt.Sprintf("\n%6d→%s", h.between(1, 300)+k, line)
		}
		return call("Edit", object("file_path", path, "old_string", before, "new_string", after), quoted("The file "+path+" has been updated. Here's the result of running `cat -n` on a snippet of the edited file:"+snippet))
	case codex:
		patch := "*** Begin Patch\n*** Update File: " + path + "\n@@\n-" + strings.ReplaceAll(before, "\n", "\n-") + "\n+" + strings.ReplaceAll(after, "\n", "\n+") + "\n*** End Patch"
		return call("apply_patch", object("input", patch), quoted("Success. Updated the following files:\nM "+path))
	case gemini:
		return call("replace", object("file_path", path, "old_string", before, "new_string", after, "expected_replacements", 1), quoted("Successfully modified file: "+path+" (1 replacements)."))
	}
	return call("str_replace_editor", object("command", "str_replace", "path", path, "old_str", before, "new_str", after), quoted("The file "+path+" has been edited."))
}

// code returns n lines of a program.
func (p *generator) code(n int) string {
	lines := make([]string, n)
	for k := range lines {
		a, b, c := p.word(), p.word(), p.word()
		lines[k] = p.pick("  ", "    ") + p.pick(
			a+" = "+b+"."+c+"("+p.word()+")",
			"if "+a+"."+b+" != "+c+" {",
			"return "+a+"_"+b+"("+c+", "+fmt.Sprint(p.IntN(100))+")",
			a+"."+b+"("+c+", timeout="+fmt.Sprint(p.between(1, 90))+")",
			"const "+a+" = new "+b+"("+c+");",
			"// the "+a+" needs a "+b+" before its "+c,
			"for "+a+" in "+b+".all("+c+"):",
		)
	}
	return strings.Join(lines, "\n")
}

func user(text string) entry { return entry{Kind: "message", Role: "user", Text: text} }

// by returns the entry as an action of this agent.
func (e entry) by(agent string) entry {
	e.Agent = agent
	return e
}
