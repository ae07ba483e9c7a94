package policy

// Health is the health of a run.
type Health struct {
	Score  int   `json:"score"`  // 0 (stuck) to 100 (healthy)
	Status Grade `json:"status"` // the grade of the run's Verdict
}
