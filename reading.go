package unloop

import "slices"

// Facts says what a run must keep for its detectors, beyond counts.
type Facts uint16

// The facts that cost time or memory, so that only runs keep them whose detectors read them.
const (
	FactInputs   Facts = 1 << iota // the distinct inputs of each tool: Tool.Similar
	FactOutcomes                   // what calls returned: Step.Stable, Step.News, Streak, Outcomes
	FactTexts                      // what agents said: Text
	FactEmpty                      // whether outputs say that there was nothing: Step.Empty, Tool.Empty
	FactRaw                        // how often calls came as sent: Step.SameRaw
	FactExact                      // how often calls came with the same arguments: Step.Same, Tool.Worst
	FactResults                    // what calls returned, to the byte: Step.Result, Turn.Row, Tool.Unchanged
	FactExcerpts                   // what calls and results looked like: Excerpt
	FactShell                      // whether shell calls and test runs fail: Step.Test, Shell
)

// Reading says how a run reads its events.
type Reading struct {
	Facts Facts

	// Shells are the tools that take a command line.
	Shells []string

	// Classes says what calling a tool does. It comes before what the tool says of itself, and before its name.
	Classes map[string]Class

	// ByName classifies a tool by its name; ClassOf if nil.
	ByName func(name string) Class

	// Ignore are tools whose calls are counted and otherwise left out.
	Ignore []string
}

// DefaultShells are the names under which shells are known as tools.
func DefaultShells() []string {
	return []string{"bash", "sh", "shell", "exec", "run_command", "execute_command", "terminal", "execute_bash", "Bash"}
}

func (r *Reading) shell(tool string) bool { return slices.Contains(r.Shells, tool) }

func (r *Reading) ignores(tool string) bool { return slices.Contains(r.Ignore, tool) }

// class says what calling a tool does: as the reader says, else as the tool says of itself, else by its name.
func (r *Reading) class(tool string, hints *ToolHints) Class {
	if c, ok := r.Classes[tool]; ok {
		return c
	}
	if hints != nil {
		if hints.ReadOnly || hints.Idempotent {
			return ReadOnly
		}
		return Mutating
	}
	if r.ByName != nil {
		return r.ByName(tool)
	}
	return ClassOf(tool)
}
