package rewrite

import (
	"fmt"
	"slices"
	"strings"
)

// Forms returns all forms. The first one changes nothing.
func Forms() []Form {
	return slices.Concat([]Form{{Name: "as_they_are", Title: "nothing else"}}, names(), arguments(), objects(), wrappings(), additions(), exchanges(),
		agentLines(), agentObjects())
}

// names are forms of names of tools.
func names() []Form {
	return []Form{
		{Name: "mcp_names", Title: "names of MCP servers: `mcp__box__bash`", call: named(func(tool string) string { return "mcp__box__" + tool })},
		{Name: "class_names", Title: "names such as `BashTool`", call: named(func(tool string) string { return camel(tool) + "Tool" })},
		{Name: "vs_code_shell", Title: "a shell `run_in_terminal`, with an `explanation`", call: vsCode},
		{Name: "goose_shell", Title: "a shell `developer__shell`", call: shellNamed("developer__shell")},
		{Name: "run_shell_command", Title: "a shell `run_shell_command`", call: shellNamed("run_shell_command")},
		{Name: "execute_bash", Title: "a shell `execute_bash`", call: shellNamed("execute_bash")},
	}
}

// arguments are forms of arguments.
func arguments() []Form {
	return []Form{
		{Name: "command_line", Title: "the command as `CommandLine`", call: func(c *call) { c.setCommand(members{"CommandLine": c.command}) }},
		{Name: "command_text", Title: "the command as the only argument, a text", call: func(c *call) { c.setCommand(c.command) }},
		{Name: "command_argv", Title: "the command as a list: `[\"bash\",\"-lc\",\"ls\"]`", call: func(c *call) { c.setCommand(members{"command": []string{"bash", "-lc", c.command}}) }},
		{Name: "keystrokes", Title: "a list of `keystrokes`", call: func(c *call) {
			c.setCommand(members{"commands": []members{{"keystrokes": c.command + "\n", "duration": 0.1}}})
		}},
		{Name: "nested_arguments", Title: "arguments within `{\"input\":{…}}`", call: func(c *call) { c.set("args", members{"input": c.entry["args"]}) }},
		{Name: "packed_arguments", Title: "arguments as JSON in a string: `\"{\\\"command\\\":\\\"ls\\\"}\"`", call: func(c *call) { c.set("args", string(c.entry["args"])) }},
		{Name: "explanation", Title: "an `explanation` that differs from call to call", call: func(c *call) { c.add("explanation", explanations[c.n%len(explanations)]) }},
		{Name: "numbered_calls", Title: "a `call_id` that differs from call to call", call: func(c *call) { c.add("call_id", callID(c.n)) }},
		{Name: "change_folder", Title: "`cd /repo && ` before each command", call: func(c *call) { c.add("command", "cd /repo && "+c.command) }},
	}
}

// objects are forms of results that are objects, and bare ones.
func objects() []Form {
	return []Form{
		{Name: "object_results", Title: "results `{\"output\":…,\"metadata\":{\"exit_code\":0}}`", call: func(c *call) { c.print(withMetadata(c)) }},
		{Name: "packed_results", Title: "these as JSON in a string", call: func(c *call) { c.print(packed(withMetadata(c))) }},
		{Name: "mcp_results", Title: "results of MCP servers", call: func(c *call) { c.eachResult(mcpResult) }},
		{Name: "packed_mcp_results", Title: "results of MCP servers as JSON in a string", call: func(c *call) {
			c.eachResult(func(text string, failed bool) any { return packed(mcpResult(text, failed)) })
		}},
		{Name: "results_with_ids", Title: "results `{\"tool_call_id\":…,\"content\":…}`", call: func(c *call) {
			c.eachResult(func(text string, _ bool) any { return members{"tool_call_id": callID(c.n), "content": text} })
		}},
		{Name: "successes", Title: "results `{\"success\":true,\"data\":…}`", call: func(c *call) {
			c.eachResult(func(text string, failed bool) any { return members{"success": !failed, "data": text} })
		}},
		{Name: "streams", Title: "`stdout` and `stderr` in an object, without an exit code", call: func(c *call) { c.print(streams(c)) }},
		{Name: "bare_output", Title: "bare output, without an exit code", call: func(c *call) { c.print(c.output) }},
	}
}

// wrappings are forms of what tools write before and behind an output, and frameworks before a result.
func wrappings() []Form {
	return []Form{
		{Name: "codex_lines", Title: "the lines of Codex before an output", call: func(c *call) {
			c.print(fmt.Sprintf("Exit code: %d\nWall time: %.1f seconds\nOutput:\n%s", c.exit, float64(c.n%7)/10, c.output))
		}},
		{Name: "cursor_lines", Title: "the lines of Cursor around an output", call: func(c *call) { c.print(cursor(c)) }},
		{Name: "gemini_lines", Title: "the lines of Gemini CLI around an output", call: func(c *call) { c.print(gemini(c)) }},
		{Name: "openhands_lines", Title: "the lines of OpenHands behind an output", call: func(c *call) {
			c.print(fmt.Sprintf("%s\n[The command completed with exit code %d.]\n[Current working directory: /w]\n[Python interpreter: /usr/bin/python]\n[Command finished with exit code %d]", c.output, c.exit, c.exit))
		}},
		{Name: "swe_agent_lines", Title: "the lines of SWE-agent behind an output", call: func(c *call) {
			c.print(strings.TrimSuffix(c.output, "\n") + "\n(Open file: n/a)\n(Current directory: /repo)\nbash-$")
		}},
		{Name: "roo_code_lines", Title: "the lines of Roo Code before an output", call: func(c *call) {
			c.print(fmt.Sprintf("Command executed in terminal within working directory '/repo'. Exit code: %d\nOutput:\n%s", c.exit, c.output))
		}},
		{Name: "desktop_commander_lines", Title: "the lines of Desktop Commander before an output", call: func(c *call) {
			c.print(fmt.Sprintf("Process started with PID %d (shell: /bin/bash)\nInitial output:\n%s", 4000+17*c.n, c.output))
		}},
		{Name: "tagged_output", Title: "an output in tags: `<stdout>…</stdout>`", call: func(c *call) {
			c.print(fmt.Sprintf("<stdout>\n%s\n</stdout>\n<exit_code>%d</exit_code>", c.output, c.exit))
		}},
		{Name: "observations", Title: "`Observation: ` before each result", call: func(c *call) { c.eachText(func(text string) string { return "Observation: " + text }) }},
		{Name: "named_results", Title: "`Tool result of bash (call_…):` before each result", call: func(c *call) {
			c.eachText(func(text string) string {
				return fmt.Sprintf("Tool result of %s (%s):\n%s", c.entry.text("tool"), callID(c.n), text)
			})
		}},
		{Name: "langchain_messages", Title: "LangChain's messages: `content='…' name='bash' tool_call_id='…'`", call: func(c *call) {
			c.eachText(func(text string) string {
				return fmt.Sprintf("content=%s name='%s' tool_call_id='%s'", quoted(text), c.entry.text("tool"), callID(c.n))
			})
		}},
	}
}

// additions are forms of what is added within and behind results.
func additions() []Form {
	return []Form{
		{Name: "reminders", Title: "`<system-reminder>` behind half of the results", call: reminder},
		{Name: "durations", Title: "`(took 0.4 s)` behind each result", call: func(c *call) {
			c.eachText(func(text string) string { return fmt.Sprintf("%s\n(took %d.%d s)", text, c.n%3, 1+c.n%8) })
		}},
		{Name: "colours", Title: "colours", call: func(c *call) { c.shellText(coloured) }},
		{Name: "pasted", Title: "the codes of a terminal that pastes", call: func(c *call) {
			c.shellText(func(text string) string { return "\x1b[?2004l\r" + text + "\x1b[?2004h" })
		}},
		{Name: "terminal_lines", Title: "line ends of a terminal: `\\r\\n`", call: func(c *call) { c.shellText(func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }) }},
		{Name: "prompts", Title: "the prompt and the command before an output", call: func(c *call) { c.print(prompted(c)) }},
		{Name: "prompts_after", Title: "the prompt before and behind an output", call: func(c *call) { c.print(prompted(c) + "\nroot@box:/repo# ") }},
		{Name: "timestamps", Title: "a time before each line of an output", call: func(c *call) { c.shellText(c.timed) }},
		{Name: "numbered_lines", Title: "a number before each line of an output", call: func(c *call) { c.shellText(numbered) }},
		{Name: "cut_outputs", Title: "`[... 4,000 characters omitted ...]` in outputs over 2,000", call: func(c *call) { c.shellText(cut) }},
	}
}

// exchanges are forms of messages, and calls that become two.
func exchanges() []Form {
	return []Form{
		{Name: "thoughts", Title: "messages as calls of `think`", message: thought},
		{Name: "no_messages", Title: "no messages", message: func(_ int, e entry) entry { e.set("text", ""); return e }},
		{Name: "polled_outputs", Title: "a command and its output as two calls", after: polled},
	}
}
