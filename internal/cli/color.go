package cli

import (
	"io"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// colorFlag is the flag --color.
type colorFlag struct{ when string }

func colorNames() []string { return []string{"auto", "always", "never"} }

func (f *colorFlag) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.when, "color", "auto", "use colour `WHEN`: auto, always, never (auto: on a terminal; NO_COLOR and FORCE_COLOR override it)")
}

// on reports whether to use colour on w. The flag overrides NO_COLOR, NO_COLOR overrides FORCE_COLOR, and without any of them w
// must be a terminal.
func (f *colorFlag) on(w io.Writer) (bool, error) {
	if err := oneOf("--color", f.when, colorNames()); err != nil {
		return false, err
	}
	force := os.Getenv("FORCE_COLOR")
	switch {
	case f.when != "auto":
		return f.when == "always", nil
	case os.Getenv("NO_COLOR") != "" || force == "0":
		return false, nil
	case force != "":
		return true, nil
	}
	return isTerminal(w) && os.Getenv("TERM") != "dumb", nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
