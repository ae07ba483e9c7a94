package ingest

import "strings"

// insertedTags are the tags in which coding agents put instructions, the environment and notices into messages of the user.
var insertedTags = []string{
	"additional_context", "agent_message_board_notification", "environment_context", "hook_context", "recommended_plugins",
	"session_context", "skill", "subagent_notification", "system-reminder", "task-notification", "turn_aborted", "user_instructions", "user_shell_command",
}

// IsInserted reports whether a coding agent, and not a person, wrote a part of a user's message: the part is in one pair of tags
// that such programs use, or contains the instructions of a repository.
func IsInserted(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "# AGENTS.md instructions") {
		return true
	}
	for _, tag := range insertedTags {
		if strings.HasPrefix(text, "<"+tag+">") && strings.HasSuffix(text, "</"+tag+">") {
			return true
		}
	}
	return false
}
