package fingerprint

import "bytes"

// Commands calls take with the words of each command in a shell's command line, in order. A command has at most its first 24
// words, without quotes around them and without wrappers such as sudo and env; a command without words is skipped. piped means
// that the command reads the output of the one before it. The words are valid until take returns. Commands reports whether the
// line writes to a file. It takes time proportional to len(line).
func Commands(line []byte, take func(words [][]byte, piped bool)) (writes bool) {
	c := commandLine{rest: line}
	for c.next() {
		words := c.words[:c.n]
		for n := wrapper(words); n > 0 && n < len(words); n = wrapper(words) {
			words = words[n:]
		}
		take(words, c.piped)
	}
	return c.wrote
}

// commandLine reads a shell's command line command by command. It knows quotes, comments and here-documents. A command ends at
// a line break, ;, &, |, a parenthesis or a backquote. It does not parse the whole grammar: it finds the programs that a line runs.
type commandLine struct {
	rest  []byte
	ends  []byte // the delimiter of the here-document that begins at the next line; nil for none
	words [maxCommandWords][]byte
	n     int  // words of the current command
	piped bool // the current command reads the output of the command before it
	pipe  bool // the next command reads the output of the current one
	wrote bool // an output goes to a file
}

// maxCommandWords is the number of words of a command that are read. The others are skipped.
const maxCommandWords = 24

// next reads the next command that has words.
func (c *commandLine) next() bool {
	c.n = 0
	c.piped, c.pipe = c.pipe, false
	for len(c.rest) > 0 {
		switch b := c.rest[0]; {
		case b == '\n':
			c.rest = c.rest[1:]
			c.skipDocument()
			if c.n > 0 {
				return true
			}
		case bytes.IndexByte([]byte(";|&()`"), b) >= 0:
			c.rest = c.rest[1:]
			if c.n > 0 {
				c.pipe = b == '|' && !bytes.HasPrefix(c.rest, []byte("|"))
				return true
			}
		case b == ' ' || b == '\t' || b == '\r':
			c.rest = c.rest[1:]
		case b == '#':
			c.rest = c.rest[lineEnd(c.rest):]
		case b == '<' || b == '>':
			c.redirect()
		default:
			c.word()
		}
	}
	return c.n > 0
}

// word reads a word and removes quotes around the whole of it.
func (c *commandLine) word() {
	end := wordEnd(c.rest)
	word := c.rest[:end]
	c.rest = c.rest[end:]
	if string(word) == "\\\n" {
		return // the line continues
	}
	if c.n < len(c.words) {
		c.words[c.n] = unquote(word)
		c.n++
	}
}

// redirect skips a redirection with its file, and keeps the delimiter of a here-document.
func (c *commandLine) redirect() {
	sign := 1
	for sign < len(c.rest) && bytes.IndexByte([]byte("<>&-"), c.rest[sign]) >= 0 {
		sign++
	}
	out := c.rest[0] == '>' && (sign == 1 || c.rest[sign-1] == '>') // and not to another stream, as in 2>&1
	document := bytes.HasPrefix(c.rest, []byte("<<")) && !bytes.HasPrefix(c.rest, []byte("<<<"))
	c.rest = bytes.TrimLeft(c.rest[sign:], " \t")
	end := wordEnd(c.rest)
	if document {
		c.ends = unquote(c.rest[:end])
	}
	c.wrote = c.wrote || out && end > 0 && string(c.rest[:end]) != "/dev/null"
	c.rest = c.rest[end:]
}

// skipDocument skips the here-document that begins here, if there is one.
func (c *commandLine) skipDocument() {
	if c.ends == nil {
		return
	}
	for len(c.rest) > 0 {
		end := lineEnd(c.rest)
		line := bytes.Trim(c.rest[:end], "\t\r")
		c.rest = c.rest[min(end+1, len(c.rest)):]
		if bytes.Equal(line, c.ends) {
			break
		}
	}
	c.ends = nil
}

func lineEnd(s []byte) int {
	if end := bytes.IndexByte(s, '\n'); end >= 0 {
		return end
	}
	return len(s)
}

// wordEnd returns the end of the word at the beginning of s: the first unquoted byte that has a meaning to the shell.
func wordEnd(s []byte) int {
	for i := 0; i < len(s); i++ {
		switch b := s[i]; b {
		case '\\':
			i++
		case '\'', '"':
			i = quoteEnd(s, i)
		case ' ', '\t', '\r', '\n', ';', '|', '&', '(', ')', '<', '>', '`':
			return i
		}
	}
	return len(s)
}

// quoteEnd returns the position of the quote that closes the one at s[i], or i if none does.
func quoteEnd(s []byte, i int) int {
	for k := i + 1; k < len(s); k++ {
		if s[k] == s[i] {
			return k
		}
		if s[k] == '\\' && s[i] == '"' {
			k++
		}
	}
	return i
}

func unquote(word []byte) []byte {
	if n := len(word); n > 1 && (word[0] == '"' || word[0] == '\'') && word[n-1] == word[0] {
		return word[1 : n-1]
	}
	return word
}

// programOf returns the name of a program without its folder.
func programOf(word []byte) []byte {
	return bytes.TrimSuffix(word[bytes.LastIndexByte(word, '/')+1:], []byte(".exe"))
}

// wrapper returns the number of words at the beginning of a command that only determine how the rest runs, such as sudo -u root.
func wrapper(words [][]byte) int {
	if len(words) == 0 {
		return 0
	}
	if assigns(words[0]) {
		return 1
	}
	rest := words[1:]
	program := programOf(words[0])
	switch string(program) {
	case "if", "then", "do", "else", "elif", "while", "until", "!", "{":
		return 1
	case "sudo", "env", "time", "timeout", "nice", "nohup", "stdbuf", "command", "exec", "xargs", "xvfb-run", "npx", "bunx", "uvx":
		return len(words) - len(afterFlags(rest, hasValue))
	case "npm", "pnpm", "yarn", "bundle", "uv", "poetry", "pipenv", "pdm", "hatch", "rye":
		if len(rest) > 0 && (string(rest[0]) == "exec" || string(rest[0]) == "run" && !hasAny(words[:1], "npm", "pnpm", "yarn")) {
			return len(words) - len(afterFlags(rest[1:], hasValue))
		}
	case "docker", "docker-compose", "podman", "kubectl":
		return containerWords(words)
	case "conda", "mamba":
		if len(rest) > 0 && string(rest[0]) == "run" {
			return len(words) - len(afterFlags(rest[1:], hasContainerValue))
		}
	}
	return 0
}

// assigns reports whether a word sets a variable for the command that follows: NAME=value.
func assigns(word []byte) bool {
	name, _, ok := bytes.Cut(word, []byte{'='})
	for _, b := range name {
		ok = ok && class[b]&wordByte != 0
	}
	return ok && len(name) > 0
}

// containerWords returns the number of words before the command that runs in a container, such as docker exec -it web.
func containerWords(words [][]byte) int {
	for k, word := range words {
		if string(word) != "exec" && string(word) != "run" {
			continue
		}
		rest := afterFlags(words[k+1:], hasContainerValue)
		rest = rest[min(1, len(rest)):] // the container, the image or the service
		if len(rest) > 0 && string(rest[0]) == "--" {
			rest = rest[1:]
		}
		return len(words) - len(rest)
	}
	return 0
}

// afterFlags returns the words from the first one that is neither a flag nor the value of a flag nor a number, such as that of timeout.
func afterFlags(words [][]byte, valued func(flag []byte) bool) [][]byte {
	for k, word := range words {
		flag := len(word) == 0 || word[0] == '-' || word[0] == '+' || class[word[0]]&digit != 0
		if !flag && (k == 0 || !valued(words[k-1])) {
			return words[k:]
		}
	}
	return nil
}

// hasValue reports whether the word after a flag is its value.
func hasValue(flag []byte) bool {
	switch string(flag) {
	case "-C", "-f", "-F", "-u", "-x", "-pl", "--prefix", "--cwd", "--dir", "--directory", "--filter", "--workspace", "--with",
		"--python", "--user", "--file", "--exclude-task", "--tests", "--projects", "--package":
		return true
	}
	return false
}

// hasContainerValue is hasValue for docker, kubectl and conda, which have further flags.
func hasContainerValue(flag []byte) bool {
	switch string(flag) {
	case "-e", "-v", "-w", "-p", "-n", "-c", "--env", "--env-file", "--volume", "--workdir", "--publish", "--name", "--network",
		"--namespace", "--container", "--platform", "--entrypoint", "--mount":
		return true
	}
	return hasValue(flag)
}
