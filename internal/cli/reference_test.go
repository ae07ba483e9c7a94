package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/goldentest"
	"github.com/unloop-ai/unloop/profile"
)

// TestReferencePages holds the reference pages to what the program says of itself. make docs writes them.
func TestReferencePages(t *testing.T) {
	settings, err := config.Reference()
	if err != nil {
		t.Fatal(err)
	}
	for path, page := range map[string]string{
		"../../docs/configuration.md": "# Configuration of the server\n\n" +
			"`unloop serve` reads a YAML file, environment variables and flags. Flags take precedence over variables, and these over the file. The file is\n" +
			"that of `--config`, else that of `UNLOOP_CONFIG`, else `unloop.yaml` in the current folder. `unloop init` writes a file with all\n" +
			"settings into that folder, or into the one of `--dir`. `unloop config check` prints the values in effect, or all mistakes. Lists and\n" +
			"objects in a variable are YAML.\n\n" +
			"`make docs` writes this page.\n\n" + settings,
		"../../docs/rules.md": rulesPage(t),
	} {
		goldentest.Compare(t, path, []byte(page))
	}
}

func rulesPage(t *testing.T) string {
	users := make(map[string][]string)
	for _, name := range profile.Names() {
		p, err := profile.New(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range p.Detectors() {
			users[d.Info().Name] = append(users[d.Info().Name], "`"+name+"`")
		}
	}
	var page strings.Builder
	page.WriteString("# Rules\n\n`unloop rules --profile NAME` lists the rules of a profile, `unloop explain RULE` prints one, and `unloop profile show NAME` prints the\n" +
		"settings. [The progress meter](progress-meter.md) says how `stalled_steps` and `stalled_talk` measure progress. `make docs` writes this page.\n")
	for _, rule := range detect.Rules() {
		p, _ := detect.Explain(rule)
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n**Why it matters.** %s\n\n**What to try.** %s\n", rule, p.When, p.Why, p.Try)
		if p.More != "" {
			fmt.Fprintf(&page, "\n%s\n", p.More)
		}
		if profiles := users[rule]; len(profiles) > 0 {
			fmt.Fprintf(&page, "\nProfiles: %s.\n", strings.Join(profiles, ", "))
		}
	}
	return page.String()
}
