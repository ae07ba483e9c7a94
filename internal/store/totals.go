package store

import (
	"math"
	"time"

	"github.com/unloop-ai/unloop"
)

// MetricsOf returns the totals of a run in their wire form. Seconds are rounded to 3 decimal places, dollars to 6 and the mean
// latency to 2.
func MetricsOf(m *unloop.Metrics, duration time.Duration) Metrics {
	return Metrics{
		Events: m.Events, Duration: Round(max(0, duration.Seconds()), 3), LLMCalls: m.LLMCalls, ToolCalls: m.ToolCalls, Retries: m.Retries,
		Handoffs: m.Handoffs, Errors: m.Errors, FailedSteps: m.FailedSteps, Tokens: m.Tokens, Cost: Round(m.Cost, 6), MeanLatency: Round(m.MeanLatency, 2),
		MaxLatency: Finite(m.MaxLatency), BusiestTool: orNull(m.BusiestTool), BusiestAgent: orNull(m.BusiestAgent),
	}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Round rounds to a number of decimal places. The result is finite. Numbers above 1e15 have no decimal places to round.
func Round(x float64, places int) float64 {
	if unit := math.Pow10(places); math.Abs(x) < 1e15 {
		return math.Round(x*unit) / unit
	}
	return Finite(x)
}

// Finite replaces what neither JSON nor every database can hold: NaN becomes 0, and infinity the largest number of its sign.
func Finite(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return max(-math.MaxFloat64, min(math.MaxFloat64, x))
}
