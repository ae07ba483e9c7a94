package otlp

import (
	"github.com/unloop-ai/unloop"

	"github.com/unloop-ai/unloop/internal/trace"
)

// claudeCode reads a log record of Claude Code. Contents are present only if the user has enabled them.
func (r *record) claudeCode() []*unloop.Event {
	switch r.name {
	case "tool_result":
		input := r.json("tool_input")
		if input == "" {
			input = r.json("tool_parameters")
		}
		return r.toolCall(toolResult{
			callID: r.text("tool_use_id"), tool: r.text("tool_name"),
			input: input, inputSize: r.count("tool_input_size_bytes"),
			output: r.json("tool_output"), outputSize: r.count("tool_result_size_bytes"),
		})
	case "api_request", "api_error":
		return r.modelCall(r.text("request_id"), r.anthropicUsage(), r.number("cost_usd"))
	case "user_prompt":
		return r.message(unloop.RoleUser, "prompt")
	case "assistant_response":
		return r.message(unloop.RoleAssistant, "response", "response_text", "text")
	}
	return nil
}

// codex reads a log record of Codex. The end of a response has its tokens. Requests are present only if they fail.
func (r *record) codex() []*unloop.Event {
	switch r.name {
	case "tool_result":
		return r.toolCall(toolResult{
			callID: r.text("call_id"), tool: r.text("tool_name"), input: r.json("arguments"), output: r.json("output"),
		})
	case "api_request":
		if r.text("error.message") != "" {
			return r.modelCall("", trace.Usage{}, 0)
		}
	case "sse_event":
		if r.text("event.kind") != "response.completed" && r.text("error.message") == "" {
			return nil
		}
		return r.modelCall("", trace.Usage{
			Input:       r.count("input_token_count"),
			Output:      r.count("output_token_count"),
			CachedInput: r.count("cached_token_count"),
			Reasoning:   r.count("reasoning_token_count"),
		}, 0)
	case "user_prompt":
		return r.message(unloop.RoleUser, "prompt")
	}
	return nil
}

// gemini reads a log record of Gemini CLI. Its calls have no ids. Thoughts of the model are separate from its messages.
func (r *record) gemini() []*unloop.Event {
	switch r.name {
	case "tool_call":
		return r.toolCall(toolResult{
			callID: r.text("gen_ai.tool.call.id", "gen_ai.tool.call_id"), tool: r.text("function_name"),
			input: r.json("function_args"), outputSize: r.count("content_length"),
		})
	case "api_response", "api_error":
		return r.modelCall("", trace.Usage{
			Input:       r.count("input_token_count"),
			Output:      r.count("output_token_count") + r.count("thoughts_token_count"),
			CachedInput: r.count("cached_content_token_count"),
			Reasoning:   r.count("thoughts_token_count"),
		}, 0)
	case "user_prompt":
		return r.message(unloop.RoleUser, "prompt")
	}
	return nil
}
