package config

import (
	"bytes"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"go.yaml.in/yaml/v3"
)

// File returns the default configuration as a file for users to edit.
func File() ([]byte, error) {
	document, err := Default().YAML()
	return append([]byte(heading), document...), err
}

const heading = `# The configuration of unloop serve. The server reads it from the folder in which it is started, or from the file of
# unloop serve --config FILE. Every value below is the default: keep the lines that you change and delete the others.
# Environment variables take precedence over this file (UNLOOP_ADDR, UNLOOP_LIMITS_BODY and so on), and flags over both.
# unloop config check prints the values in effect and reports errors.
`

// YAML returns the configuration as a document for Load: every setting with its value and description.
func (c *Config) YAML() ([]byte, error) {
	var document bytes.Buffer
	all := reflect.ValueOf(c).Elem()
	for i := range all.NumField() {
		about := all.Type().Field(i)
		name := about.Tag.Get("yaml")
		fmt.Fprintf(&document, "\n%s%s", comment(about.Tag.Get("doc")), skeleton(about.Type))
		if isGroup(about.Type) {
			fmt.Fprintf(&document, "%s:\n", name)
			if err := writeGroup(&document, all.Field(i)); err != nil {
				return nil, err
			}
			continue
		}
		line, err := entry(name, all.Field(i))
		if err != nil {
			return nil, err
		}
		document.WriteString(line)
	}
	return document.Bytes(), nil
}

func writeGroup(document *bytes.Buffer, group reflect.Value) error {
	out := tabwriter.NewWriter(document, 0, 0, 2, ' ', 0)
	for i := range group.NumField() {
		about := group.Type().Field(i)
		line, err := entry(about.Tag.Get("yaml"), group.Field(i))
		if err != nil {
			return err
		}
		line = strings.TrimSuffix(line, "\n")
		if strings.Contains(line, "\n") {
			fmt.Fprintf(out, "  # %s\n  %s\n", about.Tag.Get("doc"), strings.ReplaceAll(line, "\n", "\n  "))
			continue
		}
		fmt.Fprintf(out, "  %s\t# %s\n", line, about.Tag.Get("doc"))
	}
	return out.Flush()
}

// entry encodes one setting, on one line if it is a plain value or empty.
func entry(name string, value reflect.Value) (string, error) {
	content := value.Interface()
	if settings, ok := content.(Settings); ok {
		values := make(map[string]yaml.Node)
		for name, text := range settings {
			var document yaml.Node
			if err := yaml.Unmarshal([]byte(text), &document); err != nil {
				return "", fmt.Errorf("write the setting %s: %w", name, err)
			}
			values[name] = *document.Content[0]
		}
		content = values
	}
	if (value.Kind() == reflect.Slice || value.Kind() == reflect.Map) && value.Len() == 0 {
		empty := "[]"
		if value.Kind() == reflect.Map {
			empty = "{}"
		}
		return name + ": " + empty + "\n", nil
	}
	var line bytes.Buffer
	encoder := yaml.NewEncoder(&line)
	encoder.SetIndent(2)
	if err := encoder.Encode(map[string]any{name: content}); err != nil {
		return "", fmt.Errorf("write the setting %s: %w", name, err)
	}
	return line.String(), nil
}

// MarshalYAML encodes the size in the form that UnmarshalText reads.
func (s Size) MarshalYAML() (any, error) { return scalar(s.String()), nil }

// MarshalYAML encodes the duration in the form that UnmarshalText reads.
func (d Duration) MarshalYAML() (any, error) { return scalar(d.String()), nil }

// scalar is a plain value, without quotes.
func scalar(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

// skeleton returns comment lines with the fields of an entry of a list.
func skeleton(list reflect.Type) string {
	if list.Kind() != reflect.Slice || !isGroup(list.Elem()) {
		return ""
	}
	var b strings.Builder
	bullet := "-"
	out := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i := range list.Elem().NumField() {
		tag := list.Elem().Field(i).Tag
		fmt.Fprintf(out, "#   %s %s:\t%s\n", bullet, tag.Get("yaml"), tag.Get("doc"))
		bullet = " "
	}
	_ = out.Flush() // writing to a builder never fails
	return b.String()
}

// comment writes text as comment lines of at most 120 characters.
func comment(text string) string {
	const width = 118
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		if column > 0 && column+1+len(word) > width {
			b.WriteString("\n")
			column = 0
		}
		if column == 0 {
			b.WriteString("#")
		}
		b.WriteString(" " + word)
		column += 1 + len(word)
	}
	return b.String() + "\n"
}

const hidden = "(hidden)"

// Hidden returns a copy to display: without hashes of tokens, secrets of webhooks, paths of their URLs, and the password of the
// database.
func (c *Config) Hidden() *Config {
	shown := *c
	shown.DB = hidePassword(c.DB)
	shown.Tokens = slices.Clone(c.Tokens)
	for i := range shown.Tokens {
		shown.Tokens[i].SHA256 = hidden
	}
	shown.Webhooks = slices.Clone(c.Webhooks)
	for i := range shown.Webhooks {
		w := &shown.Webhooks[i]
		w.URL = hidePath(w.URL)
		if w.Secret != "" {
			w.Secret = hidden
		}
	}
	return &shown
}

// hidePassword removes the password of a database URL, also from its query.
func hidePassword(dsn string) string {
	if !strings.Contains(dsn, "://") {
		return dsn
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return hidden
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), "hidden")
	}
	query := u.Query()
	for name := range query {
		if strings.Contains(name, "password") {
			query.Set(name, "hidden")
		}
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// hidePath removes everything after the host of a URL, because it is the secret of many webhooks.
func hidePath(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return hidden
	}
	return u.Scheme + "://" + u.Host + "/" + hidden
}
