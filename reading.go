package unloop

// Facts says what a run must keep for its detectors, beyond counts.
type Facts uint16

// The facts that cost time or memory, so that only runs keep them whose detectors read them.
const (
	FactInputs   Facts = 1 << iota // the distinct inputs of each tool: Tool.Similar
	FactOutcomes                   // what calls returned: Step.Stable, Step.News, Streak, Outcomes, Excerpt
	FactTexts                      // what agents said: Text
	FactEmpty                      // whether outputs say that there was nothing: Step.Empty, Tool.Empty
	FactRaw                        // how often calls came as sent: Step.SameRaw
	FactExact                      // how often calls came with the same arguments: Step.Same, Tool.Worst
	FactResults                    // what calls returned, to the byte: Step.Result, Turn.Row, Tool.Unchanged
	FactShell                      // whether shell calls and test runs fail: Step.Test, Shell
)

// Reading says how a run reads its events.
type Reading struct {
	Facts Facts

	// Shells are the tools that take a command line.
	Shells []string

	// Classes says what calling a tool does, where its name would not tell.
	Classes map[string]Class
}

// DefaultShells are the names under which shells are known as tools.
func DefaultShells() []string {
	return []string{"bash", "sh", "shell", "exec", "run_command", "execute_command", "terminal", "execute_bash", "Bash"}
}

func (r *Reading) shell(tool string) bool {
	for _, s := range r.Shells {
		if s == tool {
			return true
		}
	}
	return false
}

func (r *Reading) class(tool string) Class {
	if c, ok := r.Classes[tool]; ok {
		return c
	}
	return ClassOf(tool)
}
