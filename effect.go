package unloop

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"github.com/unloop-ai/unloop/internal/fingerprint"
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
func (e Effect) String() string { return effectNames[e] }

// EffectOf returns the effect that the words of a tool's name suggest. Words such as status, poll, check, wait, ping and
// health mean Polling. Words such as read, get, list, search, find, show and view mean ReadOnly. Polling takes precedence.
// A name with neither is Mutating. So is one with a verb such as create, update, replace or delete before these words, or behind and:
// update_status, create_list, search_and_replace. Only whole words count, as Words splits them, so spreadsheet_update is Mutating.
func EffectOf(name string) Effect {
	effect, polls := Mutating, false
	decides := true // a verb of a change, because no other of these words came before it
	for word := range Words(name) {
		switch word {
		case "status", "poll", "polling", "check", "wait", "ping", "health", "healthcheck":
			polls, decides = true, false
		case "read", "get", "list", "ls", "search", "find", "show", "view", "fetch", "grep", "glob", "cat", "open", "browse",
			"lookup", "query", "describe", "inspect", "calculate", "diff", "log", "retrieve":
			effect, decides = ReadOnly, false
		case "and", "or":
			decides = true
		case "create", "add", "insert", "append", "update", "replace", "edit", "modify", "set", "write", "delete", "remove", "clear", "cancel":
			if decides {
				return Mutating
			}
		}
	}
	if polls {
		return Polling
	}
	return effect
}

// looksByName reports whether a tool only looks at something, according to the words of its name. The progress meter uses it for tools that
// EffectOf calls Mutating.
func looksByName(name string) bool {
	for word := range Words(name) {
		switch word {
		case "locate", "detect", "recognize", "identify", "classify", "measure", "analyze", "evaluate", "verify", "validate", "lint", "compare",
			"preview", "screenshot", "photo", "transcribe", "translate", "geocode", "explain", "history", "tree", "receive", "peek", "visit",
			"wikipedia":
			return true
		}
	}
	return false
}

// waitsByName reports whether a tool only waits, according to the words of its name. A tool that waits for something, such as
// wait_for_job, does not: it returns a state.
func waitsByName(name string) bool {
	waits := false
	for word := range Words(name) {
		switch word {
		case "wait", "sleep", "pause":
			waits = true
		case "for", "browser", "page", "computer", "time", "seconds", "minutes", "ms", "timeout", "tool":
		default:
			return false
		}
	}
	return waits
}

// thinksByName reports whether a tool only records a thought, according to the words of its name.
func thinksByName(name string) bool {
	thinks := false
	for word := range Words(name[strings.LastIndex(name, "__")+1:]) {
		switch word {
		case "think", "thinking", "thought", "sequentialthinking":
			thinks = true
		case "sequential", "tool":
		default:
			return false
		}
	}
	return thinks
}

// ShellByName reports whether a tool takes a command line, according to the words of its name: run_in_terminal, BashTool. The name of a server
// before two underscores does not count (mcp__box__bash). A name with a dot, a slash or a colon counts as a whole, or by
// its part behind the last of them (terminal.run, functions.shell).
func ShellByName(name string) bool {
	name = name[strings.LastIndex(name, "__")+1:]
	return isShell(name) || isShell(name[strings.LastIndexAny(name, "./:")+1:])
}

func isShell(name string) bool {
	shell := false
	for word := range Words(name) {
		switch word {
		case "bash", "sh", "zsh", "shell", "powershell", "terminal", "command", "cmd":
			shell = true
		case "run", "exec", "execute", "in", "local", "tool":
		default:
			return false
		}
	}
	return shell
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

// shellCommand is the effect of a shell's command line, according to its commands.
type shellCommand struct {
	given  bool // the arguments have a command line
	effect Effect
	idle   bool // it does nothing
	writes bool // it may change something, even if its effect is Polling
}

// readCommand reads a shell's command line. Its effect is Polling if a command sleeps for ten seconds or more, or if one sleeps and
// the others only read. It is ReadOnly if all commands only read and no output goes to a file.
func readCommand(line []byte) shellCommand {
	if len(line) == 0 {
		return shellCommand{given: line != nil, idle: true}
	}
	waits, sleeps, acts, onlyReads := false, false, false, true
	c := shellCommand{given: true, effect: Mutating}
	intoFile := fingerprint.Commands(line, func(words [][]byte, _ bool) {
		if string(words[0]) == "sleep" {
			sleeps = true
			waits = waits || len(words) > 1 && isLongWait(words[1])
		}
		read := reads(words)
		onlyReads = onlyReads && read // a no-op such as : is no read
		if !idles(words) {
			acts = true
			c.writes = c.writes || !read
		}
	})
	c.idle = !acts && !intoFile
	c.writes = c.writes || intoFile
	switch {
	case waits, sleeps && onlyReads && !intoFile:
		c.effect = Polling
	case onlyReads && !intoFile:
		c.effect = ReadOnly
	}
	return c
}

// isLongWait reports whether a number of seconds is ten or more.
func isLongWait(seconds []byte) bool {
	return len(seconds) > 1 && seconds[0] >= '0' && seconds[0] <= '9' && seconds[1] >= '0' && seconds[1] <= '9'
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

// readsGit reports whether a subcommand of git only reads, in its usual form.
func readsGit(verb string) bool {
	switch verb {
	case "status", "log", "diff", "show", "blame", "grep", "branch", "ls-files", "rev-parse", "describe", "remote":
		return true
	}
	return false
}

// previews reports whether a command only shows what it would change: it has a flag such as --dry-run, or its verb says so.
func previews(words [][]byte) bool {
	if slices.ContainsFunc(words[1:], dryRun) {
		return true
	}
	switch string(words[0]) {
	case "kubectl", "helm", "terraform", "tofu", "terragrunt", "pulumi", "cdk":
		verb := slices.IndexFunc(words[1:], func(word []byte) bool { return len(word) > 0 && word[0] != '-' })
		return verb >= 0 && (string(words[1+verb]) == "diff" || string(words[1+verb]) == "plan" || string(words[1+verb]) == "preview")
	}
	return false
}

// dryRun reports whether a flag turns a command into a preview.
func dryRun(flag []byte) bool {
	name, value, _ := bytes.Cut(flag, []byte{'='})
	switch string(name) {
	case "--dry-run", "--dryrun", "--check", "--noop", "--just-print", "--simulate", "--what-if":
		return string(value) != "none" && string(value) != "false"
	}
	return false
}
