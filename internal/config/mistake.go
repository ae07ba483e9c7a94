package config

import (
	"errors"
	"fmt"
	"strings"
)

// Mistake is one thing that is wrong with a configuration.
type Mistake struct {
	Origin string // where it was said: unloop.yaml:12, UNLOOP_ADDR, --addr; "" where that is not known
	Field  string // as limits.body or tokens[0].scope; "" where it is about the whole
	Reason string // a sentence that names the field
}

func (m *Mistake) Error() string {
	if m.Origin == "" {
		return m.Reason
	}
	return m.Origin + ": " + m.Reason
}

// mistakes gathers what is wrong.
type mistakes []error

func (m *mistakes) add(origin, path, format string, a ...any) {
	*m = append(*m, &Mistake{origin, path, fmt.Sprintf(format, a...)})
}

func (m mistakes) err() error { return errors.Join(m...) }

// locate says where the fields of the mistakes in err were set. What was set nowhere has no origin: it is the default.
func locate(err error, origins map[string]string) error {
	var located mistakes
	for _, e := range unjoin(err) {
		var m *Mistake
		if errors.As(e, &m) && m.Origin == "" {
			m.Origin = originOf(m.Field, origins)
		}
		located = append(located, e)
	}
	return located.err()
}

// originOf returns where a field was set, or else what it is a part of.
func originOf(path string, origins map[string]string) string {
	for path != "" {
		if origin, ok := origins[path]; ok {
			return origin
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return ""
}

// unjoin returns joined errors one by one.
func unjoin(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, unjoin(e)...)
	}
	return all
}
