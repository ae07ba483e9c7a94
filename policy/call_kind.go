package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
)

// callKinds say by which words a call is of a kind: words of the tool's name, or the program that a shell runs. The first
// kind that fits counts, so a find_and_replace is an edit.
var callKinds = []struct {
	kind            string
	words, programs []string
}{
	{"edit", []string{"edit", "write", "replace", "patch", "insert", "append", "apply"}, []string{"sed", "tee", "patch", "echo", "printf"}},
	{"search", []string{"search", "grep", "find", "glob", "query", "lookup"}, []string{"grep", "egrep", "fgrep", "rg", "ag", "find", "fd"}},
	{"read", []string{"read", "cat", "view", "open", "show", "get", "fetch", "list", "ls"}, []string{"cat", "head", "tail", "less", "more", "wc", "nl", "stat", "ls"}},
	{"test", []string{"test", "tests", "pytest", "jest", "vitest", "rspec", "phpunit", "unittest"}, nil},
}

// filePrograms are the programs that do what file tools do better.
var filePrograms = []string{"cat", "head", "tail", "less", "more", "echo", "printf", "sed", "awk", "tee"}

// kindOfCall returns what a call does, as far as its tool's name or its command tells: read, search, edit or test, else "".
func kindOfCall(call string) string {
	if command := commandOf(call); command != "" {
		for _, words := range commands(command) {
			if kind := kindOfCommand(words); kind != "" {
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

func kindOfCommand(words []string) string {
	if words[0] == "cat" && len(words) > 1 && strings.HasPrefix(words[1], ">") {
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

func isFileOperation(command string) bool {
	return slices.ContainsFunc(commands(command), func(words []string) bool { return slices.Contains(filePrograms, words[0]) })
}

// commandMember finds the command in a shell's arguments, which may be cut off: a text, or the last of a list.
var commandMember = regexp.MustCompile(`"(?:command|cmd)"\s*:\s*(?:\[(?:\s*"(?:[^"\\]|\\.)*"\s*,)*\s*)?"((?:[^"\\]|\\.)*)`)

// commandOf returns the command line of a call, written as TOOL ARGUMENTS, or "" if it has none.
func commandOf(call string) string {
	found := commandMember.FindStringSubmatch(call)
	if found == nil {
		return ""
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, " ", `\"`, `"`, `\\`, `\`).Replace(found[1])
}

var commandEnd = regexp.MustCompile(`&&|\|\||[;\n]`)

// commands returns the words of each command of a line. Of a pipe only the first counts: what comes behind it reads what it
// is given, and no file.
func commands(line string) [][]string {
	var all [][]string
	for _, part := range commandEnd.Split(line, -1) {
		first, _, _ := strings.Cut(part, "|")
		words := strings.Fields(first)
		for len(words) > 0 && (words[0] == "sudo" || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
		if len(words) > 0 {
			all = append(all, words)
		}
	}
	return all
}
