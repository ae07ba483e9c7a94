package policy

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/unloop-ai/unloop"
)

//go:embed nudges
var nudgeFiles embed.FS

// nudgeParts are the templates that nudges share: facts says what repeats, what changed and the first error; list numbers
// the calls; changed and error are single lines of facts. Each begins with a line break where it says anything.
//
//go:embed parts.tmpl
var nudgeParts string

// Nudge is what the template of a nudge reads.
type Nudge struct {
	Code    string
	Action  string
	Tool    string // the tool, or the tools joined by |
	Count   int
	Finding unloop.Finding // what it is about; Repeated, Changed and FirstError are of use here
}

// Calls returns the calls that repeat, oldest first; none where What says them already.
func (n Nudge) Calls() []string {
	for _, call := range n.Finding.Repeated {
		if !strings.Contains(n.Finding.What, call) {
			return n.Finding.Repeated
		}
	}
	return nil
}

// FirstError returns the first error; "" where What says it already.
func (n Nudge) FirstError() string {
	if strings.Contains(n.Finding.What, n.Finding.FirstError) {
		return ""
	}
	return n.Finding.FirstError
}

// Repeats reports whether a call of the kind is among those that repeat: read, search, edit or test.
func (n Nudge) Repeats(kind string) bool {
	return slices.ContainsFunc(n.Finding.Repeated, func(call string) bool { return kindOfCall(call) == kind })
}

// FileOperation reports whether the last call is a shell command that reads or writes a file, such as cat or sed.
func (n Nudge) FileOperation() bool {
	calls := n.Finding.Repeated
	return len(calls) > 0 && isFileOperation(commandOf(calls[len(calls)-1]))
}

// Nudges are the texts for the agent, a template for each code of a profile's policy: nudges/PROFILE/CODE.tmpl, else
// nudges/CODE.tmpl, else nudges/any.tmpl.
type Nudges struct {
	byCode map[string]*template.Template
}

// anyCode is the code of the text for codes that have none of their own.
const anyCode = "any"

// NewNudges reads the texts of a profile. Own texts, by code, stand in place of the built-in ones, and an empty one says
// nothing; a code that the profile
// does not have is a mistake, and so is a template that cannot be executed. The error names all mistakes, each with its code.
func NewNudges(profile string, own map[string]string) (*Nudges, error) {
	n := &Nudges{byCode: make(map[string]*template.Template)}
	for _, folder := range []string{"nudges", "nudges/" + profile} {
		if err := n.read(folder); err != nil {
			return nil, fmt.Errorf("read the nudges: %w", err)
		}
	}
	known := n.Codes()
	var mistakes []error
	for _, code := range slices.Sorted(maps.Keys(own)) {
		if !slices.Contains(known, code) {
			mistakes = append(mistakes, fmt.Errorf("nudges: there is no text %q in profile %s; there are %s", code, profile, strings.Join(known, ", ")))
			continue
		}
		mistakes = append(mistakes, n.Set(code, own[code]))
	}
	return n, errors.Join(mistakes...)
}

// Set puts a text in the place of that for a code, which need not be known. It must not be called while texts are written. The error
// is that of a template that cannot be executed.
func (n *Nudges) Set(code, text string) error {
	t, err := parseNudge(code, text)
	if err == nil {
		n.byCode[code] = t
	}
	return err
}

// Codes returns the codes that have a text, sorted.
func (n *Nudges) Codes() []string { return slices.Sorted(maps.Keys(n.byCode)) }

// read takes the texts of a folder. A profile need not have one.
func (n *Nudges) read(folder string) error {
	entries, err := nudgeFiles.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		code, ok := strings.CutSuffix(entry.Name(), ".tmpl")
		if !ok {
			continue
		}
		text, err := nudgeFiles.ReadFile(folder + "/" + entry.Name())
		if err != nil {
			return err
		}
		if n.byCode[code], err = parseNudge(code, string(text)); err != nil {
			return err
		}
	}
	return nil
}

// parseNudge parses a text and tries it, once with nothing known and once with all, so that it cannot fail later.
func parseNudge(code, text string) (*template.Template, error) {
	functions := template.FuncMap{"add": func(a, b int) int { return a + b }, "sentence": sentence}
	t, err := template.New("parts").Funcs(functions).Parse(nudgeParts)
	if err == nil {
		t, err = t.New(code).Parse(text)
	}
	full := Nudge{Code: code, Action: "warn", Tool: "bash", Count: 3, Finding: unloop.Finding{
		Rule: "rule", Subject: "bash", Count: 3, Score: 1, What: "what", Why: "why", Try: "try", Repeated: []string{"bash a", "bash b"},
		Changed: "changed", FirstError: "error", Period: 2, Workers: 2, Evidence: make([]unloop.EventRef, 1),
	}}
	for _, example := range []Nudge{{}, full} {
		if err == nil {
			err = t.Execute(io.Discard, example)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("nudges: %s: %w", code, err)
	}
	return t, nil
}

// sentence ends a text with a full stop, unless it ends a sentence already.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, "…") || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// Text writes the text for a decision. It is about the finding that decided: the one whose What is the decision's Message,
// else the first.
func (n *Nudges) Text(d *Decision) string {
	t, ok := n.byCode[d.Code]
	if !ok {
		t = n.byCode[anyCode]
	}
	nudge := Nudge{Code: d.Code, Action: d.Action.String(), Count: d.Count}
	if len(d.Findings) > 0 {
		k := slices.IndexFunc(d.Findings, func(f unloop.Finding) bool { return f.What == d.Message })
		nudge.Finding = d.Findings[max(k, 0)]
		nudge.Tool = nudge.Finding.Subject
	}
	var b strings.Builder
	if err := t.Execute(&b, nudge); err != nil {
		return d.Message // what the finding says is better than nothing
	}
	return strings.TrimSpace(b.String())
}
