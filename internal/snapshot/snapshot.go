// Package snapshot holds the limits of what a program reads back of its own state. A snapshot may come from anybody, so Bounded
// looks at its size and nesting before it is decoded, and the types that a snapshot is made of check each field afterwards with a
// Check. Package unloop, policies, profiles, guards and the pipeline's checkpoints use it.
package snapshot

import (
	"fmt"
	"math"
)

// Limits of a snapshot.
const (
	MaxBytes = 16 << 20 // of JSON
	MaxDepth = 64       // objects and arrays within one another

	// MaxCount is the highest value of a counter. No run reaches it: a million events a second take 285 years. Sums of counters and
	// their products with the factors of detectors stay within an int64, also for 2^53 events behind a restore.
	MaxCount = 1 << 53
)

// Bounded returns an error if data is larger or nested deeper than a snapshot may be. It reads data once, at about 1 ns a byte, and
// allocates nothing. It does not say whether data is JSON.
func Bounded(data []byte) error {
	if len(data) > MaxBytes {
		return fmt.Errorf("snapshot has %d bytes, want at most %d", len(data), MaxBytes)
	}
	depth, quoted := 0, false
	for k := 0; k < len(data); k++ {
		switch c := data[k]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			k++ // the next byte is no quotation mark
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return fmt.Errorf("snapshot has objects within one another more than %d deep", MaxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// Check gathers what is wrong with a value: the first mistake is kept. The zero Check has found nothing.
type Check struct{ err error }

// That notes a mistake unless ok. The format names the field.
func (c *Check) That(ok bool, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// Count notes a mistake unless n is from 0 to most, and at most MaxCount.
func (c *Check) Count(field string, n, most int) {
	most = min(most, MaxCount)
	c.That(n >= 0 && n <= most, "%s is %d, want 0 to %d", field, n, most)
}

// Amount notes a mistake unless x is a number from 0 to most.
func (c *Check) Amount(field string, x, most float64) {
	c.That(x >= 0 && x <= most, "%s is %v, want 0 to %v", field, x, most)
}

// Part notes the mistake of a part, with the part's name before it.
func (c *Check) Part(name string, err error) {
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%s: %w", name, err)
	}
}

// Err returns the first mistake, or nil.
func (c *Check) Err() error { return c.err }

// Sum adds two numbers. A sum that a float64 does not hold is the nearest number that it does; what is no number counts as 0. JSON
// can hold every result.
func Sum(a, b float64) float64 {
	if math.IsNaN(a) {
		a = 0
	}
	if math.IsNaN(b) {
		b = 0
	}
	a, b = math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, a)), math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, b))
	return math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, a+b))
}
