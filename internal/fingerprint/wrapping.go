package fingerprint

import "bytes"

// The beginnings of lines that shell tools write before and after the output of a command: those of Claude Code, Codex, Gemini CLI, Qwen
// Code, OpenHands and mini-swe-agent.
var (
	linesBefore = [][]byte{
		[]byte("Exit code"), []byte("Chunk ID:"), []byte("Wall time:"), []byte("Process exited with code"), []byte("Original token count:"),
		[]byte("Command:"), []byte("Directory:"), []byte("<returncode>"), []byte(`\u003creturncode`), []byte("<output>"), []byte(`\u003coutput`),
	}
	linesAfter = [][]byte{
		[]byte("[Current working directory:"), []byte("[Python interpreter:"), []byte("[Command finished with exit code"), []byte("[The command completed with exit code"),
		[]byte("Error: (none)"), []byte("Exit Code:"), []byte("Signal:"), []byte("Background PIDs:"), []byte("Process Group PGID:"), []byte("</output>"), []byte(`\u003c/output`),
	}
	outputFrom = []byte("Output:")
)

// Unwrap returns the output of a command from the result of a shell tool: the inside of a raw JSON string, without the lines that the
// tool writes before and after the output. It returns any other value unchanged, without white space around it. It takes time
// proportional to the lines that it removes.
func Unwrap(raw []byte) []byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return raw
	}
	text := raw[1 : len(raw)-1]
	for {
		if rest, ok := bytes.CutPrefix(text, outputFrom); ok {
			text = rest
			break
		}
		line, rest := cutLine(text)
		if !beginsWithAny(line, linesBefore) {
			break
		}
		text = rest
	}
	for len(text) > 0 {
		line, before := cutLastLine(text)
		if len(line) > 0 && !beginsWithAny(line, linesAfter) {
			break
		}
		text = before
	}
	return text
}

// beginsWithAny reports whether a line begins with one of the texts.
func beginsWithAny(line []byte, texts [][]byte) bool {
	for _, text := range texts {
		if bytes.HasPrefix(line, text) {
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
