package unloop

import (
	"bytes"
	"unicode"
)

// Effect is the effect of calling a tool on the outside world.
type Effect uint8

// The effects.
const (
	Mutating Effect = iota // changes state, or unknown
	ReadOnly               // only reads; safe to repeat
	Polling                // reads the state of something in progress
)

var effectNames = [...]string{"mutating", "read_only", "polling"}

// String returns the name of the effect in snake_case.
func (c Effect) String() string { return effectNames[c] }

// EffectOf returns the effect that the words of a tool's name suggest. Words such as status, poll, check, wait, ping and
// health mean Polling. Words such as read, get, list, search, find, show and view mean ReadOnly. Polling takes precedence.
// A name with neither is Mutating. Only whole words count, as Words splits them, so spreadsheet_update is Mutating.
func EffectOf(name string) Effect {
	class := Mutating
	for word := range Words(name) {
		switch word {
		case "status", "poll", "polling", "check", "wait", "ping", "health", "healthcheck":
			return Polling
		case "read", "get", "list", "ls", "search", "find", "show", "view", "fetch", "grep", "glob", "cat", "open", "browse",
			"lookup", "query", "describe", "inspect", "calculate", "diff", "log", "retrieve":
			class = ReadOnly
		}
	}
	return class
}

// waitsByName reports whether the words of a tool's name say that a call does nothing but wait.
func waitsByName(name string) bool {
	for word := range Words(name) {
		switch word {
		case "wait", "sleep", "pause":
			return true
		}
	}
	return false
}

// Words yields the words of a tool's name in lower case. A word is a sequence of letters. It ends at any other character
// and before an upper-case letter that follows a lower-case one.
func Words(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		var word []rune
		lower := false
		for _, r := range name {
			letter := unicode.IsLetter(r)
			if len(word) > 0 && (!letter || lower && unicode.IsUpper(r)) {
				if !yield(string(word)) {
					return
				}
				word = word[:0]
			}
			lower = unicode.IsLower(r)
			if letter {
				word = append(word, unicode.ToLower(r))
			}
		}
		if len(word) > 0 {
			yield(string(word))
		}
	}
}

// commandEffect classifies a shell's command line by the programs that it runs: polling if it waits before it asks; read-only if
// all of them only read and nothing is written to a file.
func commandEffect(command []byte) Effect {
	if len(command) == 0 {
		return Mutating
	}
	if waits(command) {
		return Polling
	}
	if bytes.IndexByte(command, '>') >= 0 {
		return Mutating
	}
	class := ReadOnly
	for len(command) > 0 {
		end := bytes.IndexAny(command, "|;&\n")
		part := command
		if end >= 0 {
			part, command = command[:end], command[end+1:]
		} else {
			command = nil
		}
		part = bytes.TrimSpace(part)
		switch {
		case len(part) > 0 && !readsOnly(part):
			return Mutating
		case bytes.HasPrefix(part, []byte("sleep ")):
			class = Polling
		}
	}
	return class
}

// longWait is how many digits a number of seconds has that is more than a moment.
const longWait = 2

// waits reports whether one of the commands of a command line is to sleep for ten seconds or more.
func waits(command []byte) bool {
	for len(command) > 0 {
		n := bytes.Index(command, []byte("sleep "))
		if n < 0 {
			return false
		}
		before := bytes.TrimRight(command[:n], " \t")
		command = command[n+len("sleep "):]
		first := len(before) == 0 || bytes.IndexByte([]byte(";&\n(o"), before[len(before)-1]) >= 0 // the o is that of do
		digits := 0
		for digits < len(command) && command[digits] >= '0' && command[digits] <= '9' {
			digits++
		}
		if first && digits >= longWait {
			return true
		}
	}
	return false
}

func readsOnly(part []byte) bool {
	program, rest, _ := bytes.Cut(part, []byte{' '})
	switch string(program) {
	case "find":
		return !bytes.Contains(rest, []byte("-delete")) && !bytes.Contains(rest, []byte("-exec"))
	case "sed":
		return !bytes.Contains(rest, []byte("-i"))
	case "git":
		verb, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte{' '})
		return readsGit(string(verb))
	}
	return reader(string(program))
}

// reader reports whether a program only reads, whatever its arguments.
func reader(program string) bool {
	switch program {
	case "cat", "head", "tail", "wc", "less", "more", "file", "stat", "ls", "pwd", "cd", "echo", "printf", "grep", "rg", "egrep",
		"fgrep", "tree", "which", "whoami", "env", "date", "du", "df", "ps", "nl", "sort", "uniq", "cut", "tr", "diff", "cmp",
		"md5sum", "sha256sum", "jq", "awk", "true", "test", "type", "hexdump", "xxd", "strings", "od", "sleep":
		return true
	}
	return false
}

func readsGit(verb string) bool {
	switch verb {
	case "status", "log", "diff", "show", "blame", "grep", "branch", "ls-files", "rev-parse", "describe", "remote":
		return true
	}
	return false
}
