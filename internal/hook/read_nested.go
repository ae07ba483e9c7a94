package hook

import (
	"cmp"
	"encoding/json"
)

// clineInput is the part of an input that Cline nests. Its extension has preToolUse and postToolUse. Its command line has tool_call and
// tool_result besides, with the id of the call and its arguments as they are.
type clineInput struct {
	HookName  string                  `json:"hookName"`
	TaskID    string                  `json:"taskId"`
	Folders   []string                `json:"workspaceRoots"`
	ParentID  string                  `json:"parent_agent_id"` // "" for the main agent
	Pre       *clineCall              `json:"preToolUse"`
	Post      *clineCall              `json:"postToolUse"`
	Call      *clineCall              `json:"tool_call"`
	Ended     *clineCall              `json:"tool_result"`
	Submitted struct{ Prompt string } `json:"userPromptSubmit"`
}

type clineCall struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Tool       string          `json:"tool"`
	ToolName   string          `json:"toolName"`
	Input      json.RawMessage `json:"input"`
	Parameters json.RawMessage `json:"parameters"`
	Output     json.RawMessage `json:"output"`
	Result     json.RawMessage `json:"result"`
	Error      json.RawMessage `json:"error"`
	Success    *bool           `json:"success"`
	DurationMS float64         `json:"durationMs"`
	TookMS     float64         `json:"executionTimeMs"`
}

// fromCline fills the fields that agents share.
func (in *input) fromCline() {
	in.SessionID, in.EventName, in.Roots = in.TaskID, in.HookName, in.Folders
	if in.ParentID == "" {
		in.AgentID = "" // the command line has it for the main agent, too
	}
	switch in.HookName {
	case "PreToolUse", "tool_call":
		in.EventName = "PreToolUse"
		in.fromClineCall(cmp.Or(in.Call, in.Pre))
	case "PostToolUse", "tool_result":
		in.EventName = "PostToolUse"
		in.fromClineCall(cmp.Or(in.Ended, in.Post))
	case "UserPromptSubmit", "prompt_submit":
		in.EventName, in.Prompt = "UserPromptSubmit", in.Submitted.Prompt
	}
}

func (in *input) fromClineCall(c *clineCall) {
	if c == nil {
		return
	}
	in.CallID, in.Tool = c.ID, cmp.Or(c.Name, c.ToolName, c.Tool)
	in.Args, in.Response, in.Error = firstOf(c.Input, c.Parameters), firstOf(c.Output, c.Result), c.Error
	in.DurationMS = cmp.Or(c.DurationMS, c.TookMS)
	if c.Success != nil && !*c.Success {
		in.Error = firstOf(c.Result, json.RawMessage(`"failed"`))
	}
}

// windsurfInput is the part of an input that only Windsurf has.
type windsurfInput struct {
	Action     string          `json:"agent_action_name"`
	Trajectory string          `json:"trajectory_id"`
	Info       json.RawMessage `json:"tool_info"`
}

var windsurfKinds = map[string]Kind{
	"pre_read_code": Before, "pre_write_code": Before, "pre_run_command": Before, "pre_mcp_tool_use": Before, "post_mcp_tool_use": After,
	"pre_user_prompt": Prompt,
}

// windsurfTools has the tool of each event that names none.
var windsurfTools = map[string]string{"pre_read_code": "read_code", "pre_write_code": "write_code", "pre_run_command": "run_command"}

// fromWindsurf fills the fields that agents share.
func (in *input) fromWindsurf() {
	var info struct {
		Dir    string          `json:"cwd"`
		Prompt string          `json:"user_prompt"`
		Server string          `json:"mcp_server_name"`
		Tool   string          `json:"mcp_tool_name"`
		Args   json.RawMessage `json:"mcp_tool_arguments"`
		Result json.RawMessage `json:"mcp_result"`
	}
	_ = json.Unmarshal(in.Info, &info) // what has another type is empty
	in.SessionID, in.EventName, in.Dir, in.Prompt = in.Trajectory, in.Action, info.Dir, info.Prompt
	in.Tool, in.Args = windsurfTools[in.Action], in.Info
	if info.Tool != "" {
		in.Tool, in.Args, in.Response = "mcp__"+info.Server+"__"+info.Tool, info.Args, info.Result
	}
}
