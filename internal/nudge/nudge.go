// Package nudge makes the texts for the agent from decisions. Each code of a policy has a template, which a profile's settings
// may replace. A profile.Session calls it after its policy, and guards, hooks and proxies give the text to the agent.
package nudge

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/findings"
	"github.com/unloop-ai/unloop/internal/settings"
	"github.com/unloop-ai/unloop/policy"
)

//go:embed nudges
var nudgeFiles embed.FS

// nudgeParts are the templates that nudges share. The template facts writes what repeats, what changed and the first error.
// The templates calls, changed and error write one of these lines each, and list numbers the calls. Each begins with a line
// break if it writes anything.
//
//go:embed parts.tmpl
var nudgeParts string

// Data is the data of a nudge template.
type Data struct {
	Code      string         // of the decision
	Action    string         // of the decision: warn, block or halt
	Tool      string         // the subject of the finding: a tool, or tools joined by |
	Count     int            // of the decision
	AfterCall bool           // the call at which it was decided has run; a block applies to the next one that matches
	Finding   unloop.Finding // the finding that the decision is about

	AfterMessage bool // it was decided at a message, where no call was waiting; a block applies to the next call that matches
}

// Calls returns the calls that repeat, oldest first, or nil if Finding.What names all of them.
func (n Data) Calls() []string {
	for _, call := range n.Finding.Repeated {
		if !strings.Contains(n.Finding.What, call) {
			return n.Finding.Repeated
		}
	}
	return nil
}

// FirstError returns the first error, or "" if Finding.What contains it.
func (n Data) FirstError() string {
	if strings.Contains(n.Finding.What, n.Finding.FirstError) {
		return ""
	}
	return n.Finding.FirstError
}

// Repeats reports whether a call of the kind is among those that repeat. Kinds are read, search, edit and test.
func (n Data) Repeats(kind string) bool {
	return slices.ContainsFunc(n.Finding.Repeated, func(call string) bool { return kindOfCall(call) == kind })
}

// FileOperation reports whether the last call is a shell command that reads or writes a file, such as cat or sed.
func (n Data) FileOperation() bool {
	calls := n.Finding.Repeated
	return len(calls) > 0 && isFileOperation(commandLine(calls[len(calls)-1]))
}

// Texts are the texts for the agent: a template in the syntax of text/template for each code of a policy. The built-in
// template of a code is nudges/PROFILE/CODE.tmpl, else nudges/CODE.tmpl, else nudges/any.tmpl. Text is safe for concurrent
// use, and Set is not.
type Texts struct {
	byCode map[string]func() *template.Template // a built-in text is parsed at its first use
}

// anyCode is the code of the text for codes without a text.
const anyCode = "any"

// New returns the texts of a profile. The texts in own, by code, replace the built-in ones. An empty text disables the
// nudge. A code that the profile does not have is an error, and so is a template that cannot be executed. The error joins
// all of them, each with its code.
func New(profile string, own map[string]string) (*Texts, error) {
	n := &Texts{byCode: make(map[string]func() *template.Template)}
	for _, folder := range []string{"nudges", "nudges/" + profile} {
		if err := n.read(folder); err != nil {
			return nil, fmt.Errorf("read the nudges: %w", err)
		}
	}
	known := n.Codes()
	var mistakes settings.Errors
	for _, code := range slices.Sorted(maps.Keys(own)) {
		if !slices.Contains(known, code) {
			mistakes.Add(settings.Place{}, settings.Join("nudges", code), "nudges: unknown text %q in profile %s; texts: %s%s",
				code, profile, strings.Join(known, ", "), settings.DidYouMean(code, known))
		} else if err := n.Set(code, own[code]); err != nil {
			mistakes = append(mistakes, err)
		}
	}
	return n, mistakes.Err()
}

// Set sets the text for a code, which may be new. It must not be called concurrently with Text. It returns an error if the
// template cannot be executed, a *settings.Error.
func (n *Texts) Set(code, text string) error {
	t, err := parseNudge(code, text)
	if err == nil {
		n.byCode[code] = func() *template.Template { return t }
	}
	return err
}

// Codes returns the codes that have a text, sorted.
func (n *Texts) Codes() []string { return slices.Sorted(maps.Keys(n.byCode)) }

// read reads the texts in a folder, if it exists.
func (n *Texts) read(folder string) error {
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
		n.byCode[code] = sync.OnceValue(func() *template.Template {
			t, err := parseNudge(code, string(text))
			if err != nil {
				panic(fmt.Sprintf("the texts are built in: %v", err)) // a test parses all of them
			}
			return t
		})
	}
	return nil
}

// parseNudge parses a text and executes it with an empty and with a full Data, so that most errors show here.
func parseNudge(code, text string) (*template.Template, error) {
	functions := template.FuncMap{"add": func(a, b int) int { return a + b }, "sentence": sentence}
	t, err := template.New("parts").Funcs(functions).Parse(nudgeParts)
	if err == nil {
		t, err = t.New(code).Parse(text)
	}
	full := Data{Code: code, Action: "warn", Tool: "bash", Count: 3, Finding: unloop.Finding{
		Rule: "rule", Subject: "bash", Count: 3, Score: 1, What: "what", Why: "why", Try: "try", Repeated: []string{"bash a", "bash b"},
		Changed: "changed", FirstError: "error", Period: 2, Workers: 2, Evidence: make([]unloop.EventRef, 1),
	}}
	for _, example := range []Data{{}, full} {
		if err == nil {
			err = t.Execute(io.Discard, example)
		}
	}
	if err != nil {
		return nil, &settings.Error{Field: settings.Join("nudges", code), Reason: fmt.Sprintf("nudges: %s: %v", code, err)}
	}
	return t, nil
}

// sentence appends a full stop to a text that does not end in punctuation.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, "…") || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// Text returns the text for a decision. Its finding is the one whose What equals the decision's Message, else the first. The
// advice of a second opinion follows a text that is not empty. If the template fails, the text is the Message.
func (n *Texts) Text(d *policy.Decision) string {
	t, ok := n.byCode[d.Code]
	if !ok {
		t = n.byCode[anyCode]
	}
	nudge := Data{Code: d.Code, Action: d.Action.String(), Count: d.Count, AfterCall: d.AfterCall, AfterMessage: d.AfterMessage}
	if len(d.Findings) > 0 {
		nudge.Finding = findings.Named(d.Findings, d.Message)
		nudge.Tool = nudge.Finding.Subject
	}
	var b strings.Builder
	if err := t().Execute(&b, nudge); err != nil {
		return advise(d.Message, d.Opinion) // a message without context is better than none
	}
	return advise(strings.TrimSpace(b.String()), d.Opinion)
}

// advise adds the advice of a second opinion, if there is one, to a text.
func advise(text string, o *policy.Opinion) string {
	if text == "" || o == nil || !o.Stuck || o.Advice == "" {
		return text
	}
	return text + "\nSecond opinion: " + sentence(strings.Join(strings.Fields(o.Advice), " "))
}

// Join returns the texts as paragraphs of one text for the agent. An empty text is left out.
func Join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n\n")
}
