package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes. As text it is a whole number with a unit, or without one for bytes: 512KiB, 16MiB, 1GB.
type Size int64

// sizeUnits are the units of sizes. Sizes are printed in the first suitable one.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"KB", 1e3},
	{"B", 1},
	{"", 1},
}

// UnmarshalText parses a size.
func (s *Size) UnmarshalText(text []byte) error {
	digits := strings.TrimRight(string(text), "TGMKkiB ")
	unit := strings.TrimSpace(string(text)[len(digits):])
	n, err := strconv.ParseInt(digits, 10, 64)
	for _, u := range sizeUnits {
		if err != nil || u.name != unit || n < 0 {
			continue
		}
		if n > math.MaxInt64/u.bytes {
			return fmt.Errorf("%q is too large", text)
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return fmt.Errorf("invalid size %q: want a size such as 512KiB, 16MiB or 2GiB", text)
}

// String returns the size in the largest unit that gives a whole number.
func (s Size) String() string {
	for _, u := range sizeUnits[:4] {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// Duration is a duration. Its text has the form of Go, and d for days: 90s, 1h30m, 30d.
type Duration time.Duration

const day = 24 * time.Hour

// UnmarshalText parses a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	rest, days := string(text), int64(0)
	if whole, behind, found := strings.Cut(rest, "d"); found {
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil {
			return badDuration(text)
		}
		if days, rest = n, behind; rest == "" {
			rest = "0"
		}
	}
	part, err := time.ParseDuration(rest)
	if err != nil || part < 0 || days < 0 {
		return badDuration(text)
	}
	if days > int64((math.MaxInt64-part)/day) {
		return fmt.Errorf("%q is too long", text)
	}
	*d = Duration(time.Duration(days)*day + part)
	return nil
}

func badDuration(text []byte) error {
	return fmt.Errorf("invalid duration %q: want a duration such as 90s, 30m, 12h or 30d", text)
}

// String returns the duration in the form that UnmarshalText reads.
func (d Duration) String() string {
	whole := time.Duration(d)
	if whole == 0 {
		return "0"
	}
	if whole%day == 0 {
		return strconv.FormatInt(int64(whole/day), 10) + "d"
	}
	text := whole.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
