// Package scan reads traces from files. A Scanner returns a verdict on each run, an Importer passes the events to a server, and a
// Follower does so while the files grow. Formats lists the formats.
package scan

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/ingest/anthropic"
	"github.com/unloop-ai/unloop/internal/ingest/atif"
	"github.com/unloop-ai/unloop/internal/ingest/autogen"
	"github.com/unloop-ai/unloop/internal/ingest/claudecode"
	"github.com/unloop-ai/unloop/internal/ingest/cline"
	"github.com/unloop-ai/unloop/internal/ingest/codex"
	"github.com/unloop-ai/unloop/internal/ingest/copilot"
	"github.com/unloop-ai/unloop/internal/ingest/cursor"
	"github.com/unloop-ai/unloop/internal/ingest/gemini"
	"github.com/unloop-ai/unloop/internal/ingest/labelled"
	"github.com/unloop-ai/unloop/internal/ingest/langfuse"
	"github.com/unloop-ai/unloop/internal/ingest/langsmith"
	"github.com/unloop-ai/unloop/internal/ingest/minisweagent"
	"github.com/unloop-ai/unloop/internal/ingest/native"
	"github.com/unloop-ai/unloop/internal/ingest/openai"
	"github.com/unloop-ai/unloop/internal/ingest/openaiagents"
	"github.com/unloop-ai/unloop/internal/ingest/opencode"
	"github.com/unloop-ai/unloop/internal/ingest/openhands"
	"github.com/unloop-ai/unloop/internal/ingest/otlp"
	"github.com/unloop-ai/unloop/internal/ingest/sweagent"
	"github.com/unloop-ai/unloop/internal/ingest/taubench"
)

// Formats returns the formats in the order in which they are tried.
func Formats() []ingest.Format {
	return []ingest.Format{
		native.Format(),
		labelled.Format(),
		claudecode.Sessions(),
		claudecode.Stream(),
		codex.Format(),
		gemini.Format(),
		copilot.Format(),
		cursor.Stream(),
		cursor.Transcript(),
		cline.History(),
		cline.Page(),
		opencode.Format(),
		openhands.Format(),
		sweagent.Format(),
		minisweagent.Format(),
		atif.Format(),
		taubench.Format(),
		autogen.Messages(),
		autogen.Chat(),
		openaiagents.Format(),
		langsmith.Format(),
		langfuse.Format(),
		otlp.Format(),
		anthropic.Format(),
		openai.Format(),
	}
}

// CheckFormat returns an error if there is no input format with the name.
func CheckFormat(name string) error {
	_, err := formatNamed(name)
	return err
}

// formatNamed returns the format with the name.
func formatNamed(name string) (ingest.Format, error) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
	}
	return ingest.Format{}, fmt.Errorf("unknown input format %q; formats: %s", name, formatNames())
}

// formatNames lists the names for people.
func formatNames() string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// sniff returns the format of an input that begins with head.
func sniff(head []byte) (ingest.Format, bool) {
	head = bytes.TrimPrefix(head, []byte(ingest.BOM))
	for _, f := range Formats() {
		if f.Sniff(head) {
			return f, true
		}
	}
	return ingest.Format{}, false
}
