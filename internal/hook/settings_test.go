package hook

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop/internal/settings"
)

func TestAnInvalidSettingHasItsPlaceAndTheOthersHold(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       Settings
		line       int // of the error; 0 for none
		reason     string
	}{
		{"valid settings", "other: {a: 1}\nhook:\n  mode: guard\n  settings: {same_errors: 6}\n", Settings{Mode: Guard, Settings: map[string]string{"same_errors": "6"}}, 0, ""},
		{"an unknown setting", "hook:\n  profle: cycles\n  mode: shadow\n", Settings{Mode: Shadow}, 2, `did you mean hook.profile?`},
		{"an invalid value", "hook:\n  mode: loud\n  profile: cycles\n", Settings{Mode: Nudge, Profile: "cycles"}, 2, `unknown mode "loud"`},
		{"only comments", "# hook:\n", Settings{Mode: Nudge}, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, projectFileName)
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := loadSettings("", folder, func(string) string { return "" })
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreUnexported(Settings{})); diff != "" {
				t.Error(diff)
			}
			var wrong *settings.Error
			if errors.As(err, &wrong) != (tc.line > 0) {
				t.Fatalf("error %v", err)
			}
			if wrong != nil && (wrong.Place != settings.Place{File: path, Line: tc.line} || !strings.Contains(wrong.Reason, tc.reason)) {
				t.Errorf("error %+v", wrong)
			}
		})
	}
}

func TestTheErrorOfAProfileNamesTheFileThatSetsIt(t *testing.T) {
	for text, want := range map[string]string{
		"hook: {profile: defaul}\n":                    `load the profile defaul: unknown profile "defaul"`,
		"hook: {settings: {same_errorz: 6}}\n":         `load the profile default: unknown setting "same_errorz"`,
		"hook: {mode: guard, settings: {ladder: 1}}\n": `load the profile default: unknown setting "ladder"`,
	} {
		folder := t.TempDir()
		path := filepath.Join(folder, projectFileName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := loadSettings("", folder, func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.LoadProfile(Claude); err == nil || !strings.HasPrefix(err.Error(), path+": "+want) {
			t.Errorf("%s: got %v, want %s: %s", text, err, path, want)
		}
	}
}
