package price

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

//go:embed prices.yaml
var builtIn []byte

// maxPrice is the maximum price in dollars per million tokens. A higher value is probably the price of a billion tokens.
const maxPrice = 100_000

// Load returns the built-in prices, overridden by those of a YAML document of the same form. file is its name for errors. An
// entry replaces the whole built-in entry of its name. A document without entries is valid. The error joins all errors, each with
// file, line and field.
func Load(file string, overrides []byte) (*Table, error) {
	t := &Table{prices: map[string]Price{}}
	if err := t.add("prices.yaml", builtIn); err != nil {
		return nil, err
	}
	if err := t.add(file, overrides); err != nil {
		return nil, err
	}
	return t, nil
}

// add reads a document of models and their prices.
func (t *Table) add(file string, text []byte) error {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(document.Content) == 0 {
		return nil
	}
	models := document.Content[0]
	if models.ShortTag() == "!!null" {
		return nil
	}
	if models.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d: want a mapping of models such as my-model: {input: 1, output: 2}", file, models.Line)
	}
	var mistakes []error
	lines := map[string]int{}
	for i := 0; i+1 < len(models.Content); i += 2 {
		name, fields := models.Content[i], models.Content[i+1]
		key := string(canonical(nil, name.Value))
		switch first, twice := lines[key]; {
		case twice:
			mistakes = append(mistakes, fmt.Errorf("%s:%d: %s is a duplicate of line %d", file, name.Line, name.Value, first))
		case key == "" || len(key) > maxName:
			mistakes = append(mistakes, fmt.Errorf("%s:%d: the name of a model must have 1 to %d bytes", file, name.Line, maxName))
		}
		lines[key] = name.Line
		p, wrong := priceOf(fields)
		for _, mistake := range wrong {
			mistakes = append(mistakes, fmt.Errorf("%s:%d: %s: %s", file, mistake.line, name.Value, mistake.text))
		}
		t.prices[key] = p
	}
	return errors.Join(mistakes...)
}

// mistake is an error in a line.
type mistake struct {
	line int
	text string
}

// fieldNames are the fields of a model. Only the first two are required.
var fieldNames = []string{"input", "output", "cached_input", "cache_write", "as_of", "source"}

// priceOf reads the fields of a model. The default prices of cached tokens are those of input.
func priceOf(node *yaml.Node) (p Price, wrong []mistake) {
	if node.Kind != yaml.MappingNode {
		return p, []mistake{{node.Line, "want the fields " + strings.Join(fieldNames, ", ")}}
	}
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name := node.Content[i]
		switch {
		case !slices.Contains(fieldNames, name.Value):
			wrong = append(wrong, mistake{name.Line, fmt.Sprintf("unknown field %q; fields: %s", name.Value, strings.Join(fieldNames, ", "))})
		case fields[name.Value] != nil:
			wrong = append(wrong, mistake{name.Line, name.Value + " is given twice"})
		}
		fields[name.Value] = node.Content[i+1]
	}
	dollars := func(field string, otherwise float64) float64 {
		value := fields[field]
		if value == nil {
			return otherwise
		}
		n, err := strconv.ParseFloat(value.Value, 64)
		if value.Kind != yaml.ScalarNode || err != nil || math.IsNaN(n) || n < 0 || n > maxPrice {
			wrong = append(wrong, mistake{value.Line, fmt.Sprintf("%s: invalid price %q: want dollars per million tokens, 0 to %d", field, value.Value, maxPrice)})
		}
		return n
	}
	for _, field := range fieldNames[:2] {
		if fields[field] == nil {
			wrong = append(wrong, mistake{node.Line, field + " is missing"})
		}
	}
	p.Input, p.Output = dollars("input", 0), dollars("output", 0)
	p.CachedInput, p.CacheWrite = dollars("cached_input", p.Input), dollars("cache_write", p.Input)
	if day := fields["as_of"]; day != nil {
		if _, err := time.Parse(time.DateOnly, day.Value); err != nil {
			wrong = append(wrong, mistake{day.Line, fmt.Sprintf("as_of: invalid day %q: want a day such as 2026-11-21", day.Value)})
		}
		p.AsOf = day.Value
	}
	if source := fields["source"]; source != nil {
		p.Source = source.Value
	}
	return p, wrong
}
