package config

import (
	"fmt"
	"reflect"
	"strings"
)

// Reference returns a Markdown page of the settings of a server: for each its name, its environment variable, its default and its
// description.
func Reference() (string, error) {
	var page strings.Builder
	c := Default()
	all := reflect.ValueOf(c).Elem()
	page.WriteString("| setting | variable | default | meaning |\n|---|---|---|---|\n")
	for i := range all.NumField() {
		about := all.Type().Field(i)
		if isGroup(about.Type) {
			group := all.Field(i)
			for k := range group.NumField() {
				if err := referenceRow(&page, about.Tag.Get("yaml")+".", group.Type().Field(k), group.Field(k)); err != nil {
					return "", err
				}
			}
			continue
		}
		if err := referenceRow(&page, "", about, all.Field(i)); err != nil {
			return "", err
		}
	}
	for _, list := range []struct {
		name string
		item reflect.Type
	}{{"tokens", reflect.TypeFor[Token]()}, {"webhooks", reflect.TypeFor[Webhook]()}} {
		fmt.Fprintf(&page, "\nAn entry of `%s`:\n\n| field | meaning |\n|---|---|\n", list.name)
		for i := range list.item.NumField() {
			about := list.item.Field(i)
			fmt.Fprintf(&page, "| `%s` | %s |\n", about.Tag.Get("yaml"), tableText(about.Tag.Get("doc")))
		}
	}
	return page.String(), nil
}

func referenceRow(page *strings.Builder, prefix string, about reflect.StructField, v reflect.Value) error {
	name := prefix + about.Tag.Get("yaml")
	line, err := entry(about.Tag.Get("yaml"), v)
	if err != nil {
		return err
	}
	_, value, _ := strings.Cut(strings.TrimSpace(line), ":")
	if value = strings.TrimSpace(value); value == "" {
		value = `""`
	}
	fmt.Fprintf(page, "| `%s` | `%s` | `%s` | %s |\n", name, envPrefix+strings.ToUpper(strings.ReplaceAll(name, ".", "_")), value, tableText(about.Tag.Get("doc")))
	return nil
}

// tableText escapes a text for a cell of a table.
func tableText(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
