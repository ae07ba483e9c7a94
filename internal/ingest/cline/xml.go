package cline

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// tools are the names that calls in XML may have, in Cline and in Roo Code.
var tools = []string{
	"execute_command", "read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_and_replace", "edit_file",
	"search_files", "list_files", "list_code_definition_names", "codebase_search", "browser_action", "web_fetch", "web_search",
	"use_mcp_tool", "access_mcp_resource", "load_mcp_documentation", "ask_followup_question", "attempt_completion", "plan_mode_respond",
	"act_mode_respond", "new_task", "switch_mode", "fetch_instructions", "update_todo_list", "new_rule", "condense", "run_slash_command",
	"generate_image", "use_skill", "use_subagents",
}

// xmlCall is a call in XML: its parameters are the tags in it, which are not nested.
type xmlCall struct {
	tool       string
	parameters map[string]string
}

var openingTag = regexp.MustCompile(`<([a-z_]+)>`)

// parse returns the text of an answer without its thoughts and its calls, and the calls.
func parse(text string) (string, []xmlCall) {
	text = without(text, "thinking")
	var calls []xmlCall
	var rest strings.Builder
	cut := make(map[string]bool) // tools without a further closing tag
	for {
		at := openingTag.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		tool := text[at[2]:at[3]]
		inner, after, closed := "", "", false
		if slices.Contains(tools, tool) && !cut[tool] {
			inner, after, closed = strings.Cut(text[at[1]:], "</"+tool+">")
		}
		if !closed {
			cut[tool] = true
			rest.WriteString(text[:at[1]])
			text = text[at[1]:]
			continue
		}
		rest.WriteString(text[:at[0]])
		calls = append(calls, xmlCall{tool, parameters(inner)})
		text = after
	}
	rest.WriteString(text)
	return strings.TrimSpace(rest.String()), calls
}

func without(text, tag string) string {
	before, rest, found := strings.Cut(text, "<"+tag+">")
	_, after, closed := strings.Cut(rest, "</"+tag+">")
	if !found || !closed {
		return text
	}
	return before + after
}

// parameters returns the parameters of a call. The content of a file may contain tags, so a parameter ends with its last closing tag
// before the next parameter.
func parameters(inner string) map[string]string {
	found := make(map[string]string)
	for {
		at := openingTag.FindStringSubmatchIndex(inner)
		if at == nil {
			return found
		}
		name := inner[at[2]:at[3]]
		value, after, closed := cutLast(inner[at[1]:], "</"+name+">", name == "content" || name == "diff")
		if !closed {
			return found
		}
		found[name] = strings.TrimSpace(value)
		inner = after
	}
}

func cutLast(text, end string, last bool) (before, after string, found bool) {
	i := strings.Index(text, end)
	if last {
		i = strings.LastIndex(text, end)
	}
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(end):], true
}

// arguments returns the parameters as JSON, with the members in the order of their names.
func (c *xmlCall) arguments() json.RawMessage {
	raw, err := json.Marshal(c.parameters)
	if err != nil { // texts can always be encoded
		return ingest.Text("")
	}
	return raw
}
