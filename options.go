package unloop

import "slices"

// Needs is the set of optional state that a run must keep for its detectors.
type Needs uint16

// The optional state. Each costs time or memory, so a run keeps only what its detectors need.
const (
	NeedInputs   Needs = 1 << iota // the distinct inputs of each tool: Tool.Similar
	NeedOutcomes                   // what calls returned: Step.NormalizedResult, Step.Novel, Tool.Streak, Run.OutcomePeriods
	NeedTexts                      // what agents said: Current.Text, Run.RestatedInARow
	NeedEmpty                      // whether outputs say that there was nothing: Step.Empty, Tool.Empty
	NeedRaw                        // how often calls came as sent: Step.RawCount
	NeedArgs                       // how often calls came with the same arguments: Step.ArgsCount, Tool.MostRepeated
	NeedResults                    // what calls returned, to the byte: Step.ResultHash, Turn.Row, Tool.Unchanged
	NeedExcerpts                   // the beginnings of arguments and results: Run.Excerpt
	NeedEffort                     // the novelty and waste of steps: Step.Effort, Meter; requires NeedOutcomes
	NeedShell                      // whether shell calls and test runs fail: Step.Test, Shell
)

// Options control how a run reads its events. The zero value keeps no optional state and knows no shells.
type Options struct {
	Needs Needs // the union of what the detectors need

	// Shells are the names of tools that take a command line.
	Shells []string

	// ShellByName finds further tools that take a command line by their names, such as ShellByName. Nil means none.
	ShellByName func(name string) bool

	// Effects maps tool names to effects. It takes precedence over the tool's annotations and over its name.
	Effects map[string]Effect

	// EffectByName classifies a tool by its name, if neither Effects nor annotations do. Nil means EffectOf.
	EffectByName func(name string) Effect

	// Ignore are the names of tools whose calls count in Metrics and make no steps.
	Ignore []string
}

// DefaultShells returns the usual names of shell tools. The caller owns the slice.
func DefaultShells() []string {
	return []string{"bash", "sh", "shell", "exec", "run_command", "execute_command", "terminal", "execute_bash", "Bash"}
}

func (r *Options) shell(tool string) bool {
	return slices.Contains(r.Shells, tool) || r.ShellByName != nil && r.ShellByName(tool)
}

func (r *Options) ignores(tool string) bool { return slices.Contains(r.Ignore, tool) }

// effect returns the effect of a tool: from Effects, else from the tool's annotations, else from its name.
func (r *Options) effect(tool string, hints *ToolHints) Effect {
	if c, ok := r.Effects[tool]; ok {
		return c
	}
	if hints != nil {
		if hints.ReadOnly || hints.Idempotent {
			return ReadOnly
		}
		return Mutating
	}
	if r.EffectByName != nil {
		return r.EffectByName(tool)
	}
	return EffectOf(tool)
}
