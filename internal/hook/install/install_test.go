package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop/internal/configedit"
	"github.com/unloop-ai/unloop/internal/hook"
)

func newInstaller(t *testing.T, mode hook.Mode) *Installer {
	t.Helper()
	home := t.TempDir()
	env := func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	}
	return &Installer{Program: "/opt/my tools/unloop", Mode: mode, State: hook.Folder(filepath.Join(home, "state")), Place: Place{Env: env}}
}

func apply(t interface{ Fatal(...any) }, c Changes, err error) Changes {
	if err == nil {
		err = c.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t interface{ Fatal(...any) }, path, text string) {
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o640)); err != nil {
		t.Fatal(err)
	}
}

// content returns the file, or "" with false if there is none.
func content(path string) (string, bool) {
	data, err := os.ReadFile(path)
	return string(data), err == nil
}

// drawFile draws a file that the dialect allows, with hooks of other programs.
func drawFile(t *rapid.T, d configedit.Dialect) string {
	newline := rapid.SampledFrom([]string{"\n", "\r\n", ""}).Draw(t, "newline")
	indent := rapid.SampledFrom([]string{"  ", "\t", ""}).Draw(t, "indent")
	note := ""
	if d.Comments && newline != "" {
		note = rapid.SampledFrom([]string{"", "// a, {note}" + newline, "/* note */"}).Draw(t, "note")
	}
	members := []string{`"model": "x"`, `"env": {"A": "[1,2]"}`}
	switch rapid.IntRange(0, 3).Draw(t, "hooks") {
	case 1:
		members = append(members, `"hooks": {}`)
	case 2:
		members = append(members, `"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "lint hook"}]}]}`)
	case 3:
		members = append(members, `"hooks": {"Other": [ ]}`)
	}
	if !d.UniqueNames && rapid.Bool().Draw(t, "twice") {
		members = append([]string{`"hooks": {"PreToolUse": []}`}, members...)
	}
	members = rapid.Permutation(members).Draw(t, "order")
	body := ""
	for k, m := range members {
		if k > 0 {
			body += ","
		}
		body += newline + indent + note + m
	}
	bom := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "bom")
	return bom + "{" + body + newline + "}" + rapid.SampledFrom([]string{"", newline}).Draw(t, "end")
}

func TestInstallThenUninstallRestoresEveryByteAndInstallTwiceIsInstallOnce(t *testing.T) {
	for _, a := range Agents() {
		t.Run(a.Name, func(t *testing.T) {
			i := newInstaller(t, hook.Guard)
			if a.whole != nil {
				installAndUninstall(t, i, &a)
				return
			}
			path := a.File(i.Place)
			rapid.Check(t, func(t *rapid.T) {
				_ = os.Remove(path)
				if rapid.IntRange(0, 4).Draw(t, "exists") > 0 {
					write(t, path, drawFile(t, a.dialect))
				}
				installAndUninstall(t, i, &a)
			})
		})
	}
}

// installAndUninstall installs twice and uninstalls, and compares the files.
func installAndUninstall(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, i *Installer, a *Agent,
) {
	path := a.File(i.Place)
	text, existed := content(path)
	c, err := i.Install(a)
	apply(t, c, err)
	once, _ := content(path)
	if registered, err := i.Registered(a); !registered || err != nil {
		t.Fatalf("not registered: %v\n%s", err, once)
	}
	if c, err = i.Install(a); err != nil || !c.None() {
		t.Fatalf("the second install changes the file: %v", err)
	}
	c, err = i.Uninstall(a)
	apply(t, c, err)
	if now, there := content(path); now != text || there != existed {
		t.Fatalf("%q became %q", text, now)
	}
}

func TestUninstallKeepsWhatWasChangedMeanwhile(t *testing.T) {
	i := newInstaller(t, "")
	a := agentNamed(t, hook.Claude)
	path := a.File(i.Place)
	write(t, path, "{\n  \"model\": \"x\"\n}\n")
	c, err := i.Install(a)
	apply(t, c, err)
	with, _ := content(path)
	write(t, path, strings.Replace(with, `"model": "x"`, `"model": "y"`, 1))
	c, err = i.Uninstall(a)
	apply(t, c, err)
	if now, _ := content(path); now != "{\n  \"model\": \"y\"\n}\n" {
		t.Errorf("got %q", now)
	}
}

func TestAnotherModeReplacesTheEntry(t *testing.T) {
	i := newInstaller(t, hook.Nudge)
	a := agentNamed(t, hook.Gemini)
	path := a.File(i.Place)
	const text = "{\n  // mine\n  \"a\": 1\n}"
	write(t, path, text)
	c, err := i.Install(a)
	apply(t, c, err)
	i.Mode = hook.Guard
	c, err = i.Install(a)
	apply(t, c, err)
	now, _ := content(path)
	if strings.Contains(now, "nudge") || strings.Count(now, "BeforeTool") != 1 || !strings.Contains(now, "--mode guard") {
		t.Errorf("got %s", now)
	}
	c, err = i.Uninstall(a)
	apply(t, c, err)
	if now, _ := content(path); now != text {
		t.Errorf("got %q", now)
	}
}

func TestAFileThatItsAgentRefusesIsLeftAloneAndItsPlaceIsTold(t *testing.T) {
	for _, tc := range []struct{ agent, text, place string }{
		{hook.Claude, "{\n  \"a\": 1, // one\n}", "line 2, column "},
		{hook.Codex, "{\n  \"hooks\": {},\n  \"hooks\": {}\n}", "line 3, column 3"},
		{hook.Gemini, "{\n  \"a\": 1,\n}", "line 2, column 9"},
		{hook.Cursor, "{\"a\": ", "line 1, column "},
		{hook.Claude, "[]", "line 1, column 1"},
	} {
		t.Run(tc.agent, func(t *testing.T) {
			i := newInstaller(t, "")
			a := agentNamed(t, tc.agent)
			write(t, a.File(i.Place), tc.text)
			_, err := i.Install(a)
			var wrong *configedit.SyntaxError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tc.place) {
				t.Errorf("got %v, want %s", err, tc.place)
			}
			if now, _ := content(a.File(i.Place)); now != tc.text {
				t.Errorf("the file became %q", now)
			}
		})
	}
}

func TestALinkStaysALinkAndTheModeStays(t *testing.T) {
	i := newInstaller(t, "")
	a := agentNamed(t, hook.Claude)
	target := filepath.Join(i.Place.home(), "dotfiles", "settings.json")
	write(t, target, "{}")
	path := a.File(i.Place)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(target, path)); err != nil {
		t.Fatal(err)
	}
	c, err := i.Install(a)
	apply(t, c, err)
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
	c, err = i.Uninstall(a)
	apply(t, c, err)
	if now, _ := content(target); now != "{}" {
		t.Errorf("got %q", now)
	}
}

func TestUninstallTakesOutTheApprovalsOfCodex(t *testing.T) {
	i := newInstaller(t, "")
	a := agentNamed(t, hook.Codex)
	config := i.codexConfig(a)
	const text = "model = \"x\" # mine\n"
	write(t, config, text)
	c, err := i.Install(a)
	apply(t, c, err)
	keys, err := i.trustKeys(a)
	if err != nil || len(keys) != 4 || !strings.HasSuffix(keys[0], "hooks.json:pre_tool_use:0:0") {
		t.Fatalf("%v, %v", keys, err)
	}
	approved := text
	for _, key := range keys[:2] {
		approved += fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = \"sha256:x\"\n", key)
	}
	write(t, config, approved)
	if n, all, err := i.Trusted(a); n != 2 || all != 4 || err != nil {
		t.Errorf("%d of %d, %v", n, all, err)
	}
	c, err = i.Uninstall(a)
	apply(t, c, err)
	if now, _ := content(config); now != text {
		t.Errorf("got %q", now)
	}
}

func TestAFileOfSomebodyElseIsNotOverwritten(t *testing.T) {
	i := newInstaller(t, "")
	a := agentNamed(t, hook.OpenCode)
	write(t, a.File(i.Place), "// my own plugin")
	if _, err := i.Install(a); err == nil {
		t.Error("no error")
	}
	c, err := i.Uninstall(a)
	apply(t, c, err)
	if now, _ := content(a.File(i.Place)); now != "// my own plugin" {
		t.Errorf("got %q", now)
	}
}

func TestTheProjectHasAFileOfItsOwn(t *testing.T) {
	i := newInstaller(t, "")
	i.Place.Project = t.TempDir()
	for _, a := range Agents() {
		if path := a.File(i.Place); !strings.HasPrefix(path, i.Place.Project) {
			t.Errorf("%s: %s", a.Name, path)
		}
	}
}

func agentNamed(t *testing.T, name string) *Agent {
	t.Helper()
	for _, a := range Agents() {
		if a.Name == name {
			return &a
		}
	}
	t.Fatal(name)
	return nil
}
