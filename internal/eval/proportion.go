package eval

import (
	"encoding/json"
	"math"
)

// Proportion is the number of members of a set with some property, and the size of the set.
type Proportion struct {
	Count int `json:"count"`
	Of    int `json:"of"`
}

func (p *Proportion) add(yes bool) {
	p.Of++
	if yes {
		p.Count++
	}
}

// Share returns Count divided by Of, or 0 for an empty set.
func (p Proportion) Share() float64 {
	if p.Of == 0 {
		return 0
	}
	return float64(p.Count) / float64(p.Of)
}

// z95 is the 97.5 % quantile of the normal distribution: 95 % of it lie between -z95 and z95.
const z95 = 1.959963984540054

// Interval returns the bounds of the share at 95 % confidence: the score interval of Wilson (1927), without correction for
// continuity. For an empty set, they are 0 and 1.
func (p Proportion) Interval() (low, high float64) {
	if p.Of == 0 {
		return 0, 1
	}
	n, share := float64(p.Of), p.Share()
	scale := 1 + z95*z95/n
	middle := (share + z95*z95/(2*n)) / scale
	half := z95 / scale * math.Sqrt(share*(1-share)/n+z95*z95/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}

// MarshalJSON writes the members count and of and, unless of is 0, share, low and high.
func (p Proportion) MarshalJSON() ([]byte, error) {
	type counts Proportion // without this method
	if p.Of == 0 {
		return json.Marshal(counts(p))
	}
	low, high := p.Interval()
	return json.Marshal(struct {
		counts
		Share float64 `json:"share"`
		Low   float64 `json:"low"`
		High  float64 `json:"high"`
	}{counts(p), rounded(p.Share()), rounded(low), rounded(high)})
}

// rounded rounds to four decimal places, so that the output does not depend on the machine.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// Score compares flags with labels.
type Score struct {
	Precision Proportion // of what was flagged, what is labelled a loop
	Recall    Proportion // of what is labelled a loop, what was flagged
}

func (s *Score) add(flagged, loop bool) {
	if flagged {
		s.Precision.add(loop)
	}
	if loop {
		s.Recall.add(flagged)
	}
}

// F1 returns the harmonic mean of precision and recall, or 0 if no loop was flagged.
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
