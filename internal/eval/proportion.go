package eval

import (
	"encoding/json"
	"math"
)

// Proportion is how many of how many.
type Proportion struct {
	Count int `json:"count"`
	Of    int `json:"of"`
}

func (r *Proportion) add(yes bool) {
	r.Of++
	if yes {
		r.Count++
	}
}

// Share returns the rate from 0 to 1; 0 of nothing.
func (r Proportion) Share() float64 {
	if r.Of == 0 {
		return 0
	}
	return float64(r.Count) / float64(r.Of)
}

// z95 is the quantile of the normal distribution that 95 % of it lie within, to both sides.
const z95 = 1.959963984540054

// Interval returns the bounds of the share at 95 % confidence: the score interval of Wilson (1927), without correction for
// continuity. Of nothing anything may be the share.
func (r Proportion) Interval() (low, high float64) {
	if r.Of == 0 {
		return 0, 1
	}
	n, p := float64(r.Of), r.Share()
	scale := 1 + z95*z95/n
	middle := (p + z95*z95/(2*n)) / scale
	half := z95 / scale * math.Sqrt(p*(1-p)/n+z95*z95/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}

// MarshalJSON writes count and of, and unless that is 0, share, low and high.
func (r Proportion) MarshalJSON() ([]byte, error) {
	type counts Proportion // without this method
	if r.Of == 0 {
		return json.Marshal(counts(r))
	}
	low, high := r.Interval()
	return json.Marshal(struct {
		counts
		Share float64 `json:"share"`
		Low   float64 `json:"low"`
		High  float64 `json:"high"`
	}{counts(r), rounded(r.Share()), rounded(low), rounded(high)})
}

// rounded keeps four digits, so that what is printed does not depend on the machine.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// Score holds calls against the truth.
type Score struct {
	Precision Proportion // of what was called, what was true
	Recall    Proportion // of what was true, what was called
}

func (s *Score) add(call, truth bool) {
	if call {
		s.Precision.add(truth)
	}
	if truth {
		s.Recall.add(call)
	}
}

// F1 returns the harmonic mean of precision and recall, 0 where nothing was called rightly.
func (s Score) F1() float64 {
	if s.Recall.Count == 0 {
		return 0
	}
	return 2 * float64(s.Recall.Count) / float64(s.Precision.Of+s.Recall.Of)
}

// MarshalJSON writes precision, recall and f1.
func (s Score) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Precision Proportion `json:"precision"`
		Recall    Proportion `json:"recall"`
		F1        float64    `json:"f1"`
	}{s.Precision, s.Recall, rounded(s.F1())})
}
