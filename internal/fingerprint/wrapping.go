package fingerprint

import "bytes"

// The beginnings of lines that shell tools write before and after the output of a command: those of Claude Code, Codex, Gemini CLI, Qwen
// Code, OpenHands, mini-swe-agent, SWE-agent, Cline, Roo Code and Cursor.
var (
	linesBefore = beginningsOf(
		"Exit code", "Chunk ID:", "Wall time:", "Process exited with code", "Original token count:",
		"Command:", "Directory:", "Command executed", "Command output:", "OBSERVATION:", "<returncode>", `\u003creturncode`, "<output>", `\u003coutput`,
		"<stdout>", `\u003cstdout`, "STDOUT:", "STDERR:", "exitcode: ", "exit=",
	)
	linesAfter = beginningsOf(
		"[Current working directory:", "[Python interpreter:", "[Command finished with exit code", "[The command completed with exit code",
		"Error: (none)", "Exit Code:", "Signal:", "Background PIDs:", "Process Group PGID:", "</output>", `\u003c/output`,
		"(Open file: ", "(Current directory: ", "bash-$", "Shell cwd was reset to ", "Command completed in ",
		"Shell state (cwd, env vars) persists", "</stdout>", `\u003c/stdout`, "<exit_code>", `\u003cexit_code`,
		"<exited with exit code", `\u003cexited with exit code`, "<cwd>", `\u003ccwd`, "STDERR:",
	)
	outputsFrom = [...][]byte{[]byte("Output:"), []byte("Code output:")}
)

// Unwrap returns the output of a command from the result of a shell tool: the inside of a raw JSON string, without the lines that the
// tool writes before and after the output. Of an object whose members are streams, it reads the one that is not empty. It returns any other
// value unchanged, without white space around it. It also removes the command if the output repeats it; echo is that of the command. It takes
// time proportional to what it removes, and to the output if that ends with a prompt.
func Unwrap(raw []byte, echo *Echo) []byte {
	raw = stream(bytes.TrimSpace(raw))
	if len(raw) < 2 || raw[0] != '"' {
		return raw
	}
	text := withoutReminder(raw[1 : len(raw)-1])
	text = echo.behind(text[control(text):])
	wrapped, fenced := false, false
	for {
		if rest, ok := behindAny(text, outputsFrom[:]); ok {
			text, wrapped = rest, true
			break
		}
		line, rest := cutLine(text)
		opens := wrapped && string(line) == fence
		nothing := wrapped && len(rest) > 0 && (len(line) == 0 || string(line) == string(empty) && linesBefore.begin(rest))
		if !opens && !nothing && !linesBefore.begin(line) {
			break
		}
		text, wrapped = rest, true
		if fenced = opens; opens {
			break
		}
	}
	for len(text) > 0 {
		line, before := cutLastLine(text)
		closes := fenced && string(line) == fence
		nothing := len(line) == 0 || wrapped && string(line) == string(empty) && bytes.HasSuffix(before, errorsFrom)
		if !nothing && !closes && !linesAfter.begin(line) {
			break
		}
		text, fenced = before, fenced && !closes
	}
	if wrapped && bytes.HasSuffix(text, empty) && len(bytes.TrimSpace(text)) == len(empty) {
		return nil
	}
	return text
}

// behindAny returns what follows one of some texts at the beginning of a text.
func behindAny(text []byte, prefixes [][]byte) (rest []byte, ok bool) {
	for _, prefix := range prefixes {
		if rest, ok = bytes.CutPrefix(text, prefix); ok {
			return rest, true
		}
	}
	return text, false
}

// errorsFrom is the heading of an error output.
var errorsFrom = []byte("STDERR:")

// empty stands for an output of nothing, behind other lines of a tool.
var empty = []byte("(empty)")

// fence is the line around an output that is Markdown.
const fence = "```"

// stream returns the output of a command from an object: the text of its only member among output, stdout, stderr and result that is not
// empty. It returns any other value unchanged.
func stream(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '{' {
		return raw
	}
	var found []byte
	for at := 1; ; {
		name, value, next, ok := memberAt(raw, at)
		if !ok {
			break
		}
		at = next
		switch string(name) {
		case "output", "stdout", "stderr", "result":
			if value[0] != '"' || len(found) > 2 && len(value) > 2 {
				return raw
			}
			if len(found) <= 2 {
				found = value
			}
		}
	}
	if found == nil {
		return raw
	}
	return found
}

// reminders are the tags in which programs of agents append remarks of their own to an output.
var reminders = [...]string{"system-reminder", "system", "environment_details"}

// WithoutReminder returns the result of a call without the remark that the agent's program appended to it: the last element named system,
// system-reminder or environment_details. Of a raw JSON string with one, it returns the inside. It returns any other value unchanged.
func WithoutReminder(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return raw
	}
	if text := withoutReminder(raw[1 : len(raw)-1]); len(text) < len(raw)-2 {
		return text
	}
	return raw
}

func withoutReminder(text []byte) []byte {
	end := trimEscaped(text[max(0, len(text)-maxStatus):])
	for k, start := range tagStarts {
		rest, ok := bytes.CutSuffix(end, tagEnds[k])
		for _, name := range reminders {
			if !ok || !bytes.HasSuffix(rest, []byte("/"+name)) {
				continue
			}
			for at := len(text); ; {
				if at = bytes.LastIndex(text[:at], start); at < 0 {
					return text
				}
				if behind, is := bytes.CutPrefix(text[at+len(start):], []byte(name)); is && bytes.HasPrefix(behind, tagEnds[k]) {
					return text[:at]
				}
			}
		}
	}
	return text
}

// control returns the length of the control sequence of a terminal at the beginning of the inside of a JSON string, such as the colour
// \u001b[31m, or 0 if there is none.
func control(text []byte) int {
	if len(text) < len(`\u001b[m`) || text[1] != 'u' || !bytes.EqualFold(text[:len(`\u001b[`)], []byte(`\u001b[`)) {
		return 0
	}
	for n := len(`\u001b[`); n < min(len(text), maxControl); n++ {
		switch c := text[n]; {
		case class[c]&alpha != 0:
			return n + 1
		case class[c]&digit == 0 && c != ';' && c != '?':
			return 0
		}
	}
	return 0
}

// maxControl bounds the length of a control sequence in bytes.
const maxControl = 32

// beginnings are beginnings of lines. Most lines are told by their first byte.
type beginnings struct {
	first [256]bool // whether one of the texts begins with the byte
	texts []string
}

func beginningsOf(texts ...string) *beginnings {
	b := &beginnings{texts: texts}
	for _, text := range texts {
		b.first[text[0]] = true
	}
	return b
}

// begin reports whether a line begins with one of the texts.
func (b *beginnings) begin(line []byte) bool {
	if len(line) == 0 || !b.first[line[0]] {
		return false
	}
	for _, text := range b.texts {
		if line[0] == text[0] && len(line) >= len(text) && string(line[:len(text)]) == text {
			return true
		}
	}
	return false
}

// cutLastLine cuts a text before its last line. It reads only that line.
func cutLastLine(text []byte) (line, before []byte) {
	for i := len(text) - 1; i >= 0; i-- {
		switch {
		case text[i] == '\n':
			return text[i+1:], text[:i]
		case text[i] == 'n' && i > 0 && text[i-1] == '\\':
			return text[i+1:], text[:i-1]
		}
	}
	return text, nil
}
