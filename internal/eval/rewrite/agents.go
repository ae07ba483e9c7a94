package rewrite

import (
	"fmt"
	"strconv"
	"strings"
)

// agentLines are forms of the lines that an agent's program writes around an output.
func agentLines() []Form {
	return []Form{
		{Name: "codex_chunks", Title: "the lines of Codex's `exec_command` before an output", call: codexChunk},
		{Name: "cline_lines", Title: "the lines of Cline before an output: `[execute_command for 'ls'] Result:`", call: func(c *call) {
			c.print(fmt.Sprintf("[execute_command for '%s'] Result:\nCommand executed.\nOutput:\n%s", c.command, c.output))
		}},
		{Name: "autogen_lines", Title: "the lines of AutoGen before an output: `exitcode: 0 (execution succeeded)`", call: func(c *call) {
			c.print(fmt.Sprintf("exitcode: %d (%s)\nCode output: \n%s", c.exit, either(c, "execution succeeded", "execution failed"), c.output))
		}},
		{Name: "smolagents_logs", Title: "the lines of smolagents around an output: `Execution logs:`", call: func(c *call) {
			c.print("Execution logs:\n" + c.output + "\nLast output from code snippet:\nNone")
		}},
		{Name: "copilot_lines", Title: "the line of Copilot behind an output: `<exited with exit code 0>`", call: func(c *call) {
			c.print(fmt.Sprintf("%s\n<exited with exit code %d>", c.output, c.exit))
		}},
		{Name: "crush_lines", Title: "the line of Crush behind an output: `<cwd>/repo</cwd>`", call: func(c *call) { c.print(c.output + "\n\n<cwd>/repo</cwd>") }},
		{Name: "aider_lines", Title: "the lines of Aider around an output: `I ran this command:`", call: func(c *call) {
			c.print(fmt.Sprintf("I ran this command:\n\n%s\n\nAnd got this output:\n\n%s\n", c.command, c.output))
		}},
		{Name: "gemini_short_lines", Title: "the short lines of Gemini CLI around an output", call: func(c *call) { c.print(geminiShort(c)) }},
		{Name: "stream_headings", Title: "headings before the output and the errors: `STDOUT:`", call: func(c *call) {
			s := streams(c)
			c.print(fmt.Sprintf("exit=%d\nSTDOUT:\n%s\nSTDERR:\n%s", c.exit, orEmpty(s["stdout"]), orEmpty(s["stderr"])))
		}},
		{Name: "folder_resets", Title: "`Shell cwd was reset to /repo` behind each output", call: func(c *call) {
			c.shellText(func(text string) string { return text + "\nShell cwd was reset to /repo" })
		}},
		{Name: "environment_details", Title: "`<environment_details>` with the time behind each result", call: func(c *call) { c.eachText(c.details) }},
		{Name: "openmanus_lines", Title: "``Observed output of cmd `bash` executed:`` before each result", call: func(c *call) {
			c.eachText(func(text string) string {
				return fmt.Sprintf("Observed output of cmd `%s` executed:\n%s", c.entry.text("tool"), text)
			})
		}},
		{Name: "execution_results", Title: "`EXECUTION RESULT of [bash]:` before each result", call: func(c *call) {
			c.eachText(func(text string) string {
				return fmt.Sprintf("EXECUTION RESULT of [%s]:\n%s", c.entry.text("tool"), text)
			})
		}},
		{Name: "function_results", Title: "each result in tags: `<function_results>`", call: func(c *call) {
			c.eachText(func(text string) string {
				return fmt.Sprintf("<function_results>\n<result>\n<tool_name>%s</tool_name>\n<stdout>\n%s\n</stdout>\n</result>\n</function_results>", c.entry.text("tool"), text)
			})
		}},
		{Name: "terminal_output", Title: "what is new in a terminal: `New Terminal Output:`", call: func(c *call) { c.print("New Terminal Output:\n\n" + prompted(c) + "\nroot@box:/repo# ") }},
		{Name: "terminal_screens", Title: "the last 40 lines of a terminal after each command", call: func(c *call) { c.print(c.onScreen()) }},
	}
}

// agentObjects are forms of the objects that the programs and protocols of agents make of results, and of arguments they add.
func agentObjects() []Form {
	return []Form{
		{Name: "openhands_observations", Title: "observations of OpenHands: `{\"kind\":\"TerminalObservation\",…}`", call: openHands},
		{Name: "kimi_blocks", Title: "results of Kimi CLI: `[{\"type\":\"text\",\"text\":\"<system>Command executed successfully.</system>\"},…]`", call: func(c *call) {
			status := either(c, "<system>Command executed successfully.</system>", fmt.Sprintf("<system>ERROR: Command failed with exit code: %d.</system>", c.exit))
			c.print([]members{{"type": "text", "text": status}, {"type": "text", "text": c.output}})
		}},
		{Name: "responses_outputs", Title: "results `{\"type\":\"function_call_output\",\"call_id\":…,\"output\":…}`", call: func(c *call) {
			c.eachResult(func(text string, _ bool) any {
				return members{"type": "function_call_output", "call_id": callID(c.n), "output": text}
			})
		}},
		{Name: "tool_result_blocks", Title: "results `{\"type\":\"tool_result\",\"tool_use_id\":…,\"content\":[…],\"is_error\":false}`", call: func(c *call) {
			c.eachResult(func(text string, failed bool) any {
				return members{"type": "tool_result", "tool_use_id": "tou" + callID(c.n), "content": []members{{"type": "text", "text": text}}, "is_error": failed}
			})
		}},
		{Name: "vercel_outputs", Title: "results of the AI SDK: `{\"type\":\"tool-result\",…,\"output\":{\"type\":\"text\",\"value\":…}}`", call: func(c *call) {
			c.eachResult(func(text string, failed bool) any {
				kind := "text"
				if failed {
					kind = "error-text"
				}
				return members{"type": "tool-result", "toolCallId": callID(c.n), "toolName": c.entry.text("tool"), "output": members{"type": kind, "value": text}}
			})
		}},
		{Name: "gemini_responses", Title: "results `{\"functionResponse\":{\"id\":…,\"name\":…,\"response\":{\"output\":…}}}`", call: func(c *call) {
			c.eachResult(func(text string, failed bool) any {
				name := "output"
				if failed {
					name = "error"
				}
				tool := c.entry.text("tool")
				return members{"functionResponse": members{"id": fmt.Sprintf("%s_%d_0", tool, 1781237829208+7919*c.n), "name": tool, "response": members{name: text}}}
			})
		}},
		{Name: "amazon_q_results", Title: "results of Amazon Q: `{\"success\":true,\"result\":[{\"exit_status\":\"0\",\"stdout\":…}]}`", call: func(c *call) {
			s := streams(c)
			c.print(members{"success": true, "result": []members{{"exit_status": strconv.Itoa(c.exit), "stdout": s["stdout"], "stderr": s["stderr"]}}})
		}},
		{Name: "audiences", Title: "each result twice, for the model and for the user: `\"annotations\":{\"audience\":[\"assistant\"]}`", call: func(c *call) {
			c.eachResult(func(text string, _ bool) any {
				return []members{
					{"type": "text", "text": text, "annotations": members{"audience": []string{"assistant"}}},
					{"type": "text", "text": text, "annotations": members{"audience": []string{"user"}, "priority": 0.0}},
				}
			})
		}},
		{Name: "langgraph_messages", Title: "LangGraph's messages: `{\"content\":…,\"type\":\"tool\",\"name\":\"bash\",\"id\":…,\"status\":\"success\"}`", call: func(c *call) {
			c.eachResult(func(text string, failed bool) any {
				status := "success"
				if failed {
					status = "error"
				}
				return members{
					"content": text, "additional_kwargs": members{}, "response_metadata": members{}, "type": "tool", "name": c.entry.text("tool"),
					"id": uuid(c.n), "tool_call_id": callID(c.n), "artifact": nil, "status": status,
				}
			})
		}},
		{Name: "security_risks", Title: "a `summary` that differs from call to call, and a `security_risk`", call: func(c *call) {
			c.add("summary", explanations[c.n%len(explanations)])
			c.add("security_risk", "LOW")
		}},
		{Name: "sequential_thoughts", Title: "messages as calls of `sequentialthinking`", message: sequentialThought},
	}
}

// either returns one of two texts: whether the command of a shell succeeded.
func either(c *call, succeeded, failed string) string {
	if c.exit == 0 {
		return succeeded
	}
	return failed
}

func orEmpty(text any) any {
	if text == "" {
		return "(empty)"
	}
	return text
}

// uuid returns an id that differs from call to call.
func uuid(n int) string {
	a, b := uint32(n+1)*2654435761, uint32(n+1)*2246822519
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%08x%04x", a, b>>16, a&0xfff, b&0xfff, b^a, a>>16)
}

func codexChunk(c *call) {
	shellNamed("exec_command")(c)
	c.setCommand(members{"cmd": c.command, "workdir": "/repo", "yield_time_ms": 1000, "max_output_tokens": 6000})
	c.print(fmt.Sprintf("Chunk ID: %06x\nWall time: 0.%04d seconds\nProcess exited with code %d\nOriginal token count: %d\nOutput:\n%s",
		uint32(c.n+1)*2654435761>>8, 73*c.n%10000, c.exit, (len(c.output)+3)/4, c.output))
}

func geminiShort(c *call) string {
	text := "Output: " + fmt.Sprint(orEmpty(c.output))
	if c.exit != 0 {
		text += fmt.Sprintf("\nExit Code: %d", c.exit)
	}
	return fmt.Sprintf("%s\nProcess Group PGID: %d", text, 4500+13*c.n)
}

// details returns a text with what Cline and Roo Code say of the editor behind it.
func (c *call) details(text string) string {
	at := 23 * c.n
	return fmt.Sprintf("%s\n\n<environment_details>\n# VSCode Visible Files\nsrc/app.py\n\n# Current Time\nCurrent time in ISO 8601 UTC format: 2026-03-04T%02d:%02d:%02d.%03dZ\n\n"+
		"# Current Cost\n$%d.%02d\n\n# Current Mode\n<slug>code</slug>\n</environment_details>", text, 8+at/3600%12, at/60%60, at%60, 7*c.n%1000, c.n/40, c.n%40*5/2)
}

// onScreen adds the command and its output to the terminal of the run, and returns the last 40 lines.
func (c *call) onScreen() string {
	const height = 40
	lines := append(*c.screen, strings.Split(prompted(c), "\n")...)
	lines = lines[max(0, len(lines)-height+1):]
	*c.screen = lines
	return "Current Terminal Screen:\n" + strings.Join(lines, "\n") + "\nroot@box:/repo# "
}

// openHands rewrites a shell as the software development kit of OpenHands records it.
func openHands(c *call) {
	shellNamed("terminal")(c)
	c.setCommand(members{"command": c.command, "is_input": false, "timeout": nil, "reset": false, "security_risk": "LOW"})
	c.print(members{
		"content": []members{{"cache_prompt": false, "type": "text", "text": c.output}}, "is_error": false, "command": c.command, "exit_code": c.exit, "timeout": false,
		"metadata": members{
			"exit_code": c.exit, "pid": -1, "username": "root", "hostname": "0b842f439082", "working_dir": "/repo", "py_interpreter_path": "/usr/local/bin/python",
			"prefix": "", "suffix": fmt.Sprintf("\n[The command completed with exit code %d.]", c.exit),
		},
		"full_output_save_dir": nil, "kind": "TerminalObservation",
	})
}

// sequentialThought returns a message as a call of the tool that numbers thoughts.
func sequentialThought(n int, e entry) entry {
	call := thought(n, e)
	if call.text("kind") != "tool_call" {
		return e
	}
	call.set("tool", "sequentialthinking")
	call.set("args", members{"thought": e.text("text"), "thoughtNumber": n + 1, "totalThoughts": n + 5, "nextThoughtNeeded": true})
	call.set("result", packed(members{"thoughtNumber": n + 1, "totalThoughts": n + 5, "nextThoughtNeeded": true, "branches": []string{}, "thoughtHistoryLength": n + 1}))
	return call
}
