package snapshot

import (
	"math"
	"strings"
	"testing"
)

func TestASnapshotIsBoundedBeforeItIsDecoded(t *testing.T) {
	nested := func(n int) string { return strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2) }
	for name, tc := range map[string]struct {
		data string
		ok   bool
	}{
		"an object":                           {`{"a":[1,{"b":"]}"}]}`, true},
		"as deep as it may be":                {nested(MaxDepth), true},
		"one level deeper":                    {`[` + nested(MaxDepth) + `]`, false},
		"side by side":                        {strings.Repeat(nested(MaxDepth), 3), true},
		"brackets within a string":            {`"` + strings.Repeat(`[`, 100) + `"`, true},
		"brackets behind an escaped quote":    {`"\"` + strings.Repeat(`[`, 100) + `"`, true},
		"brackets behind an escaped escape":   {`"\\"` + strings.Repeat(`[`, 100), false},
		"as large as it may be":               {strings.Repeat(" ", MaxBytes), true},
		"one byte larger":                     {strings.Repeat(" ", MaxBytes+1), false},
		"a million levels that are not ended": {strings.Repeat("[", 1_000_000), false},
	} {
		if err := checkLimits([]byte(tc.data)); (err == nil) != tc.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSumsOfIntegersDoNotOverflow(t *testing.T) {
	for _, tc := range []struct{ a, b, want int64 }{
		{1, -2, -1},
		{math.MaxInt64, 1, math.MaxInt64},
		{math.MinInt64, -1, math.MinInt64},
		{math.MaxInt64, math.MinInt64, -1},
	} {
		if got := SumInt64(tc.a, tc.b); got != tc.want {
			t.Errorf("%d + %d = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestSumsFitIntoJSON(t *testing.T) {
	for _, tc := range []struct{ a, b, want float64 }{
		{1, 2, 3},
		{math.MaxFloat64, math.MaxFloat64, math.MaxFloat64},
		{-math.MaxFloat64, -math.MaxFloat64, -math.MaxFloat64},
		{math.Inf(1), math.Inf(-1), 0},
		{math.NaN(), 1, 1},
		{1, math.NaN(), 1},
	} {
		if got := Sum(tc.a, tc.b); got != tc.want {
			t.Errorf("%v + %v = %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}
