package eval

import (
	"encoding/json"
	"math"
	"testing"
)

func TestInterval(t *testing.T) {
	// The bounds are those that R's binom package and the tables of Newcombe (1998) give.
	for _, tc := range []struct {
		name      string
		rate      Proportion
		low, high float64
	}{
		{"nothing says nothing", Proportion{0, 0}, 0, 1},
		{"none of ten", Proportion{0, 10}, 0, 0.2775},
		{"half of ten", Proportion{5, 10}, 0.2366, 0.7634},
		{"all of ten", Proportion{10, 10}, 0.7225, 1},
		{"one of one", Proportion{1, 1}, 0.2065, 1},
		{"Newcombe's 81 of 263", Proportion{81, 263}, 0.2553, 0.3662},
		{"Newcombe's 15 of 148", Proportion{15, 148}, 0.0624, 0.1605},
		{"Newcombe's 1 of 29", Proportion{1, 29}, 0.0061, 0.1718},
	} {
		t.Run(tc.name, func(t *testing.T) {
			low, high := tc.rate.Interval()
			if math.Abs(low-tc.low) > 5e-5 || math.Abs(high-tc.high) > 5e-5 {
				t.Errorf("%.5f to %.5f, want %.4f to %.4f", low, high, tc.low, tc.high)
			}
		})
	}
}

func TestScore(t *testing.T) {
	var s Score
	for _, c := range []struct{ call, truth bool }{{true, true}, {true, true}, {true, false}, {false, true}, {false, true}, {false, true}, {false, false}} {
		s.add(c.call, c.truth)
	}
	got, err := json.Marshal(s) // precision 2/3, recall 2/5, F1 2·2/(3+5)
	want := `{"precision":{"count":2,"of":3,"share":0.6667,"low":0.2077,"high":0.9385},` +
		`"recall":{"count":2,"of":5,"share":0.4,"low":0.1176,"high":0.7693},"f1":0.5}`
	if err != nil || string(got) != want {
		t.Errorf("%s (%v), want %s", got, err, want)
	}
	if f1 := (Score{}).F1(); f1 != 0 {
		t.Errorf("F1 without runs is %v", f1)
	}
}
