package unloop

import "slices"

// Needs says what a run must keep for its detectors, beyond counts.
type Needs uint16

// The facts that cost time or memory, so that only runs keep them whose detectors read them.
const (
	NeedInputs   Needs = 1 << iota // the distinct inputs of each tool: Tool.Similar
	NeedOutcomes                   // what calls returned: Step.NormalizedResult, Step.Novel, Streak, Outcomes
	NeedTexts                      // what agents said: Text
	NeedEmpty                      // whether outputs say that there was nothing: Step.Empty, Tool.Empty
	NeedRaw                        // how often calls came as sent: Step.RawCount
	NeedArgs                       // how often calls came with the same arguments: Step.ArgsCount, Tool.MostRepeated
	NeedResults                    // what calls returned, to the byte: Step.ResultHash, Turn.Row, Tool.Unchanged
	NeedExcerpts                   // what calls and results looked like: Excerpt
	FactEffort                     // what steps brought: Step.Effort, Meter; together with NeedOutcomes
	NeedShell                      // whether shell calls and test runs fail: Step.Test, Shell
)

// Options says how a run reads its events.
type Options struct {
	Needs Needs

	// Shells are the tools that take a command line.
	Shells []string

	// Effects says what calling a tool does. It comes before what the tool says of itself, and before its name.
	Effects map[string]Effect

	// EffectByName classifies a tool by its name; EffectOf if nil.
	EffectByName func(name string) Effect

	// Ignore are tools whose calls are counted and otherwise left out.
	Ignore []string
}

// DefaultShells are the names under which shells are known as tools.
func DefaultShells() []string {
	return []string{"bash", "sh", "shell", "exec", "run_command", "execute_command", "terminal", "execute_bash", "Bash"}
}

func (r *Options) shell(tool string) bool { return slices.Contains(r.Shells, tool) }

func (r *Options) ignores(tool string) bool { return slices.Contains(r.Ignore, tool) }

// effect says what calling a tool does: as the reader says, else as the tool says of itself, else by its name.
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
