package webhook

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/unloop-ai/unloop/internal/sink"
)

// slackMessage is a message with blocks for incoming webhooks of Slack.
type slackMessage struct {
	Text   string  `json:"text"` // for notifications and clients without blocks
	Blocks []block `json:"blocks"`
}

type block struct {
	Type     string      `json:"type"`
	Text     *slackText  `json:"text,omitempty"`
	Elements []slackText `json:"elements,omitempty"`
}

type slackText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Slack rejects messages with longer texts.
const (
	maxHeadline = 150  // characters
	maxSection  = 3000 // after escaping
)

// slackOf returns a notice with a link to the page of the run, unless url is "".
func slackOf(n *sink.Notice, url string) *slackMessage {
	headline := headlineOf(n)
	s := &slackMessage{Text: escape(headline, maxSection), Blocks: []block{
		{Type: "header", Text: &slackText{"plain_text", cut(headline, maxHeadline)}},
	}}
	section := func(label, text string) {
		if text != "" {
			s.Blocks = append(s.Blocks, block{Type: "section", Text: &slackText{"mrkdwn", "*" + label + "* " + escape(text, maxSection-20)}})
		}
	}
	section("What happened:", n.Warning.Message)
	section("Why it matters:", n.Why)
	section("Try:", n.Try)
	about := fmt.Sprintf("%s · %s · health %d of 100 · run %s",
		escape(n.Run.Project, 200), n.Warning.Severity, n.Run.HealthScore, n.Run.Status)
	if url != "" {
		about += " · <" + escape(url, 2000) + "|Open the run>"
	}
	s.Blocks = append(s.Blocks, block{Type: "context", Elements: []slackText{{"mrkdwn", about}}})
	return s
}

// headlineOf returns a summary in one line.
func headlineOf(n *sink.Notice) string {
	name := n.Run.Name
	switch n.Level {
	case sink.Test:
		return "Test message of unloop"
	case sink.Halt:
		return fmt.Sprintf("%s %s: %s", name, happened(n, "was halted", "would be halted"), n.Warning.Type)
	case sink.Block:
		return fmt.Sprintf("%s %s: %s", name, happened(n, "had a call blocked", "would have a call blocked"), n.Warning.Type)
	case sink.Grown:
		return fmt.Sprintf("%s continues, %d times so far: %s", name, *n.Warning.Count, n.Warning.Type)
	}
	return fmt.Sprintf("%s: %s", name, n.Warning.Type)
}

// happened returns what the guard of the run did, or what one would do in an observed run.
func happened(n *sink.Notice, did, would string) string {
	if d := n.Decision; d != nil && d.ByGuard {
		return did + " by the guard"
	}
	return would
}

// escape escapes links and mentions of Slack, and cuts the text to the given number of characters, including escapes.
func escape(text string, most int) string {
	var b strings.Builder
	length := 0
	for _, r := range text {
		escaped := string(r)
		switch r {
		case '&':
			escaped = "&amp;"
		case '<':
			escaped = "&lt;"
		case '>':
			escaped = "&gt;"
		}
		if length += utf8.RuneCountInString(escaped); length >= most {
			return b.String() + "…"
		}
		b.WriteString(escaped)
	}
	return b.String()
}

// cut cuts a text to the given number of characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
