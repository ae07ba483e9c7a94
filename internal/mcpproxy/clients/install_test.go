package clients

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop/internal/configedit"
)

func newInstaller(t *testing.T) *Installer {
	home := t.TempDir()
	env := func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	}
	return &Installer{
		Program: "/opt/my tools/unloop", Place: Place{Env: env, System: "linux"}, Keeper: configedit.Keeper{Folder: filepath.Join(home, "state")},
	}
}

func clientNamed(t *testing.T, name string) *Client {
	all := Clients()
	k := slices.IndexFunc(all, func(c Client) bool { return c.Name == name })
	if k < 0 {
		t.Fatal(name)
	}
	return &all[k]
}

type failer interface{ Fatal(...any) }

func write(t failer, path, text string) {
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func read(t failer, path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func apply(t failer, c *configedit.Change, err error) {
	if err == nil {
		err = c.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// drawConfiguration draws a file of a client with up to three servers.
func drawConfiguration(t *rapid.T, client string) string {
	newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	word := rapid.SampledFrom([]string{`"npx"`, `"a b"`, `"C:\\x"`, `"--"`, `"mcp-proxy"`})
	var servers []string
	for _, name := range []string{"a", "b", "c"}[:rapid.IntRange(0, 3).Draw(t, "servers")] {
		command, args := word.Draw(t, "command"), rapid.SliceOfN(word, 1, 3).Draw(t, "args")
		list := "[" + strings.Join(args, ", ") + "]"
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		switch {
		case client == "codex" && kind == 0:
			servers = append(servers, "[mcp_servers."+name+"] # url"+newline+`url = "http://x"`+newline)
		case client == "codex" && kind == 1:
			servers = append(servers, "[mcp_servers."+name+"]"+newline+"command = "+command+newline)
		case client == "codex" && kind == 2:
			servers = append(servers, "[mcp_servers."+name+"]"+newline+"command = "+command+newline+"args = []"+newline)
		case client == "codex":
			servers = append(servers, "[mcp_servers."+name+"]"+newline+"args = "+list+" # [x]"+newline+"command = "+command+newline)
		case kind == 0:
			servers = append(servers, `"`+name+`": {"type": "http", "url": "http://x"}`)
		case kind == 1:
			servers = append(servers, `"`+name+`": {"command": `+command+`}`)
		case kind == 2:
			servers = append(servers, `"`+name+`": {"command": `+command+`, "args": [ ]}`)
		default:
			servers = append(servers, `"`+name+`": {`+newline+"\t"+`"args": `+list+`, "command": `+command+newline+"}")
		}
	}
	if client == "codex" {
		return "model = \"x\"" + newline + strings.Join(servers, newline)
	}
	member := "mcpServers"
	if client == "vscode" {
		member = "servers"
	}
	return `{"x": 1,` + newline + `  "` + member + `": {` + strings.Join(servers, ","+newline) + "}}" + newline
}

func TestUninstallRestoresEveryByteAndInstallTwiceIsInstallOnce(t *testing.T) {
	for _, c := range Clients() {
		t.Run(c.Name, func(t *testing.T) {
			i := newInstaller(t)
			path := c.File(i.Place)
			rapid.Check(t, func(t *rapid.T) {
				text := drawConfiguration(t, c.Name)
				write(t, path, text)
				change, servers, err := i.Install(&c)
				apply(t, change, err)
				once := read(t, path)
				if n := strings.Count(once, "/opt/my tools/unloop"); n != len(servers) {
					t.Fatalf("%d of %v are wrapped:\n%s", n, servers, once)
				}
				change, _, err = i.Install(&c)
				if err != nil || !change.None() {
					t.Fatalf("the second install changes the file: %v", err)
				}
				if rapid.Bool().Draw(t, "forgotten") { // without the former bytes, the text is unwrapped
					_ = os.RemoveAll(i.Keeper.Folder)
				}
				change, behind, err := i.Uninstall(&c)
				apply(t, change, err)
				if now := read(t, path); now != text || !slices.Equal(behind, servers) {
					t.Fatalf("%q became %q; %v, %v", text, now, servers, behind)
				}
			})
		})
	}
}

func TestUninstallKeepsServersThatWereAddedMeanwhile(t *testing.T) {
	i, c := newInstaller(t), clientNamed(t, "cursor")
	path := c.File(i.Place)
	write(t, path, `{"mcpServers": {"a": {"command": "x"}}}`)
	change, _, err := i.Install(c)
	apply(t, change, err)
	write(t, path, strings.Replace(read(t, path), `}}`, `}, "b": {"command": "y"}}`, 1))
	change, _, err = i.Uninstall(c)
	apply(t, change, err)
	if now := read(t, path); now != `{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}` {
		t.Errorf("got %s", now)
	}
}

func TestOtherFlagsReplaceTheFormerOnes(t *testing.T) {
	i, c := newInstaller(t), clientNamed(t, "codex")
	const text = "[mcp_servers.a]\ncommand = \"x\"\n"
	write(t, c.File(i.Place), text)
	change, _, err := i.Install(c)
	apply(t, change, err)
	i.Flags = []string{"--mode", "observe"}
	change, _, err = i.Install(c)
	apply(t, change, err)
	want := "[mcp_servers.a]\nargs = [\"mcp-proxy\", \"--mode\", \"observe\", \"--\", \"x\"]\ncommand = \"/opt/my tools/unloop\"\n"
	if now := read(t, c.File(i.Place)); now != want {
		t.Errorf("got %s", now)
	}
	change, _, err = i.Uninstall(c)
	apply(t, change, err)
	if now := read(t, c.File(i.Place)); now != text {
		t.Errorf("got %s", now)
	}
}

func TestClaudeCodesServersOfOneProjectAreWrappedToo(t *testing.T) {
	i, c := newInstaller(t), clientNamed(t, "claude-code")
	write(t, c.File(i.Place), `{"mcpServers": {"a": {"command": "x"}}, "projects": {"/p": {"mcpServers": {"b": {"command": "y", "args": []}}}}}`)
	_, servers, err := i.Install(c)
	if err != nil || !slices.Equal(servers, []string{"a", "b"}) {
		t.Errorf("got %v, %v", servers, err)
	}
}

func TestAFileThatItsClientRefusesIsLeftAloneAndItsPlaceIsTold(t *testing.T) {
	for client, tc := range map[string]struct{ text, place string }{
		"claude-desktop": {"{\n  \"a\": 1, // one\n}", "line 2, column "},
		"codex":          {"a = 1\nb =\n", "line 2, column "},
		"vscode":         {"{\"servers\": [", "line 1, column "},
	} {
		t.Run(client, func(t *testing.T) {
			i, c := newInstaller(t), clientNamed(t, client)
			write(t, c.File(i.Place), tc.text)
			_, _, err := i.Install(c)
			var wrong *configedit.SyntaxError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tc.place) {
				t.Errorf("got %v, want %s", err, tc.place)
			}
			if now := read(t, c.File(i.Place)); now != tc.text {
				t.Errorf("the file became %q", now)
			}
		})
	}
}

func TestEachSystemHasItsFolders(t *testing.T) {
	i := newInstaller(t)
	home := i.Place.home()
	for system, want := range map[string]string{
		"linux": ".config/Claude/claude_desktop_config.json", "darwin": "Library/Application Support/Claude/claude_desktop_config.json",
		"windows": "AppData/Roaming/Claude/claude_desktop_config.json",
	} {
		i.Place.System = system
		if got := clientNamed(t, "claude-desktop").File(i.Place); got != filepath.Join(home, want) {
			t.Errorf("%s: %s", system, got)
		}
	}
	i.Place.Project = "/p"
	if got := clientNamed(t, "claude-code").File(i.Place); got != "/p/.mcp.json" {
		t.Errorf("got %s", got)
	}
}
