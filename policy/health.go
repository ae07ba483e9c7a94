package policy

// Health is the health of a run.
type Health struct {
	Score  int    `json:"score"`  // 0 (stuck) to 100 (healthy)
	Status string `json:"status"` // one of the states below
}

// The states of health.
const (
	Healthy     = "Healthy"      // 80 to 100
	Degraded    = "Warning"      // 50 to 79
	LikelyStuck = "Likely stuck" // 0 to 49
	Failed      = "Failed"       // the run ended in failure
)
