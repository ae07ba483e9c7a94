// Package snapshot encodes, decodes and checks snapshots, with which the program stores its own state: that of runs, policies,
// profiles, guards and the pipeline's checkpoints. A snapshot may come from an untrusted source. Decode therefore checks its size and
// nesting first, and each type checks its fields with a Check afterwards.
package snapshot

import (
	"fmt"
	"math"
)

// Limits of a snapshot.
const (
	MaxBytes = 16 << 20 // of JSON
	MaxDepth = 64       // nesting of objects and arrays

	// MaxCount is the maximum value of a counter. No run reaches it: a million events a second for 285 years. Sums of counters
	// and their products with the factors of detectors fit into an int64, even with 2^53 events after a restore.
	MaxCount = 1 << 53
)

// checkLimits returns an error if data exceeds MaxBytes or MaxDepth. It reads data once, at about 1 ns a byte, and allocates nothing.
// It does not check that data is JSON.
func checkLimits(data []byte) error {
	if len(data) > MaxBytes {
		return fmt.Errorf("snapshot has %d bytes, want at most %d", len(data), MaxBytes)
	}
	depth, quoted := 0, false
	for k := 0; k < len(data); k++ {
		switch c := data[k]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			k++ // skips an escaped quotation mark
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > MaxDepth {
				return fmt.Errorf("snapshot is nested more than %d deep", MaxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// Check collects errors of a value and keeps the first. The zero Check has no error.
type Check struct{ err error }

// That records an error unless ok. The format names the field.
func (c *Check) That(ok bool, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// Count records an error unless n is from 0 to most, and at most MaxCount.
func (c *Check) Count(field string, n, most int) {
	most = min(most, MaxCount)
	c.That(n >= 0 && n <= most, "%s is %d, want 0 to %d", field, n, most)
}

// Amount records an error unless x is a number from 0 to most.
func (c *Check) Amount(field string, x, most float64) {
	c.That(x >= 0 && x <= most, "%s is %v, want 0 to %v", field, x, most)
}

// Part records the error of a part, prefixed with the name of the part.
func (c *Check) Part(name string, err error) {
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("%s: %w", name, err)
	}
}

// Err returns the first error, or nil.
func (c *Check) Err() error { return c.err }

// Sum returns a + b, limited to the finite range of a float64. NaN counts as 0. JSON can represent every result.
func Sum(a, b float64) float64 {
	if sum := a + b; math.Abs(sum) <= math.MaxFloat64 { // then both are finite
		return sum
	}
	return limitedSum(a, b)
}

func limitedSum(a, b float64) float64 {
	if math.IsNaN(a) {
		a = 0
	}
	if math.IsNaN(b) {
		b = 0
	}
	a, b = math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, a)), math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, b))
	return math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, a+b))
}

// SumInt64 returns a + b, or the nearest int64 if the sum overflows.
func SumInt64(a, b int64) int64 {
	sum := a + b
	switch {
	case b >= 0 && sum < a:
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	}
	return sum
}
