package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAChangeOfASettingIsWrittenIntoTheFile(t *testing.T) {
	ofTool, ofAll := Change{"read_file", "same_errors", 6}, Change{"", "repeat_weight", 3.5}
	block := "settings:\n  tools:\n    read_file:\n      same_errors: 6\n"
	for name, c := range map[string]struct {
		before string
		change Change
		want   string
	}{
		"at the end of a file without settings":      {"# ours\nproject: web # of the web\n", ofTool, "# ours\nproject: web # of the web\n" + block},
		"into a file of comments":                    {"# project: default\n", ofTool, "# project: default\n" + block},
		"into an empty file":                         {"", ofTool, block},
		"beside other settings, with their comments": {"settings:\n  same_errors: 5 # a while\nproject: web\n", ofAll, "settings:\n  same_errors: 5 # a while\n  repeat_weight: 3.5\nproject: web\n"},
		"in place of its old value":                  {"settings:\n  repeat_weight: 2 # low\n", ofAll, "settings:\n  repeat_weight: 3.5 # low\n"},
		"beside other settings of the tool":          {"settings: {tools: {read_file: {class: read_only}}}\n", ofTool, "settings: {tools: {read_file: {class: read_only, same_errors: 6}}}\n"},
		"into settings without a value":              {"settings:\nproject: web\n", ofAll, "settings:\n  repeat_weight: 3.5\nproject: web\n"},
		"into empty settings":                        {"settings: {}\n", ofAll, "settings:\n  repeat_weight: 3.5\n"},
		"for a tool whose name looks like a number":  {"", Change{"7", "same_errors", 6}, "settings:\n  tools:\n    \"7\":\n      same_errors: 6\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "unloop.yaml")
			if err := os.WriteFile(path, []byte(c.before), 0o640); err != nil {
				t.Fatal(err)
			}
			if err := Apply(path, c.change); err != nil {
				t.Fatal(err)
			}
			after, err := os.ReadFile(path)
			if diff := cmp.Diff(c.want, string(after)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%v %v", info.Mode(), err)
			}
			loaded, err := Load(Source{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := loaded.LoadProfile(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnInvalidChangeLeavesTheFileUnchanged(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		change Change
		reason string
	}{
		"a value out of range":      {"project: web\n", Change{"", "same_errors", 1}, "same_errors"},
		"a setting that is not one": {"project: web\n", Change{"", "wishes", 3}, "wishes"},
		"settings of another kind":  {"settings: [1]\n", Change{"", "same_errors", 6}, "settings is not a mapping"},
		"a file that is not YAML":   {"a: [\n", Change{"", "same_errors", 6}, "read the configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "unloop.yaml")
			if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := Apply(path, c.change); err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("error %v, want one about %s", err, c.reason)
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != c.before {
				t.Errorf("%v, the file is %q", err, after)
			}
		})
	}
	if err := Apply("", Change{"", "same_errors", 6}); !errors.Is(err, errNoFile) {
		t.Error(err)
	}
}
