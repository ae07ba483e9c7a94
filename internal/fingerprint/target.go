package fingerprint

import "bytes"

// Arguments returns the arguments of a call without an object around them, whose only member is named input, params, arguments or alike. It
// returns any other value unchanged.
func Arguments(raw []byte) []byte {
	for range 2 {
		from := skipSpace(raw, 0)
		if from == len(raw) || raw[from] != '{' {
			return raw
		}
		name, value, next, ok := memberAt(raw, from+1)
		if !ok || value[0] != '{' || next >= len(raw) || raw[next] != '}' {
			return raw
		}
		if !namesArguments(name) {
			return raw
		}
		raw = value
	}
	return raw
}

// namesArguments reports whether a name is that of the arguments of a call.
func namesArguments(name []byte) bool {
	switch string(name) {
	case "input", "params", "parameters", "arguments", "args", "kwargs":
		return true
	}
	return false
}

// Target returns the fingerprint of the primary arguments of a call: path, file_path, command, pattern, query, url, content, filename,
// offset and limit. Without any of them, it is that of all arguments. For a shell's command that only reads one file, it is that of the
// file, whichever program reads it. all must be the latest result of c.Canonical.
func (c *Canonicalizer) Target(all []byte, shell bool) Hash {
	var h Hash
	for name, value := range c.Members {
		if !primary(name) {
			continue
		}
		if shell && string(name) == "command" {
			if file := c.plainRead(value); len(file) > 0 {
				return Join(fileRead, Bytes(file))
			}
		}
		h = Join(h, Join(Bytes(name), Bytes(value)))
	}
	if h == 0 {
		return Bytes(all)
	}
	return h
}

var fileRead = String("file_read")

func primary(name []byte) bool {
	switch string(name) {
	case "path", "file_path", "command", "pattern", "query", "url", "content", "filename", "offset", "limit":
		return true
	}
	return false
}

// Command returns the command line in the arguments that c.Canonical returned last, or nil if there is none. It is the member command, or one
// of its other names such as cmd: a text, or a list whose last element is the script; or a list of commands, each a text or an object with
// keystrokes. Arguments that are a text are the command line. It is valid until the next call of a method of c.
func (c *Canonicalizer) Command() []byte {
	if len(c.out) > 1 && c.out[0] == '"' {
		return c.unquoted(c.out)
	}
	for name, value := range c.Members {
		switch string(name) {
		case "command", "cmd", "keystrokes", "command_line", "commandLine", "CommandLine", "script", "code":
		case "commands":
			if line := c.keystrokes(value); len(line) > 0 {
				return line
			}
			continue
		default:
			continue
		}
		if bytes.HasPrefix(value, []byte{'['}) {
			value = bytes.TrimSuffix(value[1+bytes.LastIndex(value, []byte(`,"`)):], []byte{']'})
		}
		if len(value) > 1 && value[0] == '"' {
			return c.unquoted(value)
		}
	}
	return nil
}

// AfterFolder returns a command line, as a canonical string, without a change to a folder in front of its other commands: cd /a && make.
func AfterFolder(value []byte) []byte {
	rest, ok := bytes.CutPrefix(value, []byte(`"cd `))
	if !ok {
		return value
	}
	rest = rest[wordEnd(rest):]
	if rest, ok = bytes.CutPrefix(rest, []byte(" && ")); ok {
		return rest
	}
	return value
}

// keystrokes returns the command lines in a list of commands: of texts, or of objects with keystrokes.
func (c *Canonicalizer) keystrokes(list []byte) []byte {
	c.spare = c.spare[:0]
	for at := 1; len(list) > 0 && list[0] == '[' && at < len(list)-1; {
		end := skipValue(list, at)
		if end == at {
			break
		}
		value := list[at:end]
		for next := 1; value[0] == '{'; {
			name, inner, behind, ok := memberAt(value, next)
			if !ok {
				break
			}
			if next = behind; string(name) == "keystrokes" || string(name) == "command" {
				value = inner
			}
		}
		if len(value) > 1 && value[0] == '"' {
			c.spare = append(appendUnquoted(c.spare, value[1:len(value)-1]), '\n')
		}
		at = end + 1
	}
	return c.spare
}

// unquoted returns the text of a canonical string, and any other value unchanged.
func (c *Canonicalizer) unquoted(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return value
	}
	value = value[1 : len(value)-1]
	if bytes.IndexByte(value, '\\') < 0 {
		return value
	}
	c.spare = appendUnquoted(c.spare[:0], value)
	return c.spare
}

// appendUnquoted appends the inside of a canonical string without the backslashes before quotes and backslashes.
func appendUnquoted(dst, inside []byte) []byte {
	for {
		at := bytes.IndexByte(inside, '\\')
		if at < 0 || at+1 == len(inside) {
			return append(dst, inside...)
		}
		dst = append(append(dst, inside[:at]...), inside[at+1])
		inside = inside[at+2:]
	}
}

// maxWords is the maximum number of words after the program in a plain read.
const maxWords = 12

// plainRead returns the file that a command line reads, if it does nothing else, and nil otherwise. Such a command is one of readers
// with flags and one file, which may be quoted. value is the command line, as a canonical string.
func (c *Canonicalizer) plainRead(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	first, _, _ := bytes.Cut(value[1:len(value)-1], []byte{' '})
	valued, ok := readers[string(first)]
	if !ok {
		return nil
	}
	command := c.unquoted(value)
	if bytes.ContainsAny(command, "|;&<>\n") {
		return nil
	}
	var words [maxWords][]byte
	n := splitWords(&words, command[len(first):])
	var file []byte
	for i := 0; i < n; i++ {
		word := words[i]
		switch {
		case len(word) > 1 && word[0] == '-':
			if i+2 < n && takesValue(valued, word) {
				i++
			}
		case file != nil:
			return nil // a second file
		default:
			file = word
		}
	}
	return file
}

func takesValue(valued []string, flag []byte) bool {
	for _, v := range valued {
		if string(flag) == v {
			return true
		}
	}
	return false
}

// readers are the programs that only read a file, each with its flags that take a value.
var readers = map[string][]string{
	"cat": nil, "less": nil, "more": nil, "wc": nil, "md5sum": nil, "sha256sum": nil,
	"file": {"-m", "-F", "--separator"},
	"head": {"-n", "-c", "--lines", "--bytes"},
	"tail": {"-n", "-c", "-s", "--lines", "--bytes", "--pid"},
	"stat": {"-c", "--format", "--printf"},
}

// splitWords splits a text at white space and removes quotes around whole words. It returns the number of words, or 0 if there are too
// many or a quote is within a word.
func splitWords(words *[maxWords][]byte, s []byte) int {
	n := 0
	for {
		s = bytes.TrimLeft(s, " \t")
		if len(s) == 0 {
			return n
		}
		if n == maxWords {
			return 0
		}
		end := bytes.IndexAny(s, " \t")
		if q := s[0]; q == '"' || q == '\'' {
			end = 1 + bytes.IndexByte(s[1:], q)
			if end == 0 || end+1 < len(s) && s[end+1] != ' ' && s[end+1] != '\t' {
				return 0
			}
			words[n], s = s[1:end], s[end+1:]
			n++
			continue
		}
		if end < 0 {
			end = len(s)
		}
		if bytes.ContainsAny(s[:end], "\"'") {
			return 0
		}
		words[n], s = s[:end], s[end:]
		n++
	}
}
