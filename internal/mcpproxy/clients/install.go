package clients

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop/internal/configedit"
)

// Installer puts one program in front of MCP servers.
type Installer struct {
	Program string   // the absolute path
	Flags   []string // of unloop mcp-proxy
	Keeper  configedit.Keeper
	Place   Place
}

// Install returns the change that puts the program in front of the servers of a client that are started by a command, and the names of
// these servers. A server behind a URL is left alone. A file that the client would refuse is an error.
func (i *Installer) Install(c *Client) (change *configedit.Change, servers []string, err error) {
	f, base, _, err := i.base(c)
	if err != nil {
		return nil, nil, err
	}
	commands, err := c.read(base)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w; nothing is changed", f.Path, err)
	}
	if len(commands) == 0 {
		return configedit.Edit(f, f.Data), nil, nil
	}
	for _, command := range commands {
		servers = append(servers, command.Name)
	}
	args := slices.Concat([]string{"mcp-proxy"}, i.Flags, []string{"--"})
	after := configedit.Wrap(base, commands, i.Program, args...)
	if _, err := c.read(after); err != nil { // a fault of this program; the file must not suffer
		return nil, nil, fmt.Errorf("%s: change the file: %w; nothing is changed", f.Path, err)
	}
	return i.Keeper.Replace(f, base, true, after), servers, nil
}

// Uninstall returns the change that takes the program out, and the names of the servers behind it. If nothing else has changed the file
// since, its former bytes come back.
func (i *Installer) Uninstall(c *Client) (change *configedit.Change, servers []string, err error) {
	f, base, wrapped, err := i.base(c)
	if err != nil {
		return nil, nil, err
	}
	for _, command := range wrapped {
		servers = append(servers, command.Name)
	}
	return i.Keeper.Restore(f, base, f.Exists), servers, nil
}

// base returns the file of a client, its bytes without the program, and the servers behind the program.
func (i *Installer) base(c *Client) (f *configedit.File, base []byte, wrapped []configedit.Command, err error) {
	if f, err = configedit.ReadFile(c.File(i.Place)); err != nil {
		return nil, nil, nil, err
	}
	all, err := c.read(f.Data)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w; nothing is changed", f.Path, err)
	}
	wrapped = slices.DeleteFunc(all, func(command configedit.Command) bool { return i.flags(&command) == 0 })
	if former, _, ok := i.Keeper.Former(f); ok {
		return f, former, wrapped, nil
	}
	return f, configedit.Unwrap(f.Data, wrapped, i.flags), wrapped, nil
}

// flags returns how many arguments of the program stand before the server's command, and 0 if the program is not in front of it.
func (i *Installer) flags(c *configedit.Command) int {
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(c.Program, `\`, "/")), ".exe")
	end := slices.Index(c.Args, "--")
	if c.Program != i.Program && name != "unloop" || end < 1 || c.Args[0] != "mcp-proxy" || end+1 == len(c.Args) {
		return 0
	}
	return end + 1
}
