package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// FileName is the file that is read, in the folder where the server is started, when no other is named; unloop init writes it.
const FileName = "unloop.yaml"

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// Source says where a configuration comes from: what stands further down goes before what stands further up.
type Source struct {
	Path  string   // the file; "" for UNLOOP_CONFIG, else FileName if there is one
	Env   []string // NAME=value, as os.Environ returns them
	Flags []Flag   // in their order
	Sets  []string // settings of the profile, NAME=VALUE
}

// Flag is a setting that was given on the command line.
type Flag struct {
	Name  string // as the user wrote it: --grpc-addr
	Path  string // of the setting: grpc_addr
	Value string
}

// Loaded is a configuration that was read.
type Loaded struct {
	*Config
	File    string   // that was read; "" for none
	Notices []string // what looks like a slip, but is no mistake

	origins map[string]string // by the path of the settings that were given
}

// Given reports whether a setting, such as grpc_addr, was given in the file, the environment or a flag.
func (l *Loaded) Given(path string) bool { return l.origins[path] != "" }

// Load reads a configuration and checks it. The error joins all mistakes, each with the place where it was made.
func Load(src Source) (*Loaded, error) {
	env := environment(src.Env)
	path, data, err := readFile(src.Path, env["UNLOOP_CONFIG"])
	if err != nil {
		return nil, err
	}
	c, origins, err := build(path, data, env, src)
	if err != nil {
		return nil, err
	}
	return &Loaded{Config: c, File: path, Notices: strangers(env), origins: origins}, nil
}

// build makes a configuration of the content of a file, the environment and the flags, and says where each setting was given.
func build(path string, data []byte, env map[string]string, src Source) (*Config, map[string]string, error) {
	c := Default()
	a := assigner{origins: make(map[string]string)}
	a.file(c, path, data)
	a.env(c, env)
	a.flags(c, src)
	if err := a.mistakes.err(); err != nil {
		return nil, nil, err
	}
	if err := locate(c.Validate(), a.origins); err != nil {
		return nil, nil, err
	}
	for i := range c.Webhooks {
		c.Webhooks[i].fill()
	}
	return c, a.origins, nil
}

// environment returns our variables. An empty one says nothing.
func environment(all []string) map[string]string {
	ours := make(map[string]string)
	for _, pair := range all {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, envPrefix) && value != "" {
			ours[name] = value
		}
	}
	return ours
}

// readFile returns the file that was asked for, or else the one that lies here, if there is one.
func readFile(asked, fromEnv string) (path string, data []byte, err error) {
	path = asked
	if path == "" {
		path = fromEnv
	}
	optional := path == ""
	if optional {
		path = FileName
	}
	f, err := os.Open(path)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close() // only read
	if data, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err != nil {
		return "", nil, fmt.Errorf("read the configuration: %w", err)
	}
	if len(data) > maxFile {
		return "", nil, fmt.Errorf("read the configuration: %s is larger than %v", path, Size(maxFile))
	}
	return path, data, nil
}

func (a *assigner) file(c *Config, path string, data []byte) {
	a.at = func(n *yaml.Node) string { return fmt.Sprintf("%s:%d", path, n.Line) }
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, further yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return // nothing but comments
	}
	if err != nil {
		a.mistakes.add(yamlOrigin(path, err), "", "%s", yamlReason(err))
		return
	}
	a.set("", reflect.ValueOf(c).Elem(), document.Content[0])
	if err := decoder.Decode(&further); !errors.Is(err, io.EOF) {
		a.mistakes.add(path, "", "a second document follows the first")
	}
}

// yamlLine finds the line in an error of the YAML library, which has it in its text only.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)

func yamlOrigin(path string, err error) string {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
		return path + ":" + m[1]
	}
	return path
}

func yamlReason(err error) string {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		return m[2]
	}
	return err.Error()
}
