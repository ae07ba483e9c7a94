package config

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "17": 17, "17B": 17, "1KiB": 1024, "16MiB": 16 << 20, "16 MiB": 16 << 20, "3GiB": 3 << 30, "2TiB": 2 << 40, "5kB": 5000, "5KB": 5000,
		"7MB": 7e6, "1GB": 1e9, "9223372036854775807": 1<<63 - 1,
	} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q is %d, want %d, error %v", text, got, want, err)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5MiB", "16M", "16mib", "1 2MiB", "8388608TiB", "9223372036854775808", "0x10", "1_000"} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "30d": 30 * day, "1d12h": 36 * time.Hour, "0d": 0, "1.5h": 90 * time.Minute,
	} {
		var got Duration
		if err := got.UnmarshalText([]byte(text)); err != nil || got != Duration(want) {
			t.Errorf("%q is %v, want %v, error %v", text, got, want, err)
		}
	}
	for _, text := range []string{"", "d", "30", "-5m", "-1d", "1d-5m", "1.5d", "1 d", "1d1d", "106752d", "9999999999999999999d", "forever"} {
		var got Duration
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestPrintedUnitsCanBeRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := Size(rapid.Int64Min(0).Draw(t, "size"))
		var again Size
		if err := again.UnmarshalText([]byte(size.String())); err != nil || again != size {
			t.Errorf("%d is printed as %v and read as %d, error %v", size, size, again, err)
		}
		unit := rapid.SampledFrom([]time.Duration{1, time.Millisecond, time.Second, time.Minute, time.Hour, day}).Draw(t, "unit")
		d := Duration(rapid.Int64Range(0, 100_000).Draw(t, "duration")) * Duration(unit)
		var same Duration
		if err := same.UnmarshalText([]byte(d.String())); err != nil || same != d {
			t.Errorf("%d is printed as %v and read as %d, error %v", d, d, same, err)
		}
	})
}
