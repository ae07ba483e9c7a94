package policy

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/template"

	"github.com/unloop-ai/unloop"
)

//go:embed nudges
var nudgeFiles embed.FS

// Nudge is what the template of a nudge reads.
type Nudge struct {
	Code    string
	Action  string
	Tool    string // the tool, or the tools joined by |
	Count   int
	Finding unloop.Finding // what it is about; Repeated, Changed and FirstError are of use here
}

// Nudges are the texts for the agent, a template for each code of a profile's policy: nudges/PROFILE/CODE.tmpl, else
// nudges/CODE.tmpl, else nudges/any.tmpl.
type Nudges struct {
	byCode map[string]*template.Template
	any    *template.Template
}

// NewNudges reads the texts of a profile. Own texts, by code, stand in place of the built-in ones; a code that the profile
// does not have is a mistake, and so is a template that cannot be executed.
func NewNudges(profile string, own map[string]string) (*Nudges, error) {
	n := &Nudges{byCode: make(map[string]*template.Template)}
	for _, folder := range []string{"nudges", "nudges/" + profile} {
		entries, err := nudgeFiles.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the nudges: %w", err)
		}
		for _, entry := range entries {
			code, ok := strings.CutSuffix(entry.Name(), ".tmpl")
			if !ok {
				continue
			}
			text, err := nudgeFiles.ReadFile(folder + "/" + entry.Name())
			if err != nil {
				return nil, fmt.Errorf("read the nudges: %w", err)
			}
			if n.byCode[code], err = parseNudge(code, string(text)); err != nil {
				return nil, err
			}
		}
	}
	n.any = n.byCode["any"]
	var mistakes []error
	for code, text := range own {
		t, err := parseNudge(code, text)
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		n.byCode[code] = t
	}
	return n, errors.Join(mistakes...)
}

func parseNudge(code, text string) (*template.Template, error) {
	t, err := template.New(code).Funcs(template.FuncMap{"add": func(a, b int) int { return a + b }}).Parse(text)
	if err == nil {
		err = t.Execute(io.Discard, Nudge{})
	}
	if err != nil {
		return nil, fmt.Errorf("nudges: %s: %w", code, err)
	}
	return t, nil
}

// Text writes the text for a decision.
func (n *Nudges) Text(d *Decision) string {
	t, ok := n.byCode[d.Code]
	if !ok {
		t = n.any
	}
	nudge := Nudge{Code: d.Code, Action: d.Action.String(), Count: d.Count}
	if len(d.Findings) > 0 {
		nudge.Finding = d.Findings[0]
		nudge.Tool = d.Findings[0].Subject
	}
	var b strings.Builder
	if err := t.Execute(&b, nudge); err != nil {
		return d.Message // what the finding says is better than nothing
	}
	return strings.TrimSpace(b.String())
}
