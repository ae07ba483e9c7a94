package nudge

import (
	"regexp"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/fingerprint"
)

// callKinds maps words of a tool's name, or the programs of a command line, to kinds of calls. The first match wins, so
// find_and_replace is an edit.
var callKinds = []struct {
	kind            string
	words, programs []string
}{
	{"edit", []string{"edit", "write", "replace", "patch", "insert", "append", "apply"}, []string{"sed", "tee", "patch", "echo", "printf"}},
	{"search", []string{"search", "grep", "find", "glob", "query", "lookup"}, []string{"grep", "egrep", "fgrep", "rg", "ag", "find", "fd"}},
	{"read", []string{"read", "cat", "view", "open", "show", "get", "fetch", "list", "ls"}, []string{"cat", "head", "tail", "less", "more", "wc", "nl", "stat", "ls"}},
	{"test", []string{"test", "tests", "pytest", "jest", "vitest", "rspec", "phpunit", "unittest"}, nil},
}

// filePrograms are the programs that file tools can replace.
var filePrograms = []string{"cat", "head", "tail", "less", "more", "echo", "printf", "sed", "awk", "tee"}

// kindOfCall returns the kind of a call by the name of its tool or by its command line: read, search, edit, test, or "".
func kindOfCall(call string) string {
	if line := commandLine(call); line != "" {
		all, writes := commands(line)
		for _, words := range all {
			if kind := kindOfCommand(words, writes); kind != "" {
				return kind
			}
		}
		return ""
	}
	tool, _, _ := strings.Cut(call, " ")
	words := slices.Collect(unloop.Words(tool))
	for _, k := range callKinds {
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(k.words, w) }) {
			return k.kind
		}
	}
	return ""
}

// kindOfCommand returns the kind of a command by its words. writes reports that an output of its line goes to a file.
func kindOfCommand(words []string, writes bool) string {
	if len(words) == 1 && words[0] == "cat" && writes {
		return "edit"
	}
	for _, k := range callKinds {
		if slices.Contains(k.programs, words[0]) {
			return k.kind
		}
		if k.kind == "test" && slices.ContainsFunc(words, func(w string) bool { return slices.Contains(k.words, w) }) {
			return k.kind
		}
	}
	return ""
}

func isFileOperation(line string) bool {
	all, _ := commands(line)
	return slices.ContainsFunc(all, func(words []string) bool { return slices.Contains(filePrograms, words[0]) })
}

// commandMember matches the command line in a shell's arguments, which may be cut off: a string, or the last of a list.
var commandMember = regexp.MustCompile(`"(?:command|cmd)"\s*:\s*(?:\[(?:\s*"(?:[^"\\]|\\.)*"\s*,)*\s*)?"((?:[^"\\]|\\.)*)`)

// commandLine returns the command line of a call in the form TOOL ARGUMENTS, or "" if it has none.
func commandLine(call string) string {
	found := commandMember.FindStringSubmatch(call)
	if found == nil {
		return ""
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, " ", `\"`, `"`, `\\`, `\`).Replace(found[1])
}

// commands returns the words of each command in a command line, and whether an output goes to a file. Of a pipeline, it returns
// the first command only, because the others read their input from it.
func commands(line string) (all [][]string, writes bool) {
	writes = fingerprint.Commands([]byte(line), func(words [][]byte, piped bool) {
		if piped {
			return
		}
		command := make([]string, len(words))
		for k, word := range words {
			command[k] = string(word)
		}
		all = append(all, command)
	})
	return all, writes
}
