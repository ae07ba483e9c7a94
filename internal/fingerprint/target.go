package fingerprint

import "bytes"

// Target returns the fingerprint of the call's primary arguments, those that say what the call is about: path,
// file_path, command, pattern, query, url, content, filename, offset, limit. Without any of them it is that of all
// arguments. A shell's plain read of one file is the file, whichever command read it.
// c has just made the arguments canonical; all is their canonical form.
func (c *Canonicalizer) Target(all []byte, shell bool) Hash {
	var h Hash
	for name, value := range c.Members {
		if !primary(name) {
			continue
		}
		if shell && string(name) == "command" {
			if file := plainRead(c.unquoted(value)); len(file) > 0 {
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

// Command returns the command line of a shell call whose arguments c has just made canonical, or nothing: the member
// command or cmd, as a text or as a list that ends in the script. It is valid until the next call of c.
func (c *Canonicalizer) Command() []byte {
	for name, value := range c.Members {
		if string(name) != "command" && string(name) != "cmd" {
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

// unquoted returns the text of a canonical string; other values stay as they are.
func (c *Canonicalizer) unquoted(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return value
	}
	value = value[1 : len(value)-1]
	if bytes.IndexByte(value, '\\') < 0 {
		return value
	}
	c.spare = c.spare[:0]
	for i := 0; i < len(value); i++ {
		if value[i] == '\\' && i+1 < len(value) {
			i++
		}
		c.spare = append(c.spare, value[i])
	}
	return c.spare
}

// maxWords is how many words a plain read may have.
const maxWords = 12

// plainRead returns the file that a command line reads and does nothing else, or nothing: cat, head, tail and their
// like, with flags and one file, which may be quoted.
func plainRead(command []byte) []byte {
	first, _, _ := bytes.Cut(command, []byte{' '})
	valued, ok := readers[string(first)]
	if !ok || bytes.ContainsAny(command, "|;&<>\n") {
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

// readers are the commands that only read a file, each with those of its flags that take a value.
var readers = map[string][]string{
	"cat": nil, "less": nil, "more": nil, "wc": nil, "md5sum": nil, "sha256sum": nil,
	"file": {"-m", "-F", "--separator"},
	"head": {"-n", "-c", "--lines", "--bytes"},
	"tail": {"-n", "-c", "-s", "--lines", "--bytes", "--pid"},
	"stat": {"-c", "--format", "--printf"},
}

// splitWords splits at white space and takes quotes off whole words. It returns how many words there are, or 0 where
// there are too many, or quotes that it does not understand.
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
